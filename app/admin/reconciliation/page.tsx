import { Alert, Paper } from '@mantine/core';
import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/staff-session';
import { getRuntime } from '@/lib/runtime';
import { listRuns } from '@/lib/sync/run-queries';
import { type SearchParams, toPageRequest, toParams } from '../../_components/search-params';
import { Nothing } from '../_components/nothing';
import { PageHeader } from '../_components/page-header';
import { Pager } from '../_components/pager';
import { RefreshWhile } from '../_components/refresh-while';
import { RunList } from './run-list';
import { RunNowButton } from './run-now-button';
import { isSilent } from './run-text';

export const metadata: Metadata = { title: 'Reconciliation' };

export default async function RunsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const params = toParams(await searchParams);
  const { db, env, stripe, now } = await getRuntime();
  const page = await listRuns(db, toPageRequest(params));
  const running = page.data.some((run) => run.status === 'running' && !isSilent(run, now()));
  return (
    <>
      <RefreshWhile running={running} />
      <PageHeader
        title="Reconciliation"
        description="Compares subscriptions, invoices and payments with Stripe, daily at 03:40."
        actions={<RunNowButton running={running} />}
      />
      {stripe === null && (
        <Alert color="orange" variant="light" mb="lg" title="Stripe is not connected">
          STRIPE_SECRET_KEY is not set: runs only check the data of this service.
        </Alert>
      )}
      <Paper withBorder radius="lg" style={{ overflow: 'hidden' }}>
        {page.data.length > 0 ? (
          <RunList runs={page.data} timeZone={env.timeZone} />
        ) : (
          <NoRuns total={page.total} />
        )}
      </Paper>
      <Pager page={page} path="/admin/reconciliation" params={params} noun="run" />
    </>
  );
}

function NoRuns({ total }: { total: number }) {
  if (total > 0) return <Nothing title="There is no such page" text="The list ends before it." />;
  return <Nothing title="No runs yet" text="The first one starts at 03:40." />;
}
