import { Alert } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { listRuns, type RunRow } from '@/lib/sync/reconcile/run';
import { formatCount, formatDailyRun, formatDuration, formatNumber } from '../../_components/format';
import { toPageRequest } from '../../_components/search-params';
import { Instant, StatusBadge } from '../_components/display/values';
import { SubmitButton } from '../_components/forms/submit-button';
import { PagedList } from '../_components/lists/paged-list';
import { RecordList } from '../_components/lists/record-list';
import { RefreshWhile } from '../_components/page/refresh-while';
import { PageHeader, staffPage } from '../_components/page/staff-page';
import { runNow } from './actions';
import { isSilent, triggerText } from './run-text';

export const metadata = { title: 'Reconciliation' };

export default staffPage(async ({ runtime: { db, env, stripe, now }, search }) => {
  const start = formatDailyRun(env.scheduleTimeZone);
  const page = await listRuns(db, toPageRequest(search));
  const running = page.data.some((run) => run.status === 'running' && !isSilent(run, now()));
  return (
    <>
      <RefreshWhile running={running} />
      <PageHeader
        title="Reconciliation"
        description={`Compares subscriptions, invoices and payments with Stripe, daily at ${start}.`}
        actions={
          <form action={runNow}>
            <SubmitButton
              disabled={running}
              leftSection={<IconPlayerPlay size={16} stroke={1.8} aria-hidden />}
            >
              {running ? 'Running' : 'Run now'}
            </SubmitButton>
          </form>
        }
      />
      {stripe === null && (
        <Alert color="orange" variant="light" mb="lg" title="Stripe is not connected">
          STRIPE_SECRET_KEY is not set: runs only check local data.
        </Alert>
      )}
      <PagedList
        page={page}
        noun="run"
        yet={`The first one starts at ${start}.`}
        path="/admin/reconciliation"
        params={search}
      >
        {(runs) => <RunList runs={runs} timeZone={env.timeZone} />}
      </PagedList>
    </>
  );
});

function RunList({ runs, timeZone }: { runs: RunRow[]; timeZone: string }) {
  return (
    <RecordList<RunRow>
      label="Runs"
      rows={runs}
      hrefOf={({ id }) => `/admin/reconciliation/${id}`}
      nameOf={({ id }) => `Run ${id}`}
      columns={[
        { label: 'Started', cell: (run) => <Instant at={run.started_at} timeZone={timeZone} /> },
        { label: 'Status', width: '20%', cell: (run) => <StatusBadge status={run.status} /> },
        { label: 'Started by', width: '18%', cell: triggerText },
        { label: 'Checked', width: '10%', align: 'right', cell: (run) => formatNumber(run.objects_checked) },
        { label: 'Changes', width: '10%', align: 'right', cell: (run) => formatNumber(run.changes_count) },
        { label: 'Failures', width: '10%', align: 'right', cell: (run) => formatNumber(run.failures_count) },
        { label: 'Duration', width: '12%', align: 'right', cell: durationOf },
      ]}
      entryOf={(run) => ({
        title: `Run ${run.id}`,
        detail: (
          <>
            <Instant at={run.started_at} timeZone={timeZone} />
            {` · ${triggerText(run)} · ${formatCount(run.changes_count, 'change')}`}
            {run.failures_count > 0 && ` · ${formatCount(run.failures_count, 'failure')}`}
          </>
        ),
        state: <StatusBadge status={run.status} />,
      })}
    />
  );
}

function durationOf({ started_at, finished_at }: RunRow): string {
  return finished_at ? formatDuration(started_at, finished_at) : '–';
}
