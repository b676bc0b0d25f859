import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { toCalendarDate } from '@/lib/dates';
import { plans } from './draw-plan';
import { judge } from './oracle';
import { checkBooks } from './oracle/books';
import { ANNOUNCING, amount, type Difference, type Look, type Truth } from './oracle/story';
import { withoutRenames } from './own-steps';
import { isFailingRun, type Plan } from './plan';
import { count, type Played, payOutAll, play, type Tally, versionOf } from './play';
import { mayLackBody } from './pure/inbox';
import type { Stage } from './stage';
import { checkStrays, withoutStrays } from './strays';
import type { Tables } from './tables';

export interface Outcome {
  deliveries: number;
  crashes: number;
  runs: number;
  rows: number;
  steps: Tally;
}

export interface Totals extends Outcome {
  histories: number;
  seconds: number;
}

export const noTotals = (): Totals => ({
  ...{ histories: 0, seconds: 0, deliveries: 0, crashes: 0, runs: 0, rows: 0, steps: {} },
});

export function add(totals: Totals, { steps = {}, ...more }: Partial<Totals>): void {
  for (const key of Object.keys(more) as (keyof typeof more)[]) totals[key] += more[key] ?? 0;
  for (const [kind, times] of Object.entries(steps)) count(totals.steps, kind, times);
}

export interface Failure {
  seed: number;
  /** The fast-check path that replays the shrunk history, together with the seed. */
  path: string;
  error: string;
  /** The shrunk history and its differences as readable text. */
  report: string;
}

type Checked = { outcome: Outcome } | { failure: Failure };

export function seedOf(campaign: number, at: number): number {
  return (Math.imul(campaign, 1_000_003) + at) | 0;
}

/** Runs the first histories of a campaign. @throws Error with the report of a failing history and its replay command */
export async function checkHistories(
  stage: Stage,
  campaign: number,
  histories: number,
  flag: '' | '--pure ',
): Promise<void> {
  for (let at = 0; at < histories; at += 1) {
    const checked = await checkHistory(stage, seedOf(campaign, at), 20_000);
    if (!('failure' in checked)) continue;
    throw new Error(describeFailure(checked.failure, flag));
  }
}

/** Returns the report of a failing history and its replay command. */
export function describeFailure({ seed, path, error, report }: Failure, flag: '' | '--pure '): string {
  return `${error}\n${report}\n\nAgain: npm run simulate -- ${flag}--replay=${seed}:${path}`;
}

/** Runs the history of a seed. If it fails, shrinks it for at most `shrinkFor` milliseconds. */
export async function checkHistory(stage: Stage, seed: number, shrinkFor: number): Promise<Checked> {
  let outcome: Outcome | undefined;
  const property = fc.asyncProperty(plans, async (plan) => {
    outcome = await runHistory(stage, plan, seed);
  });
  const details = await fc.check(property, {
    seed,
    numRuns: 1,
    ...(shrinkFor === 0 ? { endOnFailure: true } : { interruptAfterTimeLimit: shrinkFor }),
  });
  if (!details.failed && outcome) return { outcome };
  // The time limit stopped the history, for example because the process was paused. Run it again without a limit.
  if (details.counterexample === null) return replayHistory(stage, seed, '0');
  return failureOf(seed, details.counterexamplePath ?? '0', details.counterexample[0], details.errorInstance);
}

/** Runs one history of a seed without shrinking it. */
export async function replayHistory(stage: Stage, seed: number, path: string): Promise<Checked> {
  const [plan] = fc.sample(plans, { seed, path, numRuns: 1 });
  if (!plan) throw new Error(`${seed}:${path} is not the path of a history`);
  try {
    return { outcome: await runHistory(stage, plan, seed) };
  } catch (error) {
    return failureOf(seed, path, plan, error);
  }
}

function failureOf(
  seed: number,
  path: string,
  { steps: _, fates: __, api, ...setting }: Plan,
  error: unknown,
): Checked {
  const name = error instanceof Error ? error.message : String(error);
  const plan = JSON.stringify({ ...setting, api: api.map(({ kind }) => kind) });
  const details =
    error instanceof WrongEnd
      ? [...error.log, `${error.stage}:`, ...error.differences.map(describe)]
      : [error instanceof Error ? String(error.stack) : name];
  return { failure: { seed, path, error: name, report: [plan, ...details].join('\n') } };
}

const describe = ({ what, expected, actual }: Difference) =>
  `  ${what}\n    expected ${JSON.stringify(expected)}\n    actual   ${JSON.stringify(actual)}`;

/** Maximum number of consecutive runs that each find new data. */
const MOST_RUNS = 5;
/** Maximum duration of all final runs of a history, in seconds. */
const FINAL_SECONDS = 900;

class WrongEnd extends Error {
  constructor(
    readonly stage: string,
    readonly differences: Difference[],
    readonly log: string[],
  ) {
    super(`${stage}: ${differences.map(({ what }) => what).join(', ')}`);
  }
}

/** Runs a history and compares its final rows with the expected rows. @throws WrongEnd if they differ */
async function runHistory(stage: Stage, plan: Plan, seed: number): Promise<Outcome> {
  const played = await play(stage, plan, seed);
  const fail: Fail = (at, differences) => {
    if (differences.length > 0) throw new WrongEnd(at, differences, played.log);
  };
  fail(
    'on the way',
    played.faults.map((what) => ({ what, expected: '200', actual: null })),
  );
  let tables = await stage.tables();
  fail('inbox', checkInbox(played, tables));
  fail('books', [...checkBooks(tables), ...played.months.compare(tables)]);
  fail('strays', checkStrays(played, tables, false));
  fail('after the deliveries', judge(truthOf(played), judged(played, tables), false));
  if (plan.hasKey) {
    await finishRuns(stage, played, fail);
    let isNews = true;
    for (let runs = 1; isNews; runs += 1) {
      if (runs > MOST_RUNS) throw new WrongEnd('runs that bring news', [], played.log);
      tables = await stage.tables();
      fail('strays after a run', checkStrays(played, tables, true));
      fail('books after a run', [...checkBooks(tables), ...played.months.compare(tables)]);
      fail('credit notes after a run', checkCreditNotes(played, tables));
      fail('after a run', judge(truthOf(played), judged(played, tables), true));
      isNews = await runAgain(stage, played, tables, fail);
    }
  }
  const deadlocks = (await stage.takeDeadlocks?.()) ?? 0;
  fail('locks', deadlocks > 0 ? [{ what: '40P01', expected: 0, actual: deadlocks }] : []);
  const { deliveries, crashes, runs } = played.counts;
  const rows = tables.invoices.length + tables.subscriptions.length + tables.payments.length;
  return { deliveries, crashes, runs, rows, steps: played.steps };
}

const judged = ({ deeds, setup }: Played, tables: Tables) =>
  withoutRenames(withoutStrays(tables, setup.ours), deeds);

function truthOf({ plan, world, setup, deeds, now, times, looks, unknown, isCrowded }: Played): Truth {
  const { timeZone, hasKey, linkByEmail, lossless, versions } = plan;
  const intents = [...world.invoicePayments.values()].flatMap(({ payment, invoice }) =>
    payment.type === 'payment_intent' ? [[payment.payment_intent, invoice] as const] : [],
  );
  return {
    history: world.history,
    intents: new Map(intents),
    refunds: [...world.refunds.values()],
    disputes: [...world.disputes.values()],
    payouts: [...world.payouts.values()],
    movements: [...world.balanceTransactions.values()],
    charges: new Map([...world.paymentIntents.values()].map((one) => [one.latestCharge ?? '', one.id])),
    today: toCalendarDate(now(), timeZone),
    mayFail: hasKey && (isCrowded || plan.api.length > 0 || plan.steps.some(isFailingRun)),
    versionOf: (event) => versionOf(plan, event),
    ...{ timeZone, hasKey, linkByEmail, lossless, versions, times, looks, unknown, ...setup, ...deeds },
  };
}

/** Expects each delivered event to be handled, and its body to be stored unchanged unless it was dropped as old. */
function checkInbox({ payloads, world, delivered, strays, now }: Played, tables: Tables): Difference[] {
  const rows = new Map(tables.events.map((row) => [row.id, row]));
  const differences: Difference[] = [];
  const types = new Map(world.history.map(({ id, type }) => [id, type]));
  for (const id of delivered) {
    const row = rows.get(id);
    const isHandled = ANNOUNCING.has(types.get(id) ?? '');
    const stray = strays.find(({ event }) => event.id === id);
    const outcome = stray?.outcome ?? (isHandled ? 'processed' : 'ignored');
    const outcomes = outcome === 'processed' ? ['processed', 'stale'] : [outcome];
    const isAsSigned = row?.payload === payloads.get(id) || (row?.payload === '' && mayLackBody(row, now()));
    if (!row?.processed_at || !outcomes.includes(row.outcome) || !isAsSigned) {
      differences.push({ what: `event ${id}`, expected: outcomes, actual: row ?? null });
    }
  }
  if (rows.size !== delivered.size) {
    differences.push({ what: 'events', expected: delivered.size, actual: rows.size });
  }
  return differences;
}

/**
 * Expects each credit note of a known invoice to be stored, with the amount that Stripe added to the customer's balance,
 * and marked as void if Stripe voided it.
 */
function checkCreditNotes({ world }: Played, { invoices, notes }: Tables): Difference[] {
  if (!notes) return [];
  const stored = new Map(notes.map(({ id, ...note }) => [id, note]));
  const known = invoices.filter((row) => row.provider_gone_at === null);
  const ids = new Set(known.map(({ stripe_invoice_id }) => stripe_invoice_id));
  return [...world.creditNotes.values()].flatMap((note): Difference[] => {
    const isVoid = note.status === 'void';
    const actual = stored.get(note.id);
    // A credit note that was voided before sync saw it may be missing.
    if (!ids.has(note.invoice) || (isVoid && !actual)) return [];
    const refunded = note.refunds.reduce((sum, { amount }) => sum + amount, 0);
    const balance = note.postPaymentAmount - refunded - note.outOfBandAmount;
    const isRight =
      actual?.is_void === isVoid && Number(actual.to_balance) === Number(amount(balance, note.currency));
    return isRight ? [] : [{ what: `credit note ${note.id}`, expected: { isVoid, balance }, actual }];
  });
}

type Fail = (at: string, differences: Difference[]) => void;

/**
 * Runs reconciliation once, and expects it to report failures only for checkouts that it cannot look for. Moves the clock
 * by seven hours first, so that reconciliation ends a run whose process was killed, and does not resume it.
 */
async function finishRuns(stage: Stage, played: Played, fail: Fail): Promise<void> {
  payOutAll(played.world, false);
  played.later(7 * 3600);
  if (isNearMidnight(played)) played.later(FINAL_SECONDS);
  const { status } = await run(stage, played.looks);
  const tables = await stage.tables();
  const failed = tables.events.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id);
  const expected = expectedFailures(played, tables);
  // The run may have failed to look for a checkout that a later step of the run then found.
  const found = tables.failures.filter((id) => mayHaveFailed(played, tables, id));
  const failures = [...new Set([...expected.failures, ...found])].toSorted();
  const actual = { status, failures: tables.failures.toSorted(), failed };
  const wanted = { status: statusOf(failures), failures, failed: [] };
  if (!isDeepStrictEqual(actual, wanted)) {
    fail('the run', [{ what: 'status', expected: wanted, actual }]);
  }
}

/**
 * Returns whether the calendar date changes during the final runs. An invoice may then become overdue between two of
 * them, which would look like new data.
 */
function isNearMidnight({ now, plan: { timeZone } }: Played): boolean {
  const later = new Date(now().getTime() + FINAL_SECONDS * 1000);
  return toCalendarDate(now(), timeZone) !== toCalendarDate(later, timeZone);
}

async function run(stage: Stage, looks: Look[]) {
  const { result } = await stage.reconcile(undefined, looks);
  if (!result) throw new Error('a run ended with an error');
  return result;
}

/**
 * Returns the failures that a run must report, because it cannot look for checkouts of Stripe customers that Stripe's
 * API no longer returns.
 */
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

function mayHaveFailed({ unknown, setup }: Played, { links }: Tables, id: string): boolean {
  const link = links.find(({ stripe_customer_id }) => stripe_customer_id === id);
  return unknown.has(id) && setup.ours.some((own) => own.sold && own.id === link?.customer_id);
}

/**
 * Expects another run to change nothing, unless it receives customer data that is new to sync. That can happen if the
 * previous run did not retrieve any object of the customer.
 *
 * @returns whether the run found new data
 */
async function runAgain(stage: Stage, played: Played, tables: Tables, fail: Fail): Promise<boolean> {
  played.later(60);
  const looks: Look[] = [];
  const again = await run(stage, looks);
  const isNews = looks.some((look) => isNew(look, played.looks));
  // Sync may have discarded an expanded customer earlier. If so, this run is the first to use the customer's data.
  const mayBeNews = looks.some((look) =>
    isNew(
      look,
      played.looks.filter(({ kind }) => kind === 'asked'),
    ),
  );
  played.looks.push(...looks);
  const { status } = expectedFailures(played, tables);
  if (again.status === status && again.changes === 0) return isNews;
  // The new data may lead the run to a checkout. Later runs then neither look for this checkout nor fail because of it.
  const statuses = [status, expectedFailures(played, await stage.tables()).status];
  if (statuses.includes(again.status) && (isNews || mayBeNews)) return true;
  const actual = await stage.lastChanges(again.changes);
  fail('a second run', [{ what: 'changes', expected: 0, actual: { status: again.status, actual } }]);
  return false;
}

const isNew = ({ customer, changes }: Look, before: Look[]) =>
  changes !== null &&
  before.every((look) => look.customer !== customer || look.isDoubtful || Number(look.changes) < changes);
