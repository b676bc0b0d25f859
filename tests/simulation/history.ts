import { toCalendarDate } from '@/lib/dates';
import { checkStrays, withoutStrays } from './check-strays';
import { type Fail, finishRuns, runAgain } from './final-runs';
import { judge, type Truth } from './oracle';
import { ANNOUNCING } from './oracle/story';
import type { Difference } from './oracle/values';
import { isFailingRun, type Plan } from './plan';
import { play, versionOf } from './play';
import type { Played } from './played';
import { mayLackBody } from './pure/drop-bodies';
import type { Stage } from './stage';
import type { Stray } from './strays';
import type { Tables } from './tables';
import type { Tally } from './tally';

/** More often than that, runs do not come upon something new one after the other. */
const MOST_RUNS = 5;

export interface Outcome {
  deliveries: number;
  crashes: number;
  runs: number;
  ties: number;
  rows: number;
  /** Steps that were done, and what went wrong on purpose. */
  steps: Tally;
  mishaps: Tally;
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
  const fail: Fail = (at, differences) => {
    if (differences.length > 0) throw new WrongEnd(at, differences, played.log);
  };
  fail(
    'on the way',
    played.faults.map((what) => ({ what, expected: '200', actual: null })),
  );
  const { steps, mishaps } = played;
  let tables = await stage.tables();
  fail('inbox', checkInbox(played, tables));
  fail('strays', checkStrays(played, tables, false));
  const first = judge(truthOf(played), withoutStrays(tables, played.setup.ours), false);
  fail('after the deliveries', first.differences);
  let { ties } = first;
  if (plan.hasKey) {
    await finishRuns(stage, played, fail);
    let isNews = true;
    for (let runs = 1; isNews; runs += 1) {
      if (runs > MOST_RUNS) throw new WrongEnd('runs that bring news', [], played.log);
      tables = await stage.tables();
      fail('strays after a run', checkStrays(played, tables, true));
      const last = judge(truthOf(played), withoutStrays(tables, played.setup.ours), true);
      fail('after a run', last.differences);
      ties += last.ties;
      isNews = await runAgain(stage, played, tables, fail);
    }
  }
  const deadlocks = (await stage.takeDeadlocks?.()) ?? 0;
  fail('locks', deadlocks > 0 ? [{ what: '40P01', expected: 0, actual: deadlocks }] : []);
  const { deliveries, crashes, runs } = played.counts;
  const rows = tables.invoices.length + tables.subscriptions.length + tables.payments.length;
  return { deliveries, crashes, runs, ties, rows, steps, mishaps };
}

function truthOf({ plan, world, setup, deeds, now, times, looks, unknown, isCrowded }: Played): Truth {
  return {
    history: world.history,
    intents: intentsOf(world),
    refunds: [...world.refunds.values()],
    disputes: [...world.disputes.values()],
    timeZone: plan.timeZone,
    today: toCalendarDate(now(), plan.timeZone),
    hasKey: plan.hasKey,
    linkByEmail: plan.linkByEmail,
    lossless: plan.lossless,
    mayFail: plan.hasKey && (isCrowded || plan.api.length > 0 || plan.steps.some(isFailingRun)),
    versions: plan.versions,
    versionOf: (event) => versionOf(plan, event),
    ours: setup.ours,
    stripeCustomers: setup.stripeCustomers,
    times,
    looks,
    unknown,
    ...deeds,
  };
}

function intentsOf({ invoicePayments }: Played['world']): Map<string, string> {
  return new Map(
    [...invoicePayments.values()].flatMap(({ payment, invoice }) =>
      payment.type === 'payment_intent' ? [[payment.payment_intent, invoice] as const] : [],
    ),
  );
}

const outcomesOf = ({ outcome }: Stray) => (outcome === 'processed' ? ['processed', 'stale'] : [outcome]);

/** Every event that came is there as it was signed, and was dealt with. */
function checkInbox({ payloads, world, delivered, strays, now }: Played, tables: Tables): Difference[] {
  const rows = new Map(tables.events.map((row) => [row.id, row]));
  const differences: Difference[] = [];
  const types = new Map(world.history.map(({ id, type }) => [id, type]));
  for (const id of delivered) {
    const row = rows.get(id);
    const isOurs = ANNOUNCING.has(types.get(id) ?? '');
    const stray = strays.find(({ event }) => event.id === id);
    const outcomes = stray ? outcomesOf(stray) : isOurs ? ['processed', 'stale'] : ['ignored'];
    const isAsSigned = row?.payload === payloads.get(id) || (row?.payload === '' && mayLackBody(row, now()));
    if (!row?.processed || !outcomes.includes(row.outcome) || !isAsSigned) {
      differences.push({ what: `event ${id}`, expected: outcomes, actual: row ?? null });
    }
  }
  if (rows.size !== delivered.size) {
    differences.push({ what: 'events', expected: delivered.size, actual: rows.size });
  }
  return differences;
}
