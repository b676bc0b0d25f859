import { Alert, Group, Paper, Progress, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatCount, formatDuration, formatField, formatNumber } from '@/app/_components/format';
import { TextLink } from '@/app/_components/links';
import { toPageRequest } from '@/app/_components/search-params';
import { nameChanges } from '@/lib/sync/reconcile/changes';
import {
  getRun,
  listRunChanges,
  listRunFailures,
  type RunFailure,
  type RunRow,
} from '@/lib/sync/reconcile/run';
import { failureText } from '../../../_components/format';
import { ChangeList } from '../../_components/audit/change-list';
import { StripeId } from '../../_components/display/stripe-id';
import { Dimmed, Instant, RecordTitle } from '../../_components/display/values';
import classes from '../../_components/lists/list.module.css';
import { Pager } from '../../_components/lists/paged-list';
import { RefreshWhile } from '../../_components/page/refresh-while';
import { Page, recordPage, Section, titleOf } from '../../_components/page/staff-page';
import { isSilent, PHASES, progressOf, triggerText } from '../run-text';

export const generateMetadata = titleOf('Reconciliation run', async (id) => `Reconciliation run ${id}`);

export default recordPage(getRun, async (run, { id, db, runtime: { now }, timeZone, search }) => {
  const changes = await listRunChanges(db, id, toPageRequest(search));
  const failures = await listRunFailures(db, id);
  return (
    <>
      <RefreshWhile running={run.status === 'running'} />
      <Page
        back={{ href: '/admin/reconciliation', label: 'Reconciliation' }}
        title={<RecordTitle status={run.status}>Run {run.id}</RecordTitle>}
        description={<Instant at={run.started_at} timeZone={timeZone} />}
      >
        {run.status === 'running' && <RunProgress run={run} />}
        {isSilent(run, now()) && (
          <Alert color="orange" variant="light" title="This run has stopped responding">
            Its process may have ended. The next run resumes where this one stopped.
          </Alert>
        )}
        {run.status === 'failed' && (
          <Alert color="red" variant="light" title="The run failed">
            {failureText(run.error_code)} {run.error_code && `Code ${run.error_code}.`} The next run starts
            over.
          </Alert>
        )}
        {run.stripe_skipped && (
          <Alert color="orange" variant="light" title="Not fully compared with Stripe">
            STRIPE_SECRET_KEY was not set during this run or a part of it. Without the key, only local data is
            checked.
          </Alert>
        )}
        <Section title="Run" facts={runFacts(run, timeZone)} />
        {failures.length > 0 && (
          <Section title="Failures">
            <FailureList failures={failures} timeZone={timeZone} />
          </Section>
        )}
        <div>
          <Section title="Changes" none={changes.data.length === 0 && noChangesText(run)}>
            <ChangeList changes={await nameChanges(db, changes.data)} timeZone={timeZone} />
          </Section>
          {changes.total > 0 && (
            <Pager page={changes} path={`/admin/reconciliation/${id}`} params={search} noun="change" />
          )}
        </div>
      </Page>
    </>
  );
});

function runFacts(run: RunRow, timeZone: string): Record<string, ReactNode> {
  const instant = (at: Date | null) => at && <Instant at={at} timeZone={timeZone} />;
  return {
    'Started by': triggerText(run),
    Finished: instant(run.finished_at),
    Duration: run.finished_at && formatDuration(run.started_at, run.finished_at),
    Phase: PHASES[run.phase],
    'Objects checked': formatNumber(run.objects_checked),
    Changes: formatNumber(run.changes_count),
    Failures: formatNumber(run.failures_count),
    Since: instant(run.window_from) ?? 'all time',
  };
}

function noChangesText({ status }: RunRow): string {
  if (status === 'running') return 'None so far.';
  return status === 'failed' ? 'None before the run failed.' : 'None: everything already matched.';
}

/** Shows the progress of a run. The page refreshes itself while the run continues. */
function RunProgress({ run }: { run: RunRow }) {
  const { done, phases } = progressOf(run.phase);
  return (
    <Paper withBorder radius="lg" p="md">
      <Stack gap="xs">
        <Group justify="space-between" gap="xs">
          <Text size="sm" fw={500}>
            {PHASES[run.phase]}
          </Text>
          <Dimmed>{`Step ${done + 1} of ${phases}`}</Dimmed>
        </Group>
        <Progress value={((done + 0.5) / phases) * 100} animated aria-label="Progress of the run" />
        <Text size="sm" c="dimmed">
          {`${formatCount(run.objects_checked, 'object')} checked, ${formatCount(run.changes_count, 'change')}`}
        </Text>
      </Stack>
    </Paper>
  );
}

/** Lists the Stripe objects that a run could not synchronize. The next run retries those that are still unresolved. */
function FailureList({ failures, timeZone }: { failures: RunFailure[]; timeZone: string }) {
  return failures.map((failure) => (
    <Group key={failure.id} justify="space-between" className={classes.entry ?? ''} display="flex" gap="xs">
      <Stack gap={0} miw={0}>
        <Group gap={6}>
          <TextLink href={hrefOf(failure)} className="break-anywhere">
            {formatField(failure.object)}
          </TextLink>
          <StripeId id={failure.stripe_id} />
        </Group>
        <Text size="xs" c="dimmed">
          {failureText(failure.error_code)} ({failure.error_code})
        </Text>
      </Stack>
      <Text size="xs" c="dimmed">
        {failure.resolved_at ? (
          <>
            Resolved <Instant at={failure.resolved_at} timeZone={timeZone} />
          </>
        ) : (
          'Retried by the next run'
        )}
      </Text>
    </Group>
  ));
}

/** Returns the URL of the failed event, of the payouts, or of a list filtered by the failed object. */
function hrefOf({ object, stripe_id }: RunFailure): string {
  const id = encodeURIComponent(stripe_id);
  if (object === 'event') return `/admin/webhooks/${id}`;
  if (object === 'payout') return '/admin/reconciliation#payouts';
  return object === 'subscription' ? `/admin/subscriptions?id=${id}` : `/admin/webhooks?id=${id}`;
}
