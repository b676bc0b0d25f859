import { and, eq, inArray, sql } from 'drizzle-orm';
import { type Database, lockKey } from '@/db/database';
import { staffSignInFailures as failures } from '@/db/schema';
import { transact } from '@/db/transaction';
import { widerNetworks } from '../../networks';
import { accountKey } from './device-cookie';
import { countFailure, countNetworkFailure, countStrangeFailure, type SignInRule } from './sign-in-delays';

/** The origin of a sign-in: a device that the account knows, else an address. */
export interface SignInOrigin {
  deviceId: string | null;
  /** As `countedAddress` gives it. */
  address: string;
}

const STRANGERS = 'strangers';

/**
 * Counts a sign-in as failed before its password is looked at, so that parallel guesses cannot slip
 * through. Strangers cannot shut out a device that the account knows: it is counted by itself.
 *
 * @param email as it was typed, known or not
 * @returns null where it may be tried, else when the next try may be; a refused one is not counted
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
      await lockKey(tx, `staff sign-in ${account}`);
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
  );
}

/** When the next try may be, without counting one; null if it may be now. */
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

/** From now to then, in whole seconds. */
export function secondsUntil(until: Date, now: Date): number {
  return Math.ceil((until.getTime() - now.getTime()) / 1000);
}

/**
 * A sign-in that succeeded: it was no failure, and ends those of its device or address.
 *
 * @param counted how often it was counted: with a second factor once for the password and once for the code
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

/** Resets all counts of the account. */
export async function forgetSignIns(db: Database, email: string): Promise<void> {
  await db.delete(failures).where(eq(failures.account, accountKey(email)));
}

/** The counters of an origin: its own one first, then those that it shares with others. */
function rulesOf({ deviceId, address }: SignInOrigin): Map<string, SignInRule> {
  if (deviceId !== null) return new Map([[`device ${deviceId}`, countFailure]]);
  return new Map<string, SignInRule>([
    [`address ${address}`, countFailure],
    ...widerNetworks(address).map(
      (network, i) => [`network ${network}`, countNetworkFailure[i] ?? countFailure] as const,
    ),
    [STRANGERS, countStrangeFailure],
  ]);
}
