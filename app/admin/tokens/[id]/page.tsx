import { Stack } from '@mantine/core';
import { notFound } from 'next/navigation';
import { listAudit } from '@/lib/audit/audit-log';
import { requireAdmin } from '@/lib/auth/session/staff-session';
import { getAccessToken, tokenState } from '@/lib/auth/tokens/manage-access-tokens';
import { getRuntime } from '@/lib/runtime';
import { orNotFound } from '../../../_components/or-not-found';
import { type SearchParams, toId, toParams } from '../../../_components/search-params';
import { AuditTrail } from '../../_components/audit/audit-trail';
import { RecordTitle } from '../../_components/display/record-title';
import { ConfirmButton } from '../../_components/forms/confirm-button';
import { Notice } from '../../_components/page/notice';
import { PageHeader } from '../../_components/page/page-header';
import { Section } from '../../_components/page/section';
import { titleOfRow } from '../../_components/page/title-of';
import { revoke } from './actions';
import { TokenFacts } from './token-facts';

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
