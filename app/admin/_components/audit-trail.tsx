import { Box, Group, Stack, Text } from '@mantine/core';
import { type AuditRow, changedFields } from '@/lib/audit/list-audit';
import { formatField, formatInstant } from '../../_components/format';
import classes from './list.module.css';

const VERBS: Record<string, string> = { create: 'Created', update: 'Changed', delete: 'Deleted' };

/** Who changed a record, the latest first. */
export function AuditTrail({ entries, timeZone }: { entries: AuditRow[]; timeZone: string }) {
  if (entries.length === 0) {
    return (
      <Text size="sm" c="dimmed" p="md">
        No entries. Changes through the API, by staff and by commands are listed here.
      </Text>
    );
  }
  return entries.map((entry) => (
    <Box key={entry.id} className={classes.entry ?? ''}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={500}>
          {verbOf(entry.action)} by {entry.actor_name}
        </Text>
        <Text size="xs" c="dimmed">
          {formatInstant(entry.created_at, timeZone)}
        </Text>
      </Group>
      <Stack gap={2} mt={4}>
        {changedFields(entry).map(({ field, before, after }) => (
          <Text key={field} size="sm" c="dimmed" className="break-anywhere">
            {formatField(field)}: {textOf(before)} → {textOf(after)}
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

function textOf(value: unknown): string {
  if (value === null || value === '') return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
