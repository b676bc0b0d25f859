import { Group, Paper, Stack, Text } from '@mantine/core';
import type { ImportRun } from '@/lib/uploads/import-run';
import { SubmitButton } from '../../_components/forms/submit-button';
import { countsText } from '../counts-text';

interface Props {
  run: Pick<ImportRun, 'dry_run' | 'started_by' | 'counts' | 'bytes_read'>;
  /** Of the whole file. */
  bytes: number;
  stop(): Promise<void>;
}

/** How far an import under way is; the page is read again while it goes on. */
export function RunProgress({ run, bytes, stop }: Props) {
  return (
    <Paper withBorder radius="lg" p="md">
      <Stack gap="xs">
        <Group justify="space-between" gap="xs">
          <Text size="sm" fw={500}>
            {`${run.started_by} ${run.dry_run ? 'is testing this file' : 'is importing this file'}`}
          </Text>
          <form action={stop}>
            <SubmitButton variant="default">Stop</SubmitButton>
          </form>
        </Group>
        <progress
          value={run.bytes_read}
          max={bytes}
          aria-label="Progress of the import"
          style={{ width: '100%' }}
        />
        <Text size="sm" c="dimmed">
          {countsText(run.counts)}
        </Text>
      </Stack>
    </Paper>
  );
}
