import { waitUntil } from '@vercel/functions';
import { sql } from 'drizzle-orm';
import { type Database, pgErrorCode } from '@/db/database';
import { perProcess } from '@/db/per-process';
import type { Env } from '../env';
import type { Logger } from '../log';

/** Number of consecutive refused deliveries after which staff see an alert. */
const MANY_REFUSALS = 10;
/** The number of days that the alert stays after the last refusal. Stripe retries a delivery for three days. */
const ALERT_DAYS = 3;
/**
 * The maximum age in days, at the last refusal, of an event whose acceptance restarts the count. It is one day more
 * than Stripe retries a delivery.
 */
const REDELIVERED_DAYS = 4;
const MINUTE_MS = 60_000;

interface RefusalDeps {
  db: Database;
  log: Logger;
  env: Pick<Env, 'stripe'>;
}

interface Tally {
  count: number;
  /**
   * Seconds by which our clock is ahead of the timestamp of the last signed delivery that was refused. Null if none of
   * our secrets signed a refused delivery since the last accepted one.
   */
  age: number | null;
  /** Runs for a minute after each write. No count is written meanwhile, because anyone can send invalid deliveries. */
  pause?: NodeJS.Timeout | undefined;
}

const tallies = perProcess('refusals', () => new WeakMap<Database, Tally>());

/**
 * Counts a delivery whose signature was refused. A process writes at most one row and one log line per minute.
 *
 * @param age seconds since the delivery's timestamp, negative if it is in the future; null if none of our secrets
 * signed the delivery
 */
export function countRefusal(deps: RefusalDeps, age: number | null): void {
  const tally = tallies.get(deps.db) ?? { count: 0, age };
  tallies.set(deps.db, tally);
  tally.count += 1;
  // A signed delivery shows that the secret is right. A stranger's unsigned delivery after it does not change that.
  tally.age = age ?? tally.age;
  if (!tally.pause) reportRefusals(deps, tally);
}

/** Notes that a delivery was accepted, so that neither the secret nor the clock can be wrong. */
export function noteAccepted(db: Database): void {
  const tally = tallies.get(db);
  if (tally) tally.age = null;
}

const unreadable = perProcess('unreadable', () => new WeakMap<Database, number>());

/** Counts a signed body that is not an event. Each one is logged, because only Stripe can sign. */
export function countUnreadable({ db, log }: RefusalDeps): void {
  const count = (unreadable.get(db) ?? 0) + 1;
  unreadable.set(db, count);
  log.warn({ unreadable: count }, 'webhook refused a signed body that is not an event');
}

function reportRefusals(deps: RefusalDeps, tally: Tally): void {
  const { count } = tally;
  tally.count = 0;
  tally.pause = setTimeout(() => {
    tally.pause = undefined;
    if (tally.count > 0) reportRefusals(deps, tally);
  }, MINUTE_MS).unref();
  const clock = tally.age !== null && { clock_ahead_seconds: tally.age };
  deps.log.warn({ refused: count, ...clock }, `webhook refused deliveries: ${reasonOf(deps.env, tally)}`);
  waitUntil(
    addRefusals(deps.db, count).catch((error: unknown) => {
      tally.count += count; // The next write includes these refusals.
      deps.log.error({ code: pgErrorCode(error) }, 'refused deliveries could not be counted');
    }),
  );
}

function reasonOf(env: RefusalDeps['env'], { age }: Tally): string {
  if (lacksSecret(env)) return 'STRIPE_WEBHOOK_SECRET is not set';
  if (age === null) return 'their signatures are not valid';
  return 'their signatures are valid, but their times differ from the clock of this server';
}

/** Returns the cause of many refused deliveries, and how to fix it, as the second half of a sentence. */
export function refusalText(db: Database, env: Pick<Env, 'stripe'>): string {
  if (lacksSecret(env))
    return 'were refused because STRIPE_WEBHOOK_SECRET is not set: set it to the signing secret of the endpoint.';
  const age = tallies.get(db)?.age ?? null;
  if (age !== null)
    return `were refused because the clock of this server is ${inWords(Math.abs(age))} ${age > 0 ? 'ahead of' : 'behind'} Stripe’s: synchronize it, for example with NTP.`;
  return 'had no valid signature, and no delivery has been accepted since: compare STRIPE_WEBHOOK_SECRET with the signing secret of the endpoint.';
}

function inWords(seconds: number): string {
  return seconds < 600 ? `${seconds} seconds` : `${Math.round(seconds / 60)} minutes`;
}

/** Returns whether no webhook secret is configured, so that no signature can be valid. */
const lacksSecret = ({ stripe }: Pick<Env, 'stripe'>): boolean => stripe.webhookSecrets.length === 0;

// An accepted delivery restarts the count, which all processes share. Both `created_at` and `last_at` are times of the
// database's clock.
const accepted = sql`exists (
  select from stripe_events
  where created_at > webhook_refusals.last_at
    and stripe_created > webhook_refusals.last_at - make_interval(days => ${sql.raw(String(REDELIVERED_DAYS))}))`;

async function addRefusals(db: Database, count: number): Promise<void> {
  await db.execute(sql`
    insert into webhook_refusals (id, count, since, last_at) values (1, ${count}::int, now(), now())
    on conflict (id) do update set
      count = case when ${accepted} then 0 else least(webhook_refusals.count, 1000000000) end + excluded.count,
      since = case when ${accepted} then excluded.since else webhook_refusals.since end,
      last_at = excluded.last_at`);
}

/** SQL of the number of refused deliveries. Null if they are few or old, or if a delivery was accepted since then. */
export const manyRefusals = sql`(
  select count from webhook_refusals
  where count >= ${sql.raw(String(MANY_REFUSALS))}
    and last_at > now() - make_interval(days => ${sql.raw(String(ALERT_DAYS))}) and not ${accepted})`;
