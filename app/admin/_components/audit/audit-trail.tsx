import { Box, Group, Stack, Text } from '@mantine/core';
import { z } from 'zod';
import { formatDate, formatField, formatInstant, formatMoney } from '@/app/_components/format';
import { type AuditRow, changedFields, listAudit } from '@/lib/audit/audit-log';
import type { RecordKind } from '@/lib/records/record-kind';
import { getRuntime } from '@/lib/runtime';
import { isCheck } from '@/lib/sync/staff/check-with-stripe';
import { Dimmed, Instant } from '../display/values';
import classes from '../lists/list.module.css';
import { EmptyText, Section } from '../page/staff-page';
import { checkLines } from './check/check';

interface HistoryProps {
  entity: RecordKind['name'] | 'transfer';
  id: number;
  /** Ids of the records that were merged into this one. */
  mergedIds?: number[];
  /** Sentence below the history, such as the reason why the record cannot be deleted. Null to show no sentence. */
  kept: string | null;
}

/** Shows the newest 100 entries in the audit logs of a record and of the records that were merged into it. */
export async function History({ entity, id, mergedIds = [], kept }: HistoryProps) {
  const { db, env } = await getRuntime();
  const entries = withoutFields(await listAudit(db, entity, id, ...mergedIds), 'search_text');
  return (
    <Stack gap="xs">
      <Section title="History">
        <AuditTrail entries={entries} timeZone={env.timeZone} />
      </Section>
      {kept && <Dimmed>{kept}</Dimmed>}
    </Stack>
  );
}

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
  remind: 'Customer reminded',
  undo_reminder: 'Reminder withdrawn',
};
const ACTORS = { token: 'access token', staff: 'staff', cli: 'command' };

/** Shows audit log entries in the given order, each with its author and changes. Hides changes of the row version. */
export function AuditTrail({ entries, timeZone }: { entries: AuditRow[]; timeZone: string }) {
  if (entries.length === 0) {
    return <EmptyText>No history yet. Changes by staff, the API and commands appear here.</EmptyText>;
  }
  return withoutFields(entries, 'version').map((entry) => (
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

/** Lists the changed fields of an update, the filled fields of a created or deleted row, or the findings of a check. */
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

/** Fields that the history of a created or deleted row leaves out. */
const BOOKKEEPING = new Set(['id', 'created_at', 'updated_at', 'lines_hash', 'lines_complete']);

type Image = Record<string, unknown> | null;

/** Formats a field of an audited row for display. An empty field becomes a dash. */
export function auditValue(image: Image, field: string, timeZone: string): string {
  const value = image?.[field];
  if (value === null || value === undefined || value === '') return '–';
  if (field === 'lines') return linesText(value, String(image?.currency));
  if (field === 'paid_back') return paidBackText(value, String(image?.currency));
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(', ');
  if (typeof value !== 'string') return JSON.stringify(value);
  if (AMOUNTS.test(field)) return formatMoney(Number(value), String(image?.currency));
  if (/_date$/.test(field)) return formatDate(value);
  if (/_at$/.test(field)) return formatInstant(value, timeZone);
  return ['status', 'source', 'role'].includes(field) ? formatField(value) : value;
}

const AMOUNTS = /amount$|^amount_|^(credit|price|subtotal|tax|total)$/;

/** Lists the amounts that were paid back from a transfer's credit, with their dates. */
function paidBackText(value: unknown, currency: string): string {
  const { data: parts } = auditedPaidBack.safeParse(value);
  if (!parts) return JSON.stringify(value);
  if (parts.length === 0) return '–';
  return parts
    .map(({ amount, date }) => `${formatMoney(Number(amount), currency)} on ${formatDate(date)}`)
    .join(', ');
}

const auditedPaidBack = z.array(z.object({ amount: z.string(), date: z.string() }));

/** Summarizes the lines of an invoice or a sales document in one string. */
function linesText(value: unknown, currency: string): string {
  const { data: lines } = auditedLines.safeParse(value);
  if (!lines) return JSON.stringify(value);
  if (lines.length === 0) return '–';
  return lines
    .map(
      ({ text, quantity, unit_price, tax_rate, tax_category }) =>
        `${Number(quantity)} × ${text} at ${formatMoney(Number(unit_price), currency)}, ${Number(tax_rate)} % tax${tax_category ? ` (${tax_category})` : ''}`,
    )
    .join('; ');
}

const number = z.union([z.string(), z.number()]);
const auditedLines = z.array(
  z.object({
    ...{ text: z.string(), quantity: number, unit_price: number, tax_rate: number },
    tax_category: z.string().nullish(),
  }),
);

/** Removes fields from the old and new row in each audit log entry. */
export function withoutFields(entries: AuditRow[], ...fields: string[]): AuditRow[] {
  const rest = (image: AuditRow['before']) =>
    image && Object.fromEntries(Object.entries(image).filter(([field]) => !fields.includes(field)));
  return entries.map((entry) => ({ ...entry, before: rest(entry.before), after: rest(entry.after) }));
}
