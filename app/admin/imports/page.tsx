import { Alert, Code, Stack } from '@mantine/core';
import type { Metadata } from 'next';
import { requireAdmin } from '@/lib/auth/session/staff-session';
import { importState, listImports } from '@/lib/imports/import-log';
import { IMPORT_NAMES } from '@/lib/imports/kinds';
import { getRuntime } from '@/lib/runtime';
import { listUploads } from '@/lib/uploads/upload-store';
import { formatKind } from '../../_components/format';
import { type SearchParams, toPageRequest, toParams } from '../../_components/search-params';
import { CountedList } from '../_components/lists/counted-list';
import { PageHeader } from '../_components/page/page-header';
import { RefreshWhile } from '../_components/page/refresh-while';
import { Section } from '../_components/page/section';
import { ImportList } from './import-list';
import { UploadForm } from './upload-form';
import { UploadList } from './upload-list';
import { UploadNotice } from './upload-notice';

export const metadata: Metadata = { title: 'Import' };

export default async function ImportsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireAdmin();
  const params = toParams(await searchParams);
  const { db, env, now } = await getRuntime();
  const notice = params.get('notice');
  params.delete('notice');
  const page = await listImports(db, toPageRequest(params));
  const uploads = env.vercel ? [] : await listUploads(env.dataDir);
  return (
    <>
      <RefreshWhile running={page.data.some((row) => importState(row, now()) === 'running')} />
      <PageHeader
        title="Import"
        description="Customers, servers, services, invoices, sales documents and payments from CSV files."
      />
      <UploadNotice notice={notice} />
      <Stack gap="xl">
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
            <UploadList uploads={uploads} timeZone={env.timeZone} />
          </Section>
        )}
        <Section title="Imports so far">
          <CountedList
            page={page}
            noun="import"
            yet="All imports appear here, including those run by command."
            path="/admin/imports"
            params={params}
          >
            {(rows) => <ImportList rows={rows} now={now()} timeZone={env.timeZone} />}
          </CountedList>
        </Section>
      </Stack>
    </>
  );
}
