import { z } from 'zod';
import type { Alert } from '../health/check-health';

const instant = z.coerce.date();

/** A problem, and the delivery state of the latest message about its start or end. See table `alerts`. */
export const alertState = z.object({
  cause: z.string(),
  message: z.string(),
  started_at: instant,
  ended_at: instant.nullable(),
  pending: z.array(z.string()),
  attempts: z.int(),
  failure: z.string().nullable(),
  next_attempt_at: instant.nullable(),
  delivered_at: instant.nullable(),
});
export type AlertState = z.infer<typeof alertState>;

/** A problem that exists now. */
export interface Problem {
  cause: string;
  message: string;
}

/** Length of the lease on an alert. While a process holds the lease, no other process delivers the alert. */
export const LEASE_MS = 60_000;
const FIRST_RETRY_MS = 30_000;
const LONGEST_RETRY_MS = 3_600_000;

/**
 * Starts an alert for each new problem, and ends the alerts of problems that are over. A problem that lasts is reported
 * once, even if its message changes, for example because a number in it grows.
 *
 * @param channels the channels that must receive each start and end
 * @returns the alerts that have changed
 */
export function followProblems(
  known: AlertState[],
  problems: Problem[],
  channels: string[],
  now: Date,
): AlertState[] {
  const untold = { pending: channels, attempts: 0, failure: null, next_attempt_at: now, delivered_at: null };
  const started = problems
    .filter(({ cause }) => !known.some((alert) => alert.cause === cause && alert.ended_at === null))
    .map(({ cause, message }) => ({ cause, message, started_at: now, ended_at: null, ...untold }));
  const ended = known
    .filter(({ cause, ended_at }) => ended_at === null && !problems.some((one) => one.cause === cause))
    .map((alert) => ({ ...alert, ended_at: now, ...untold }));
  return [...started, ...ended];
}

/** Returns the due alert that started first, with a lease on it. Returns null if no alert is due. */
export function leaseAlert(known: AlertState[], now: Date): AlertState | null {
  const due = known.filter(
    ({ pending, next_attempt_at }) =>
      pending.length > 0 && (next_attempt_at === null || next_attempt_at <= now),
  );
  const [next] = due.sort((a, b) => a.started_at.getTime() - b.started_at.getTime());
  return next ? { ...next, next_attempt_at: new Date(now.getTime() + LEASE_MS) } : null;
}

/**
 * Returns the alert with the outcome of a delivery. Returns null if the problem ended or started again during the
 * delivery: the delivered message is then outdated, and the new one still has to be delivered.
 *
 * @param failures the error message of each failed channel, by the channel's name
 */
export function settleDelivery(
  known: AlertState[],
  leased: AlertState,
  failures: Map<string, string>,
  now: Date,
): AlertState | null {
  const current = known.find(({ cause }) => cause === leased.cause);
  if (!current || !isSameState(current, leased)) return null;
  const failed = failures.size > 0;
  const attempts = current.attempts + (failed ? 1 : 0);
  const wait = Math.min(FIRST_RETRY_MS * 2 ** (attempts - 1), LONGEST_RETRY_MS);
  return {
    ...current,
    pending: [...failures.keys()],
    attempts,
    failure: failed ? [...failures].map(([channel, error]) => `${channel}: ${error}`).join('; ') : null,
    next_attempt_at: failed ? new Date(now.getTime() + wait) : null,
    delivered_at: failures.size < leased.pending.length ? now : current.delivered_at,
  };
}

function isSameState(one: AlertState, other: AlertState): boolean {
  return (
    one.started_at.getTime() === other.started_at.getTime() &&
    one.ended_at?.getTime() === other.ended_at?.getTime()
  );
}

/** Codes of the reported problems. `database_down` also covers a database that is not migrated. */
export type Cause = Alert['code'] | 'database_down' | 'test';

/** Advice on what to do about each problem. docs/operations.md says more. */
const ADVICE: Record<Cause, string> = {
  database_down:
    'Start the database, or correct DATABASE_URL. If the log says that it is not migrated, run npm run db:migrate. Stripe delivers events again by itself.',
  database_read_only:
    'Connect DATABASE_URL to the primary server, or make this one writable. Stripe delivers failed events again.',
  disk_full:
    'Free space on the disk of the database. No restart is needed, and Stripe delivers failed events again.',
  disk_low: 'Free space on the disk of DATA_DIR, or move DATA_DIR to a larger disk.',
  reconciliation_overdue:
    'Start a reconciliation on the page Reconciliation. Check that the server ran at 03:40, or that the cron job calls it.',
  reconciliation_silent:
    'Nothing at first: the next run continues it. Check the log to see why the process ended.',
  reconciliation_failed:
    'Open the run on the page Reconciliation. It names the error. Usually Stripe returned an error or rejected the API key.',
  reconciliation_drift:
    'Check in Stripe’s dashboard that deliveries to the endpoint succeed, then compare the changes of the run.',
  inbox_failures:
    'Open the page Webhooks, filter it by failed events, and retry them once the cause is fixed.',
  inbox_other_mode: 'Use the webhook secret and the API keys of the same mode (test or live).',
  inbox_thin: 'Choose snapshot payloads for the endpoint in Stripe’s dashboard.',
  webhook_refuses:
    'Copy the endpoint’s signing secret from Stripe’s dashboard to STRIPE_WEBHOOK_SECRET, and restart.',
  time_zone_differs: 'Set APP_TIMEZONE to the time zone of the Stripe account, and restart.',
  registrations_refused: 'If the address is that of your proxy, add it to TRUSTED_PROXIES, and restart.',
  counts_wrong: 'Run npm run db:recount.',
  test: 'Nothing. This alert only tests that alerts reach you.',
};

/**
 * Returns what to do about a problem. The cause may be unknown, because a later version of the app may have stored it.
 */
export function adviceFor(cause: string): string {
  return Object.hasOwn(ADVICE, cause) ? ADVICE[cause as Cause] : 'See docs/operations.md.';
}

const OUTSIDE: string[] = ['database_down', 'database_read_only', 'disk_full', 'disk_low'] satisfies Cause[];

/** Returns true if alerts of this cause are stored in a file. The database may be unusable while the problem lasts. */
export const isStoredOutside = (cause: string): boolean => OUTSIDE.includes(cause);
