import { desc } from 'drizzle-orm';
import { reconciliationChanges } from '@/db/schema';
import { toCalendarDate } from '@/lib/dates';
import { judge, type Truth } from './oracle';
import { ANNOUNCING } from './oracle/story';
import type { Difference } from './oracle/values';
import { isFailingRun, type Plan } from './plan';
import { type Played, play } from './play';
import type { Stage } from './stage';
import { readTables, type Tables } from './tables';

export interface Outcome {
  deliveries: number;
  crashes: number;
  runs: number;
  ties: number;
  rows: number;
}

/** A history that did not end as it must. */
export class WrongEnd extends Error {
  constructor(
    readonly stage: string,
    readonly differences: Difference[],
    readonly log: string[],
  ) {
    super(`${stage}: ${differences.map(({ what }) => what).join(', ')}`);
  }
}

/** Plays a history and compares where it ends with what it must end as. @throws WrongEnd */
export async function runHistory(stage: Stage, plan: Plan, seed: number): Promise<Outcome> {
  const played = await play(stage, plan, seed);
  const fail = (at: string, differences: Difference[]) => {
    if (differences.length > 0) throw new WrongEnd(at, differences, played.log);
  };
  fail(
    'on the way',
    played.faults.map((what) => ({ what, expected: '200', actual: null })),
  );
  const truth = truthOf(played);
  let tables = await readTables(stage.db);
  fail('inbox', checkInbox(played, tables));
  const first = judge(truth, tables, false);
  fail('after the deliveries', first.differences);
  if (plan.hasKey) {
    await finishRuns(stage, played, fail);
    tables = await readTables(stage.db);
    fail('after a run', judge(truthOf(played), tables, true).differences);
    await expectNothing(stage, played, fail);
  }
  const { deliveries, crashes, runs } = played.counts;
  const rows = tables.invoices.length + tables.subscriptions.length + tables.payments.length;
  return { deliveries, crashes, runs, ties: first.ties, rows };
}

type Fail = (at: string, differences: Difference[]) => void;

/** Ends what a killed process left, then one run of its own. */
async function finishRuns(stage: Stage, played: Played, fail: Fail): Promise<void> {
  played.later(7 * 3600);
  const { status, failures } = await stage.reconcile(stage.db);
  const tables = await readTables(stage.db);
  const failed = tables.events.filter(({ outcome }) => outcome === 'failed');
  if (status !== 'completed' || tables.failures > 0 || failed.length > 0) {
    fail('the run', [{ what: 'status', expected: 'completed', actual: { status, failures, failed } }]);
  }
}

async function expectNothing(stage: Stage, played: Played, fail: Fail): Promise<void> {
  played.later(60);
  const again = await stage.reconcile(stage.db);
  if (again.status === 'completed' && again.changes === 0) return;
  const actual = await stage.db
    .select()
    .from(reconciliationChanges)
    .orderBy(desc(reconciliationChanges.id))
    .limit(again.changes);
  fail('a second run', [{ what: 'changes', expected: 0, actual: { status: again.status, actual } }]);
}

function truthOf({ plan, world, setup, deeds, now }: Played): Truth {
  return {
    history: world.history,
    timeZone: plan.timeZone,
    today: toCalendarDate(now(), plan.timeZone),
    hasKey: plan.hasKey,
    linkByEmail: plan.linkByEmail,
    lossless: plan.lossless,
    mayFail: plan.api.length > 0 || plan.steps.some(isFailingRun),
    versions: plan.versions,
    ours: setup.ours,
    stripeCustomers: setup.stripeCustomers,
    ...deeds,
  };
}

/** Every event that came is there as it was signed, and was dealt with. */
function checkInbox({ payloads, world, delivered }: Played, tables: Tables): Difference[] {
  const rows = new Map(tables.events.map((row) => [row.id, row]));
  const differences: Difference[] = [];
  const types = new Map(world.history.map(({ id, type }) => [id, type]));
  for (const id of delivered) {
    const row = rows.get(id);
    const isOurs = ANNOUNCING.has(types.get(id) ?? '');
    const outcomes = isOurs ? ['processed', 'stale'] : ['ignored'];
    if (!row?.processed || !outcomes.includes(row.outcome) || row.payload !== payloads.get(id)) {
      differences.push({ what: `event ${id}`, expected: outcomes, actual: row ?? null });
    }
  }
  if (rows.size !== delivered.size) {
    differences.push({ what: 'events', expected: delivered.size, actual: rows.size });
  }
  return differences;
}
