import { Alert, Group, Paper, Stack, Text } from '@mantine/core';
import { notFound } from 'next/navigation';
import { countsText, formatDuration, formatKind, formatSize } from '@/app/_components/format';
import { ProblemAlert } from '@/app/_components/problem-alert';
import { withParams } from '@/app/_components/with-params';
import { StartError } from '@/lib/errors';
import { toColumns } from '@/lib/imports/columns';
import { ENCODING_NAMES, ENCODINGS } from '@/lib/imports/file-format';
import { IMPORT_KINDS } from '@/lib/imports/kinds';
import type { Runtime } from '@/lib/runtime';
import { DELIMITERS, firstChoice, formatsOf } from '@/lib/uploads/chosen-options';
import {
  busyText,
  currentJob,
  hasRejected,
  type ImportRun,
  isTried,
  readRun,
} from '@/lib/uploads/import-run';
import { fileOf, findUpload, type Upload } from '@/lib/uploads/upload-store';
import { Dimmed, Facts, Instant } from '../../_components/display/values';
import { ConfirmButton } from '../../_components/forms/confirm-button';
import { OutcomeNotice } from '../../_components/forms/record/record-notice';
import { SubmitButton } from '../../_components/forms/submit-button';
import { DownloadButton } from '../../_components/lists/list-page';
import { Choice } from '../../_components/lists/paged-list';
import { RecordList } from '../../_components/lists/record-list';
import { RefreshWhile } from '../../_components/page/refresh-while';
import { adminPage, EmptyText, Page, Section, titleOf } from '../../_components/page/staff-page';
import { remove, start, stop } from '../actions';
import { MappingForm } from './mapping-form';

export const generateMetadata = titleOf('Import a file', async (id, { runtime, staff }) => {
  const upload = staff.role === 'admin' ? await findUpload(runtime.env.dataDir, id) : null;
  return upload && `Import ${upload.file_name}`;
});

export default adminPage<{ id: string }>(async ({ params, runtime: { env, db }, search, notice }) => {
  const upload = (await findUpload(env.dataDir, params.id)) ?? notFound();
  const run = await readRun(env.dataDir, upload.id);
  const isRunning = run?.status === 'running';
  const busy = isRunning ? undefined : currentJob();
  return (
    <>
      <RefreshWhile running={isRunning || busy !== undefined} />
      <Page
        back={{ href: '/admin/imports', label: 'Import' }}
        title={upload.file_name}
        description={
          <>
            {`${formatKind(upload.kind)}, ${formatSize(upload.bytes)}, uploaded by ${upload.uploaded_by}, `}
            <Instant at={upload.uploaded_at} timeZone={env.timeZone} />
          </>
        }
        actions={
          !isRunning && (
            <ConfirmButton
              action={remove.bind(null, upload.id)}
              question="Remove this file?"
              color="red.9"
              consequences={[upload.file_name, 'Records imported from it stay.']}
            >
              Remove file
            </ConfirmButton>
          )
        }
        notice={<OutcomeNotice notice={notice} done={{}} refused={REFUSED} />}
      >
        {isRunning && <RunProgress run={run} bytes={upload.bytes} stop={stop.bind(null, upload.id)} />}
        {run && !isRunning && (
          <RunResult
            run={run}
            rejected={hasRejected(env.dataDir, upload) ? `/admin/imports/${upload.id}/rejected` : null}
            timeZone={env.timeZone}
          />
        )}
        {busy && (
          <Alert color="blue" variant="light" role="status">
            {busyText(busy)}
          </Alert>
        )}
        {!isRunning && <Mapping upload={upload} run={run} query={search} db={db} dataDir={env.dataDir} />}
      </Page>
    </>
  );
});

const REFUSED = {
  conflict:
    'The file was not removed, because someone was testing or importing it. Wait until that ends, or stop it.',
};

interface ProgressProps {
  run: Pick<ImportRun, 'dry_run' | 'started_by' | 'counts' | 'bytes_read'>;
  /** Size of the whole file in bytes. */
  bytes: number;
  stop(): Promise<void>;
}

/** Shows the progress of a running import or dry run. The page refreshes itself until the run ends. */
function RunProgress({ run, bytes, stop }: ProgressProps) {
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
        <Dimmed>{countsText(run.counts)}</Dimmed>
      </Stack>
    </Paper>
  );
}

type Run = NonNullable<Awaited<ReturnType<typeof readRun>>>;

interface Props {
  run: Run;
  /** URL of the file with the rejected rows. Null if there is no such file. */
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
const AGAIN = 'Rows that were imported are kept. Import the file again to finish.';

/** Shows the result of the latest import or dry run of a file, and the first rejected rows. */
function RunResult({ run, rejected, timeZone }: Props) {
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
                ? 'Only the first rejected rows are shown. An import saves all of them in a file.'
                : 'Only the first rejected rows are shown. The file contains all of them.'}
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
    return <Notice color="orange">{`The import was stopped before the end of the file.${rest}`}</Notice>;
  return dry_run ? <Notice color="blue">Nothing was saved. This is what an import would do.</Notice> : null;
}

function Notice({ color, children }: { color: string; children: string }) {
  return (
    <Alert color={color} variant="light" radius={0}>
      {children}
    </Alert>
  );
}

const DELIMITER_NAMES: Record<string, string> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' };

interface MappingProps {
  upload: Upload;
  /** The latest run, whose options are initially selected. Null before the first run. */
  run: (Pick<ImportRun, 'chosen' | 'dry_run'> & { status: string }) | null;
  /** Query of the page's URL. It can override the delimiter, the encoding and the format of the file. */
  query: URLSearchParams;
  db: Runtime['db'];
  dataDir: string;
}

/** Shows the first rows of an uploaded file, and the form that maps its columns. */
async function Mapping({ upload, run, query, db, dataDir }: MappingProps) {
  const path = fileOf(dataDir, upload);
  const asked = {
    delimiter: nameToDelimiter(query.get('delimiter')),
    encoding: ENCODINGS.find((encoding) => encoding === query.get('encoding')),
    format: query.get('format')?.replace(/^ours$/, ''),
  };
  const first = await firstChoice({ db, dataDir }, upload, asked, run?.chosen).catch((error: unknown) => {
    if (error instanceof StartError) return error.message.replaceAll(path, upload.file_name);
    throw error;
  });
  const separators = (current: string) => (
    <Choice
      label="Separator"
      current={current}
      options={DELIMITERS.map((value) => ({
        value,
        text: DELIMITER_NAMES[value] ?? value,
        href: hrefWith('delimiter', DELIMITER_NAMES[value] ?? ''),
      }))}
    />
  );
  const hrefWith = (name: string, value: string) =>
    withParams(`/admin/imports/${upload.id}`, query, { [name]: value });
  if (typeof first === 'string') {
    return (
      <Stack gap="md">
        <ProblemAlert problem={first} />
        {separators(asked.delimiter ?? '')}
      </Stack>
    );
  }
  const { preview, chosen, isRemembered } = first;
  const formats = ['', ...formatsOf(upload.kind)];
  return (
    <Stack gap="md">
      <Group gap="lg">
        <Choice
          label="Encoding"
          current={preview.encoding}
          options={ENCODINGS.map((value) => ({
            value: ENCODING_NAMES[value],
            text: ENCODING_NAMES[value],
            href: hrefWith('encoding', value),
          }))}
        />
        <Text size="sm">cells separated by</Text>
        {separators(preview.delimiter)}
        {formats.length > 1 && (
          <Choice
            label="Columns"
            current={preview.format}
            options={formats.map((value) => ({
              value,
              text: value === '' ? 'our column names' : `columns of ${value.toUpperCase()}`,
              href: hrefWith('format', value || 'ours'),
            }))}
          />
        )}
      </Group>
      {isRemembered && (
        <Alert color="blue" variant="light" role="status">
          The columns are preset as in the last import of a file with the same header.
        </Alert>
      )}
      <MappingForm
        key={JSON.stringify([preview.format, preview.delimiter, preview.encoding])}
        action={start.bind(null, upload.id)}
        columns={preview.columns}
        chosen={chosen}
        isTried={isTried(run, chosen)}
        fields={toColumns(IMPORT_KINDS[upload.kind].fields).map(({ name }) => name)}
      />
    </Stack>
  );
}

function nameToDelimiter(name: string | null): string | undefined {
  return DELIMITERS.find((delimiter) => DELIMITER_NAMES[delimiter] === name);
}
