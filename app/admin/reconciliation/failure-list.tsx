import { Group, Stack, Text } from '@mantine/core';
import type { RunFailure } from '@/lib/sync/run-queries';
import { formatField, formatInstant } from '../../_components/format';
import classes from '../_components/list.module.css';

/** The objects a run could not bring into step; the next run takes them up again. */
export function FailureList({ failures, timeZone }: { failures: RunFailure[]; timeZone: string }) {
  return failures.map((failure) => (
    <Group key={failure.id} justify="space-between" className={classes.entry ?? ''} display="flex" gap="xs">
      <Stack gap={0} miw={0}>
        <Text size="sm" fw={500} className="break-anywhere">
          {formatField(failure.object)} {failure.stripe_id}
        </Text>
        <Text size="xs" c="dimmed">
          {failure.error_code}
        </Text>
      </Stack>
      <Text size="xs" c="dimmed">
        {failure.resolved_at
          ? `Solved ${formatInstant(failure.resolved_at, timeZone)}`
          : 'Tried again by the next run'}
      </Text>
    </Group>
  ));
}
