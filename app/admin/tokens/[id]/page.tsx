import { Code, Stack, Text } from '@mantine/core';
import { orNotFound } from '@/app/_components/or-not-found';
import { SCOPE_TEXTS } from '@/app/_components/scope-texts';
import { AuditTrail } from '@/app/admin/_components/audit/audit-trail';
import { RecordTitle } from '@/app/admin/_components/display/status';
import { Facts, Instant } from '@/app/admin/_components/display/values';
import { ConfirmButton } from '@/app/admin/_components/forms/confirm-button';
import { Notice } from '@/app/admin/_components/page/notice';
import { Page } from '@/app/admin/_components/page/page-header';
import { Section } from '@/app/admin/_components/page/section';
import { adminPage, rowIdIn } from '@/app/admin/_components/page/staff-page';
import { titleOfRow } from '@/app/admin/_components/page/title-of';
import { listAudit } from '@/lib/audit/audit-log';
import { hidesPersonalData, SCOPES } from '@/lib/tokens/access-token';
import { type AccessTokenRow, getAccessToken, tokenState } from '@/lib/tokens/manage-access-tokens';
import { revoke } from '../actions';

export const generateMetadata = titleOfRow('Access token', async (db, id, { role }) =>
  role === 'admin' ? `Access token ${(await getAccessToken(db, id)).name}` : null,
);

export default adminPage<{ id: string }>(async ({ params, runtime, search }) => {
  const id = rowIdIn(params);
  const { db, env, now } = runtime;
  const token = await orNotFound(getAccessToken(db, id));
  const state = tokenState(token, now());
  const history = await listAudit(db, 'access_token', id);
  return (
    <Page
      back={{ href: '/admin/tokens', label: 'Access tokens' }}
      title={<RecordTitle status={state}>{token.name}</RecordTitle>}
      actions={state === 'valid' && <RevokeButton id={id} name={token.name} />}
      notice={
        search.get('notice') === 'revoked' &&
        state === 'revoked' && (
          <Notice tone="done">The token is revoked: requests that use it are refused.</Notice>
        )
      }
    >
      <Section title="Token">
        <TokenFacts token={token} timeZone={env.timeZone} />
      </Section>
      <Section title="History">
        <AuditTrail entries={history} timeZone={env.timeZone} />
      </Section>
    </Page>
  );
});

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
        Scopes: (
          <Stack gap={6}>
            {SCOPES.filter((scope) => token.scopes.includes(scope)).map((scope) => (
              <Text key={scope} size="sm">
                <Code>{scope}</Code>{' '}
                <Text span c="dimmed" inherit>
                  {SCOPE_TEXTS[scope]}
                </Text>
              </Text>
            ))}
          </Stack>
        ),
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
