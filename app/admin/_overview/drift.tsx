import { toCalendarDate } from '@/lib/dates';
import { getRuntime } from '@/lib/runtime';
import { listRuns } from '@/lib/sync/reconcile/run';
import {
  formatCount,
  formatDailyRun,
  formatDate,
  formatInstant,
  formatNumber,
} from '../../_components/format';
import { TextLink } from '../../_components/links';
import { BarChart } from '../_components/display/bar-chart';
import { Nothing } from '../_components/page/nothing';
import { Section } from '../_components/page/section';

const RUNS = 14;

/** How much the last runs had to put right. */
export async function Drift() {
  const { db, env } = await getRuntime();
  const runs = (await listRuns(db, { page: 1, per_page: RUNS })).data.toReversed();
  const [first, last] = [runs.at(0), runs.at(-1)];
  const dateOf = (at: Date) => formatDate(toCalendarDate(at, env.timeZone));
  return (
    <Section
      title="Reconciliation changes"
      action={<TextLink href="/admin/reconciliation">All runs</TextLink>}
    >
      {first && last ? (
        <BarChart
          label={`Changes in the last ${formatCount(runs.length, 'run')}: ${runs.map((run) => run.changes_count).join(', ')}`}
          bars={runs.map((run) => ({
            name: String(run.id),
            value: run.changes_count,
            title: `${formatInstant(run.started_at, env.timeZone)}: ${formatCount(run.changes_count, 'change')}`,
          }))}
          formatTick={formatNumber}
          isWhole
          ends={[dateOf(first.started_at), dateOf(last.started_at)]}
        />
      ) : (
        <Nothing
          title="No runs yet"
          text={`The first one starts at ${formatDailyRun(env.scheduleTimeZone)}.`}
        />
      )}
    </Section>
  );
}
