/** A reported problem, and the delivery state of its latest message: its start or its end. See the table `alerts`. */
export interface AlertState {
  cause: string;
  message: string;
  started_at: Date;
  ended_at: Date | null;
  pending: string[];
  attempts: number;
  failure: string | null;
  next_attempt_at: Date | null;
  delivered_at: Date | null;
}

/** A current problem. */
export interface Problem {
  cause: string;
  message: string;
}

/** Length of the lease on an alert. While a process holds the lease, no other process delivers the alert. */
export const LEASE_MS = 60_000;
const FIRST_RETRY_MS = 30_000;
const LONGEST_RETRY_MS = 3_600_000;

/**
 * Starts an alert for each new problem, and ends the alerts whose problem is over. A problem that lasts is reported
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

/** Leases the next alert that has to be delivered. Returns null if no alert is due. */
export function leaseAlert(known: AlertState[], now: Date): AlertState | null {
  const due = known.filter(
    ({ pending, next_attempt_at }) =>
      pending.length > 0 && (next_attempt_at === null || next_attempt_at <= now),
  );
  const [next] = due.sort((a, b) => a.started_at.getTime() - b.started_at.getTime());
  return next ? { ...next, next_attempt_at: new Date(now.getTime() + LEASE_MS) } : null;
}

/**
 * Notes the outcome of a delivery. Returns null if the alert has changed since, because its new state is not delivered.
 *
 * @param failures the error of each channel that failed, by channel
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
