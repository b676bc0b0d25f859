import { Group, Paper, Progress, Stack, Text } from '@mantine/core';
import type { RunRow } from '@/lib/sync/reconcile/run';
import { formatCount } from '../../../_components/format';
import { phaseText, progressOf } from '../run-text';

/** How far a run under way is; the page is read again while it goes on. */
export function RunProgress({ run }: { run: RunRow }) {
  const { done, phases } = progressOf(run.phase);
  return (
    <Paper withBorder radius="lg" p="md">
      <Stack gap="xs">
        <Group justify="space-between" gap="xs">
          <Text size="sm" fw={500}>
            {phaseText(run.phase)}
          </Text>
          <Text size="sm" c="dimmed">
            {`Step ${done + 1} of ${phases}`}
          </Text>
        </Group>
        <Progress value={((done + 0.5) / phases) * 100} animated aria-label="Progress of the run" />
        <Text size="sm" c="dimmed">
          {[
            `${formatCount(run.objects_checked, 'object')} checked`,
            formatCount(run.changes_count, 'change'),
          ].join(', ')}
        </Text>
      </Stack>
    </Paper>
  );
}
