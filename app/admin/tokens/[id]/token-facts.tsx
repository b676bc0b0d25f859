import { Code, Stack, Text } from '@mantine/core';
import { hidesPersonalData, SCOPES } from '@/lib/auth/tokens/access-token';
import type { AccessTokenRow } from '@/lib/auth/tokens/manage-access-tokens';
import { Facts } from '../../_components/display/facts';
import { Instant } from '../../_components/display/instant';
import { SCOPE_TEXTS } from '../scope-text';

export function TokenFacts({ token, timeZone }: { token: AccessTokenRow; timeZone: string }) {
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
