import { Code, Stack, Text } from '@mantine/core';
import { SCOPE_TEXTS } from '@/app/_components/scope-texts';
import { listAudit } from '@/lib/audit/audit-log';
import { hidesPersonalData, SCOPES } from '@/lib/tokens/access-token';
import { type AccessTokenRow, getAccessToken, tokenState } from '@/lib/tokens/manage-access-tokens';
import { AuditTrail } from '../../_components/audit/audit-trail';
import { Instant, RecordTitle } from '../../_components/display/values';
import { ConfirmButton } from '../../_components/forms/confirm-button';
import { OutcomeNotice } from '../../_components/forms/record/record-notice';
import { adminRecordPage, Page, Section, titleOfRow } from '../../_components/page/staff-page';
import { revoke } from '../actions';

export const generateMetadata = titleOfRow('Access token', getAccessToken, ({ name }, { role }) =>
  role === 'admin' ? `Access token ${name}` : null,
);

export default adminRecordPage(getAccessToken, async (token, { id, db, timeZone, runtime, notice }) => {
  const state = tokenState(token, runtime.now());
  const history = await listAudit(db, 'access_token', id);
  return (
    <Page
      back={{ href: '/admin/tokens', label: 'Access tokens' }}
      title={<RecordTitle status={state}>{token.name}</RecordTitle>}
      actions={state === 'valid' && <RevokeButton id={id} name={token.name} />}
      notice={
        state === 'revoked' && (
          <OutcomeNotice
            notice={notice}
            done={{ revoked: 'The token is revoked: requests that use it are refused.' }}
          />
        )
      }
    >
      <TokenFacts token={token} timeZone={timeZone} />
      <Section title="History">
        <AuditTrail entries={history} timeZone={timeZone} />
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
        'Programs that use it are refused from their next request on. This cannot be undone.',
      ]}
    >
      Revoke
    </ConfirmButton>
  );
}

function TokenFacts({ token, timeZone }: { token: AccessTokenRow; timeZone: string }) {
  const time = (at: Date | null) => at && <Instant at={at} timeZone={timeZone} />;
  return (
    <Section
      title="Token"
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
