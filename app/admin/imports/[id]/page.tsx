import { Alert } from '@mantine/core';
import { notFound } from 'next/navigation';
import { formatKind, formatSize } from '@/app/_components/format';
import { busyText, currentJob, hasRejected, readRun } from '@/lib/uploads/import-run';
import { findUpload } from '@/lib/uploads/upload-store';
import { Instant } from '../../_components/display/values';
import { ConfirmButton } from '../../_components/forms/confirm-button';
import { Page } from '../../_components/page/page-header';
import { RefreshWhile } from '../../_components/page/refresh-while';
import { adminPage } from '../../_components/page/staff-page';
import { titleOf } from '../../_components/page/title-of';
import { remove, stop } from '../actions';
import { RunProgress, RunResult } from './import-run';
import { Mapping } from './mapping';

export const generateMetadata = titleOf('Import a file', async (id, { runtime, staff }) => {
  const upload = staff.role === 'admin' ? await findUpload(runtime.env.dataDir, id) : null;
  return upload && `Import ${upload.file_name}`;
});

export default adminPage<{ id: string }>(async ({ params, runtime: { env, db }, search }) => {
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
              consequences={[upload.file_name, 'What was imported from it stays.']}
            >
              Remove file
            </ConfirmButton>
          )
        }
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
