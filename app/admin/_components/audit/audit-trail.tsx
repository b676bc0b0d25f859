import { Box, Group, Stack, Text } from '@mantine/core';
import { formatField } from '@/app/_components/format';
import { type AuditRow, changedFields } from '@/lib/audit/audit-log';
import { isCheck } from '@/lib/sync/staff/check-with-stripe';
import { Instant } from '../display/instant';
import classes from '../lists/list.module.css';
import { auditValue } from './audit-value';
import { checkLines } from './check/check-lines';

const VERBS: Record<string, string> = {
  create: 'Created',
  update: 'Changed',
  delete: 'Deleted',
  erase: 'Erased',
  replay: 'Replayed',
  link: 'Linked',
  unlink: 'Unlinked',
  move: 'Moved',
  merge: 'Merged',
  revoke: 'Revoked',
  reset_password: 'Password reset',
  change_password: 'Own password changed',
  invite: 'Invited again',
  accept_invitation: 'Invitation accepted',
  set_up_two_factor: 'Two-factor set up',
  turn_off_two_factor: 'Two-factor turned off',
  reset_two_factor: 'Two-factor reset',
  renew_recovery_codes: 'New recovery codes',
  use_recovery_code: 'Recovery code used',
  add_passkey: 'Passkey added',
  remove_passkey: 'Passkey removed',
  sign_out: 'Signed out everywhere',
  check: 'Checked with Stripe',
};
const ACTORS = { token: 'access token', staff: 'staff', cli: 'command' };

/** Who changed a record and what, the latest first. */
export function AuditTrail({ entries, timeZone }: { entries: AuditRow[]; timeZone: string }) {
  if (entries.length === 0) {
    return (
      <Text size="sm" c="dimmed" p="md">
        No history yet. Changes by staff, the API and commands appear here.
      </Text>
    );
  }
  return entries.map((entry) => (
    <Box key={entry.id} className={classes.entry ?? ''}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={500} className="break-anywhere">
          {verbOf(entry.action)} by {entry.actor_name}
          <Text span size="xs" c="dimmed">
            {` · ${ACTORS[entry.actor_type]}`}
          </Text>
        </Text>
        <Text size="xs" c="dimmed">
          <Instant at={entry.created_at} timeZone={timeZone} />
        </Text>
      </Group>
      <Stack gap={2} mt={4}>
        {linesOf(entry, timeZone).map((line) => (
          <Text key={line} size="sm" c="dimmed" className="break-anywhere">
            {line}
          </Text>
        ))}
      </Stack>
    </Box>
  ));
}

function verbOf(action: string): string {
  const verb = action.split('.').at(-1) ?? action;
  return VERBS[verb] ?? formatField(verb);
}

/** Of a change what differs, before and after; else the whole row as it was made, or was; of a check what it found. */
function linesOf(entry: AuditRow, timeZone: string): string[] {
  if (isCheck(entry)) return checkLines(entry, timeZone);
  const { before, after } = entry;
  const text = (image: typeof before, field: string) => auditValue(image, field, timeZone);
  if (before && after) {
    return changedFields(entry).map(
      ({ field }) => `${formatField(field)}: ${text(before, field)} → ${text(after, field)}`,
    );
  }
  const image = before ?? after;
  return Object.keys(image ?? {})
    .filter((field) => image?.[field] !== null && !BOOKKEEPING.has(field))
    .sort()
    .map((field) => `${formatField(field)}: ${text(image, field)}`);
}

const BOOKKEEPING = new Set(['id', 'created_at', 'updated_at']);
