import { Alert, Code } from '@mantine/core';
import { type ImportRow, importState, listImports } from '@/lib/imports/import-log';
import { IMPORT_NAMES } from '@/lib/imports/kinds';
import { listUploads, type Upload } from '@/lib/uploads/upload-store';
import { countsText, formatKind, formatSize } from '../../_components/format';
import { toPageRequest } from '../../_components/search-params';
import { Instant, StatusBadge } from '../_components/display/values';
import { OutcomeNotice } from '../_components/forms/record/record-notice';
import { PagedList } from '../_components/lists/paged-list';
import { RecordList } from '../_components/lists/record-list';
import { RefreshWhile } from '../_components/page/refresh-while';
import { adminPage, Page, Section } from '../_components/page/staff-page';
import { UploadForm } from './upload-form';

export const metadata = { title: 'Import' };

export default adminPage(async ({ db, timeZone, runtime: { env, now }, search, notice }) => {
  const page = await listImports(db, toPageRequest(search));
  const uploads = env.vercel ? [] : await listUploads(env.dataDir);
  return (
    <Page
      title="Import"
      description="Customers, servers, services, invoices, sales documents and payments from CSV files."
      notice={<OutcomeNotice notice={notice} {...OUTCOMES} />}
    >
      <RefreshWhile running={page.data.some((row) => importState(row, now()) === 'running')} />
      {env.vercel ? (
        <Alert color="blue" variant="light" title="Import files with a command here">
          Run <Code>npm run import -- customers FILE.csv</Code> with this deployment’s{' '}
          <Code>DATABASE_URL</Code>.
        </Alert>
      ) : (
        <UploadForm kinds={IMPORT_NAMES.map((value) => ({ value, label: formatKind(value) }))} />
      )}
      {uploads.length > 0 && (
        <Section title="Uploaded files">
          <UploadList uploads={uploads} timeZone={timeZone} />
        </Section>
      )}
      <Section title="Imports so far" isFramed>
        <PagedList
          page={page}
          noun="import"
          yet="All imports appear here, including those run by command."
          path="/admin/imports"
          params={search}
        >
          {(rows) => <ImportList rows={rows} now={now()} timeZone={timeZone} />}
        </PagedList>
      </Section>
    </Page>
  );
});

const OUTCOMES = {
  done: { removed: 'The file is removed.' },
  refused: { gone: 'The file no longer exists: upload it again.' },
};

function UploadList({ uploads, timeZone }: { uploads: Upload[]; timeZone: string }) {
  return (
    <RecordList
      label="Uploaded files"
      rows={uploads}
      hrefOf={({ id }) => `/admin/imports/${id}`}
      columns={[
        { label: 'File', cell: (upload) => upload.file_name, wraps: true },
        { label: 'Kind', width: '18%', cell: (upload) => formatKind(upload.kind) },
        { label: 'Size', width: '12%', align: 'right', cell: (upload) => formatSize(upload.bytes) },
        {
          label: 'Uploaded',
          width: '22%',
          cell: (file) => <Instant at={file.uploaded_at} timeZone={timeZone} />,
        },
        { label: 'By', width: '22%', cell: (upload) => upload.uploaded_by },
      ]}
      entryOf={(upload) => ({
        title: upload.file_name,
        detail: `${formatKind(upload.kind)} · ${upload.uploaded_by}`,
        figure: formatSize(upload.bytes),
      })}
    />
  );
}

/** Lists past and running imports, including those that a command started. */
function ImportList({ rows, now, timeZone }: { rows: ImportRow[]; now: Date; timeZone: string }) {
  const status = (row: ImportRow) => <StatusBadge status={importState(row, now)} />;
  return (
    <RecordList
      label="Imports"
      rows={rows}
      nameOf={({ file_name }) => file_name}
      columns={[
        { label: 'Started', cell: (row) => <Instant at={row.created_at} timeZone={timeZone} /> },
        { label: 'File', cell: (row) => row.file_name, wraps: true },
        { label: 'Kind', width: '13%', cell: (row) => formatKind(row.kind) },
        { label: 'Status', width: '12%', cell: status },
        { label: 'Rows', width: '22%', cell: (row) => countsText(row.counts), wraps: true },
        { label: 'By', width: '16%', cell: (row) => row.actor_name, title: true },
      ]}
      entryOf={(row) => ({
        title: row.file_name,
        detail: `${formatKind(row.kind)} · ${countsText(row.counts)}`,
        state: status(row),
      })}
    />
  );
}
