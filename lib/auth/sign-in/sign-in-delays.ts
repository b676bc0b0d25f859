/** What is held of failed sign-ins of one account from one origin. */
export interface SignInCounter {
  failures: number;
  /** Until then the next try is refused without a look at its password. */
  wait_until: Date;
  /** From then on none of it counts. */
  expires_at: Date;
}

/** @param before undefined if nothing is counted yet */
export type SignInRule = (before: SignInCounter | undefined, now: Date) => SignInCounter;

/** Failures of an origin before it has to wait at all. */
export const FREE_FAILURES = 5;
/** Failures of an account an hour over all devices that it does not know. */
export const MAX_STRANGE_FAILURES = 100;
const FIRST_DELAY_MS = 30_000;
const HOUR_MS = 3_600_000;

/** One more failure of an address or a known device: 30 seconds after the fifth, doubled by each, an hour at most. */
export function countFailure(before: SignInCounter | undefined, now: Date): SignInCounter {
  const failures = liveFailures(before, now) + 1;
  const delay = Math.min(FIRST_DELAY_MS * 2 ** (failures - FREE_FAILURES), HOUR_MS);
  return {
    failures,
    wait_until: failures < FREE_FAILURES ? now : later(now, delay),
    expires_at: later(now, 24 * HOUR_MS),
  };
}

/** Counts failures in the hour that begins with the first of them; after `max` no more are tried in it. */
function upTo(max: number): SignInRule {
  return (before, now) => {
    const failures = liveFailures(before, now) + 1;
    const expires_at = failures > 1 && before ? before.expires_at : later(now, HOUR_MS);
    return { failures, wait_until: failures < max ? now : expires_at, expires_at };
  };
}

/** One more failure of all unknown devices together. */
export const countStrangeFailure = upTo(MAX_STRANGE_FAILURES);

/** One more failure of the wider networks of an IPv6 address, in the order of `widerNetworks`. */
export const countNetworkFailure = [upTo(10), upTo(20)];

function liveFailures(before: SignInCounter | undefined, now: Date): number {
  return before && before.expires_at > now ? before.failures : 0;
}

function later(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}
