import { Alert, Box } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { type ListedPayout, listLatestPayouts } from '@/lib/sync/reconcile/payouts';
import { listRuns, type RunRow } from '@/lib/sync/reconcile/run';
import {
  formatCount,
  formatDailyRun,
  formatDate,
  formatDuration,
  formatNumber,
  joinTexts,
} from '../../_components/format';
import { toPageRequest } from '../../_components/search-params';
import { StripeId } from '../_components/display/stripe-id';
import { Instant, Money, StatusBadge } from '../_components/display/values';
import { SubmitButton } from '../_components/forms/submit-button';
import { PagedList } from '../_components/lists/paged-list';
import { RecordList } from '../_components/lists/record-list';
import { RefreshWhile } from '../_components/page/refresh-while';
import { PageHeader, Section, staffPage } from '../_components/page/staff-page';
import { runNow } from './actions';
import { isUnderWay, PAYOUT_DIFFERENCES, payoutText, triggerText } from './run-text';

export const metadata = { title: 'Reconciliation' };

export default staffPage(async ({ runtime: { db, env, stripe, now }, search }) => {
  const start = formatDailyRun(env.scheduleTimeZone);
  const page = await listRuns(db, toPageRequest(search));
  const payouts = await listLatestPayouts(db);
  const running = page.data.some((run) => isUnderWay(run, now()));
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
      {payouts.length > 0 && (
        <Box id="payouts" mt="xl">
          <Section title="Stripe payouts">
            <PayoutList payouts={payouts} />
          </Section>
        </Box>
      )}
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
        { label: 'Started', wraps: true, cell: (run) => <Instant at={run.started_at} timeZone={timeZone} /> },
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

/** Lists payouts with their contents, and the differences between each payout and our records or the bank. */
function PayoutList({ payouts }: { payouts: ListedPayout[] }) {
  const amountOf = ({ amount, currency }: ListedPayout) => (
    <Money amount={Number(amount)} currency={currency} />
  );
  const differencesOf = ({ differences, sums, is_automatic }: ListedPayout) => {
    if (differences.length > 0) return joinTexts(...differences.map((one) => PAYOUT_DIFFERENCES[one] ?? one));
    if (sums) return 'Matches';
    return is_automatic ? 'Not compared yet' : 'Not comparable';
  };
  return (
    <RecordList<ListedPayout>
      label="Payouts"
      rows={payouts}
      columns={[
        { label: 'Arrival', width: '12%', cell: ({ arrival_date }) => formatDate(arrival_date) },
        { label: 'Payout', width: '28%', cell: ({ stripe_payout_id }) => <StripeId id={stripe_payout_id} /> },
        { label: 'Contents', wraps: true, cell: payoutText },
        { label: 'Comparison', width: '16%', wraps: true, cell: differencesOf },
        { label: 'Amount', width: '11%', align: 'right', cell: amountOf },
      ]}
      entryOf={(payout) => ({
        title: formatDate(payout.arrival_date),
        detail: joinTexts(payoutText(payout), differencesOf(payout)),
        figure: amountOf(payout),
      })}
    />
  );
}
