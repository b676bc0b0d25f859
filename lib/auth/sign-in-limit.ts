import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { staffSignInFailures as failures } from '@/db/schema';
import { transact } from '@/db/transaction';
import { widerNetworks } from '../networks';
import { AUTH_PATH, COOKIE_PREFIX } from './sign-in-paths';

/** The origin of a sign-in: a known device of the account, or the client's IP address. */
export interface SignInOrigin {
  deviceId: string | null;
  /** The client's IP address as `countedAddress` returns it. */
  address: string;
}

const UNKNOWN_DEVICES = 'strangers';

/**
 * Counts a sign-in as failed before its password or code is checked, so that parallel guesses cannot exceed the limit.
 * Strangers cannot lock out a known device of the account, because each known device has its own counter.
 *
 * @param email the email address as typed, even if no account has it
 * @returns null if the attempt is allowed, otherwise the time of the next allowed attempt. A refused attempt is not
 *   counted.
 */
export async function countSignIn(
  db: Database,
  email: string,
  origin: SignInOrigin,
  now: Date,
): Promise<Date | null> {
  const account = accountKey(email);
  const rules = rulesOf(origin);
  return transact(
    db,
    async (tx) => {
      const held = await findCounters(tx, account, [...rules.keys()]);
      const until = latestWait(held, now);
      if (until) return until;
      const counted = [...rules].map(([name, rule]) => {
        const before = held.find((row) => row.origin === name);
        return { account, origin: name, ...rule(before, now) };
      });
      await tx
        .insert(failures)
        .values(counted)
        .onConflictDoUpdate({
          target: [failures.account, failures.origin],
          set: {
            failures: sql`excluded.failures`,
            wait_until: sql`excluded.wait_until`,
            expires_at: sql`excluded.expires_at`,
          },
        });
      return null;
    },
    `sign-in ${account}`,
    `staff sign-in ${account}`,
  );
}

/** Returns the time of the next allowed attempt, or null if one is allowed now. Does not count an attempt. */
export async function findSignInWait(
  db: Database,
  email: string,
  origin: SignInOrigin,
  now: Date,
): Promise<Date | null> {
  return latestWait(await findCounters(db, accountKey(email), [...rulesOf(origin).keys()]), now);
}

function findCounters(db: Database, account: string, origins: string[]) {
  return db
    .select()
    .from(failures)
    .where(and(eq(failures.account, account), inArray(failures.origin, origins)));
}

function latestWait(held: { wait_until: Date }[], now: Date): Date | null {
  const waits = held.map(({ wait_until }) => wait_until).filter((until) => until > now);
  return waits.length > 0 ? new Date(Math.max(...waits.map(Number))) : null;
}

/** Returns the time between two instants in whole seconds, rounded up. */
export function secondsUntil(until: Date, now: Date): number {
  return Math.ceil((until.getTime() - now.getTime()) / 1000);
}

/**
 * Removes a successful sign-in from the failure counters. Resets the counter of its device or IP address, and subtracts
 * the sign-in from the counters that the IP address shares with others.
 *
 * @param counted how often the sign-in was counted: twice with a second factor, for the password and for the code
 */
export async function forgiveSignIn(
  db: Database,
  email: string,
  origin: SignInOrigin,
  now: Date,
  counted = 1,
): Promise<void> {
  const ofAccount = eq(failures.account, accountKey(email));
  const [own = '', ...shared] = rulesOf(origin).keys();
  await db.delete(failures).where(and(ofAccount, eq(failures.origin, own)));
  if (shared.length === 0) return;
  await db
    .update(failures)
    .set({ failures: sql`greatest(${failures.failures} - ${counted}::int, 0)`, wait_until: now })
    .where(and(ofAccount, inArray(failures.origin, shared)));
}

/** Deletes all counters of failed sign-ins to an account. */
export async function forgetSignIns(db: Database, email: string): Promise<void> {
  await db.delete(failures).where(eq(failures.account, accountKey(email)));
}

/** Returns the names and rules of an origin's counters: first its own counter, then those it shares with others. */
function rulesOf({ deviceId, address }: SignInOrigin): Map<string, SignInRule> {
  if (deviceId !== null) return new Map([[`device ${deviceId}`, countFailure]]);
  return new Map<string, SignInRule>([
    [`address ${address}`, countFailure],
    ...widerNetworks(address).map(
      (network, i) => [`network ${network}`, countNetworkFailure[i] ?? countFailure] as const,
    ),
    [UNKNOWN_DEVICES, countUnknownFailure],
  ]);
}

/** Returns the SHA-256 of an email address as the key of its counters. The address need not have an account. */
export function accountKey(email: string): string {
  return createHash('sha256').update(email.trim().toLowerCase()).digest('hex');
}

/** The counter of failed sign-ins to one account from one origin. */
export type SignInCounter = Pick<typeof failures.$inferSelect, 'failures' | 'wait_until' | 'expires_at'>;

/** Counts one more failure. @param before the counter so far; undefined if no failure has been counted */
type SignInRule = (before: SignInCounter | undefined, now: Date) => SignInCounter;

/** The number of failures at which an origin must start to wait. */
const FREE_FAILURES = 5;
/** Maximum number of failures per account and hour, summed over all unknown devices. */
const MAX_UNKNOWN_FAILURES = 100;
const FIRST_DELAY_MS = 30_000;
const HOUR_MS = 3_600_000;

/**
 * Counts a failure of an IP address or a known device. From the fifth failure on, the next attempt must wait. The
 * wait is 30 seconds at first and doubles each time, up to an hour.
 */
export function countFailure(before: SignInCounter | undefined, now: Date): SignInCounter {
  const failures = liveFailures(before, now) + 1;
  const delay = Math.min(FIRST_DELAY_MS * 2 ** (failures - FREE_FAILURES), HOUR_MS);
  return {
    failures,
    wait_until: failures < FREE_FAILURES ? now : later(now, delay),
    expires_at: later(now, 24 * HOUR_MS),
  };
}

/** Returns a rule that allows `max` failures in the hour after the first failure. */
function upTo(max: number): SignInRule {
  return (before, now) => {
    const failures = liveFailures(before, now) + 1;
    const expires_at = failures > 1 && before ? before.expires_at : later(now, HOUR_MS);
    return { failures, wait_until: failures < max ? now : expires_at, expires_at };
  };
}

/** Counts a failure in the counter that all unknown devices of an account share. */
export const countUnknownFailure = upTo(MAX_UNKNOWN_FAILURES);

/** The rules for the wider networks of an IPv6 address, in the order of `widerNetworks`. */
const countNetworkFailure = [upTo(10), upTo(20)];

function liveFailures(before: SignInCounter | undefined, now: Date): number {
  return before && before.expires_at > now ? before.failures : 0;
}

function later(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}

const HALF_A_YEAR_S = 180 * 86_400;
const FORM = /^([\w-]{1,64})\.(\d{1,12})\.([\w-]{43})$/;

/** An account with a known device, and the values that the signature of the device's cookie depends on. */
export interface DeviceOwner {
  email: string;
  /** The stored hash. A new password changes it, which makes all devices unknown. */
  passwordHash: string;
  secret: string;
}

/**
 * Returns the name of an account's device cookie. Each account has its own cookie, because several accounts may use one
 * browser.
 */
export function deviceCookieName(email: string, isSecure: boolean): string {
  return `${isSecure ? '__Secure-' : ''}${COOKIE_PREFIX}.device.${accountKey(email).slice(0, 16)}`;
}

/** Returns the cookie that makes a device known for half a year. Browsers send it only to paths below `AUTH_PATH`. */
export function deviceCookie(
  id: string,
  owner: DeviceOwner,
  world: { now: Date; isSecure: boolean },
): string {
  const end = Math.floor(world.now.getTime() / 1000) + HALF_A_YEAR_S;
  const value = `${id}.${end}.${sign(id, end, owner)}`;
  const flags = `Max-Age=${HALF_A_YEAR_S}; Path=${AUTH_PATH}; HttpOnly; SameSite=Strict`;
  return `${deviceCookieName(owner.email, world.isSecure)}=${value}; ${flags}${world.isSecure ? '; Secure' : ''}`;
}

/**
 * Reads the device id from a device cookie. Returns null for a cookie that is expired, forged or older than the
 * password.
 */
export function readDevice(value: string, owner: DeviceOwner, now: Date): string | null {
  const [, id = '', end = '', signature = ''] = FORM.exec(value) ?? [];
  if (id === '' || Number(end) * 1000 <= now.getTime()) return null;
  const expected = sign(id, Number(end), owner);
  return timingSafeEqual(Buffer.from(signature), Buffer.from(expected)) ? id : null;
}

function sign(id: string, end: number, { email, passwordHash, secret }: DeviceOwner): string {
  const text = ['device', accountKey(email), id, end, passwordHash].join('\n');
  return createHmac('sha256', secret).update(text).digest('base64url');
}
