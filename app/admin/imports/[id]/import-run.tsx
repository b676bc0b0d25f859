import { Alert, Group, Paper, Stack, Text } from '@mantine/core';
import { countsText, formatDuration } from '@/app/_components/format';
import { Facts, Instant } from '@/app/admin/_components/display/values';
import { SubmitButton } from '@/app/admin/_components/forms/submit-button';
import { DownloadButton } from '@/app/admin/_components/lists/download-button';
import { RecordList } from '@/app/admin/_components/lists/record-list';
import { EmptyText, Section } from '@/app/admin/_components/page/section';
import type { ImportRun, readRun } from '@/lib/uploads/import-run';

interface ProgressProps {
  run: Pick<ImportRun, 'dry_run' | 'started_by' | 'counts' | 'bytes_read'>;
  /** Size of the whole file in bytes. */
  bytes: number;
  stop(): Promise<void>;
}

/** Shows the progress of a running import. The page refreshes itself meanwhile. */
export function RunProgress({ run, bytes, stop }: ProgressProps) {
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

type Run = NonNullable<Awaited<ReturnType<typeof readRun>>>;

interface Props {
  run: Run;
  /** Address of the file with the rejected rows. Null if no row was rejected. */
  rejected: string | null;
  timeZone: string;
}

const TITLES: Record<Run['status'], string> = {
  running: 'In progress',
  done: 'Done',
  stopped: 'Stopped',
  failed: 'Failed',
  interrupted: 'Interrupted',
};
const AGAIN = 'What was imported is kept. Import the file again to finish.';

/** Shows the result of the latest import of a file, or of its dry run. */
export function RunResult({ run, rejected, timeZone }: Props) {
  const { status, dry_run, started_by, started_at, finished_at, counts, left_out, problems } = run;
  return (
    <>
      <Section
        title={dry_run ? 'Dry run' : 'Import'}
        action={rejected && <DownloadButton href={rejected}>Download rejected rows</DownloadButton>}
      >
        <Stack gap={0}>
          <RunNotice run={run} />
          <Facts
            facts={{
              Result: TITLES[status],
              Rows: status === 'interrupted' ? undefined : countsText(counts),
              Encoding: run.encoding ?? undefined,
              'Left out': left_out.length > 0 ? left_out.join(', ') : undefined,
              'Started by': started_by,
              Started: <Instant at={started_at} timeZone={timeZone} />,
              Took: finished_at ? formatDuration(started_at, finished_at) : undefined,
            }}
          />
        </Stack>
      </Section>
      {problems.length > 0 && (
        <Section title="Rejected rows">
          <RecordList
            label="Rejected rows"
            rows={problems.map((problem, id) => ({ ...problem, id }))}
            columns={[
              { label: 'Line', width: '6rem', align: 'right', cell: ({ line }) => line },
              { label: 'Column', width: '30%', cell: ({ column }) => column ?? 'The whole row', wraps: true },
              { label: 'Reason', cell: ({ message }) => message, wraps: true },
            ]}
            entryOf={({ line, column, message }) => ({
              title: `Line ${line}${column === null ? '' : `, ${column}`}`,
              detail: message,
            })}
          />
          {counts.rejected > problems.length && (
            <EmptyText>
              {dry_run
                ? 'These are the first ones. An import keeps all rejected rows in a file.'
                : 'These are the first ones. The file of rejected rows has all of them.'}
            </EmptyText>
          )}
        </Section>
      )}
    </>
  );
}

function RunNotice({ run: { status, dry_run, failure } }: { run: Run }) {
  const rest = dry_run ? '' : ` ${AGAIN}`;
  if (status === 'failed')
    return <Notice color="red">{`${failure ?? 'Something went wrong.'}${rest}`}</Notice>;
  if (status === 'interrupted')
    return <Notice color="orange">{`The server stopped during the import.${rest}`}</Notice>;
  if (status === 'stopped')
    return <Notice color="orange">{`It was stopped before the end of the file.${rest}`}</Notice>;
  return dry_run ? <Notice color="blue">Nothing was written: this is what an import would do.</Notice> : null;
}

function Notice({ color, children }: { color: string; children: string }) {
  return (
    <Alert color={color} variant="light" radius={0}>
      {children}
    </Alert>
  );
}
