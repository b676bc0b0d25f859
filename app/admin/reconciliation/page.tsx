import { Alert } from '@mantine/core';
import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { getRuntime } from '@/lib/runtime';
import { listRuns } from '@/lib/sync/reconcile/run';
import { formatDailyRun } from '../../_components/format';
import { type SearchParams, toPageRequest, toParams } from '../../_components/search-params';
import { CountedList } from '../_components/lists/counted-list';
import { PageHeader } from '../_components/page/page-header';
import { RefreshWhile } from '../_components/page/refresh-while';
import { RunList } from './run-list';
import { RunNowButton } from './run-now-button';
import { isSilent } from './run-text';

export const metadata: Metadata = { title: 'Reconciliation' };

export default async function RunsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const params = toParams(await searchParams);
  const { db, env, stripe, now } = await getRuntime();
  const start = formatDailyRun(env.scheduleTimeZone);
  const page = await listRuns(db, toPageRequest(params));
  const running = page.data.some((run) => run.status === 'running' && !isSilent(run, now()));
  return (
    <>
      <RefreshWhile running={running} />
      <PageHeader
        title="Reconciliation"
        description={`Compares subscriptions, invoices and payments with Stripe, daily at ${start}.`}
        actions={<RunNowButton running={running} />}
      />
      {stripe === null && (
        <Alert color="orange" variant="light" mb="lg" title="Stripe is not connected">
          STRIPE_SECRET_KEY is not set: runs only check local data.
        </Alert>
      )}
      <CountedList
        page={page}
        noun="run"
        yet={`The first one starts at ${start}.`}
        path="/admin/reconciliation"
        params={params}
      >
        {(runs) => <RunList runs={runs} timeZone={env.timeZone} />}
      </CountedList>
    </>
  );
}
