import { Code, Stack, Text } from '@mantine/core';
import { notFound } from 'next/navigation';
import { orNotFound } from '@/app/_components/or-not-found';
import { SCOPE_TEXTS } from '@/app/_components/scope-texts';
import { type SearchParams, toId, toParams } from '@/app/_components/search-params';
import { AuditTrail } from '@/app/admin/_components/audit/audit-trail';
import { RecordTitle } from '@/app/admin/_components/display/status';
import { Facts, Instant } from '@/app/admin/_components/display/values';
import { ConfirmButton } from '@/app/admin/_components/forms/confirm-button';
import { Notice } from '@/app/admin/_components/page/notice';
import { PageHeader } from '@/app/admin/_components/page/page-header';
import { Section } from '@/app/admin/_components/page/section';
import { titleOfRow } from '@/app/admin/_components/page/title-of';
import { listAudit } from '@/lib/audit/audit-log';
import { requireAdmin } from '@/lib/auth/staff-session';
import { getRuntime } from '@/lib/runtime';
import { hidesPersonalData, SCOPES } from '@/lib/tokens/access-token';
import { type AccessTokenRow, getAccessToken, tokenState } from '@/lib/tokens/manage-access-tokens';

import { revoke } from '../actions';

export const generateMetadata = titleOfRow('Access token', async (db, id, { role }) =>
  role === 'admin' ? `Access token ${(await getAccessToken(db, id)).name}` : null,
);

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<SearchParams>;
}

export default async function TokenPage({ params, searchParams }: Props) {
  await requireAdmin();
  const id = toId((await params).id) ?? notFound();
  const { db, env, now } = await getRuntime();
  const token = await orNotFound(getAccessToken(db, id));
  const state = tokenState(token, now());
  const wasRevoked = toParams(await searchParams).get('notice') === 'revoked' && state === 'revoked';
  const history = await listAudit(db, 'access_token', id);
  return (
    <>
      <PageHeader
        back={{ href: '/admin/tokens', label: 'Access tokens' }}
        title={<RecordTitle status={state}>{token.name}</RecordTitle>}
        actions={state === 'valid' && <RevokeButton id={id} name={token.name} />}
      />
      {wasRevoked && <Notice tone="done">The token is revoked: requests that use it are refused.</Notice>}
      <Stack gap="xl">
        <Section title="Token">
          <TokenFacts token={token} timeZone={env.timeZone} />
        </Section>
        <Section title="History">
          <AuditTrail entries={history} timeZone={env.timeZone} />
        </Section>
      </Stack>
    </>
  );
}

function RevokeButton({ id, name }: { id: number; name: string }) {
  return (
    <ConfirmButton
      action={revoke.bind(null, id)}
      question="Revoke this token?"
      confirm="Revoke token"
      color="red.9"
      consequences={[
        name,
        'Any program that uses it is refused from its next request on. This cannot be undone.',
      ]}
    >
      Revoke
    </ConfirmButton>
  );
}

function TokenFacts({ token, timeZone }: { token: AccessTokenRow; timeZone: string }) {
  const time = (at: Date | null) => at && <Instant at={at} timeZone={timeZone} />;
  return (
    <Facts
      facts={{
        Scopes: <Scopes scopes={token.scopes} />,
        ...(hidesPersonalData(token) && { 'Personal data': 'Hidden in answers over MCP' }),
        ...(token.staff_email && { 'Member of staff': token.staff_email }),
        Created: time(token.created_at),
        'Created by': token.created_by,
        Expires: time(token.expires_at) ?? 'Never',
        ...(token.revoked_at && { Revoked: time(token.revoked_at) }),
        'Last used': time(token.last_used_at) ?? 'Never',
      }}
    />
  );
}

function Scopes({ scopes }: Pick<AccessTokenRow, 'scopes'>) {
  return (
    <Stack gap={6}>
      {SCOPES.filter((scope) => scopes.includes(scope)).map((scope) => (
        <Text key={scope} size="sm">
          <Code>{scope}</Code>{' '}
          <Text span c="dimmed" inherit>
            {SCOPE_TEXTS[scope]}
          </Text>
        </Text>
      ))}
    </Stack>
  );
}
