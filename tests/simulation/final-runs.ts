import { isDeepStrictEqual } from 'node:util';
import { toCalendarDate } from '@/lib/dates';
import type { Look } from './looks';
import type { Difference } from './oracle/values';
import type { Played } from './played';
import type { Stage } from './stage';
import type { Tables } from './tables';

/** More than all final runs of a history take. */
const FINAL_SECONDS = 900;

export type Fail = (at: string, differences: Difference[]) => void;

/** Ends what a killed process left, then one run of its own. */
export async function finishRuns(stage: Stage, played: Played, fail: Fail): Promise<void> {
  played.later(7 * 3600);
  if (isNearMidnight(played)) played.later(FINAL_SECONDS);
  const { status } = await run(stage, played.looks);
  const tables = await stage.tables();
  const failed = tables.events.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id);
  const expected = expectedFailures(played, tables);
  // One that was looked for may have been found elsewhere right after.
  const found = tables.failures.filter((id) => mayHaveWaited(played, tables, id));
  const failures = [...new Set([...expected.failures, ...found])].toSorted();
  const actual = { status, failures: tables.failures.toSorted(), failed };
  const wanted = { status: statusOf(failures), failures, failed: [] };
  if (!isDeepStrictEqual(actual, wanted)) {
    fail('the run', [{ what: 'status', expected: wanted, actual }]);
  }
}

/** An invoice that becomes overdue between one final run and the next is no news of Stripe's. */
function isNearMidnight({ now, plan: { timeZone } }: Played): boolean {
  const later = new Date(now().getTime() + FINAL_SECONDS * 1000);
  return toCalendarDate(now(), timeZone) !== toCalendarDate(later, timeZone);
}

async function run(stage: Stage, looks: Look[]) {
  const { result } = await stage.reconcile(undefined, looks);
  if (!result) throw new Error('a run was thrown out');
  return result;
}

/** Whom Stripe does not know is named by each run, as long as a checkout of theirs may be looked for. */
function expectedFailures({ unknown }: Played, { links, subscriptions }: Tables) {
  const waiting = subscriptions.filter(
    (row) => row.stripe_subscription_id === null && row.status !== 'cancelled',
  );
  const failures = links
    .filter(
      (link) =>
        unknown.has(link.stripe_customer_id) &&
        waiting.some(({ customer_id }) => customer_id === link.customer_id),
    )
    .map(({ stripe_customer_id }) => stripe_customer_id)
    .toSorted();
  return { status: statusOf(failures), failures };
}

const statusOf = (failures: string[]) => (failures.length > 0 ? 'completed_with_errors' : 'completed');

function mayHaveWaited({ unknown, setup }: Played, { links }: Tables, id: string): boolean {
  const link = links.find(({ stripe_customer_id }) => stripe_customer_id === id);
  return unknown.has(id) && setup.ours.some((own) => own.sold && own.id === link?.customer_id);
}

/**
 * A run right after another changes nothing, unless an object that it fetches brings news of its customer, as the
 * one before may have had no cause to fetch any.
 *
 * @returns whether there were such news
 */
export async function runAgain(stage: Stage, played: Played, tables: Tables, fail: Fail): Promise<boolean> {
  played.later(60);
  const looks: Look[] = [];
  const again = await run(stage, looks);
  const isNews = looks.some((look) => isNew(look, played.looks));
  // What an object brought along may have been of no account until now.
  const mayBeNews = looks.some((look) =>
    isNew(
      look,
      played.looks.filter(({ kind }) => kind === 'asked'),
    ),
  );
  played.looks.push(...looks);
  const { status } = expectedFailures(played, tables);
  if (again.status === status && again.changes === 0) return isNews;
  // By such news a checkout may be found that nobody looks for any more.
  const statuses = [status, expectedFailures(played, await stage.tables()).status];
  if (statuses.includes(again.status) && (isNews || mayBeNews)) return true;
  const actual = await stage.lastChanges(again.changes);
  fail('a second run', [{ what: 'changes', expected: 0, actual: { status: again.status, actual } }]);
  return false;
}

const isNew = ({ customer, changes }: Look, before: Look[]) =>
  changes !== null &&
  before.every((look) => look.customer !== customer || look.isDoubtful || Number(look.changes) < changes);
