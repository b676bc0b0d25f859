import { createHash } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { staffRateLimits } from '@/db/schema';

/** Failed sign-ins of one address, known or not, before it has to wait. */
export const MAX_FAILED_SIGN_INS = 10;
const WINDOW_MS = 15 * 60_000;

/**
 * Counts a sign-in before its password is looked at, so that parallel guesses cannot slip through.
 * The window is fixed: tries while it lasts do not make it longer.
 *
 * @returns false once the address has used up its tries
 */
export async function countSignIn(
  db: Database,
  email: string,
  world: { now(): Date; newId(): string },
): Promise<boolean> {
  const now = world.now().getTime();
  const over = sql`${staffRateLimits.lastRequest} <= ${now}`;
  const [row] = await db
    .insert(staffRateLimits)
    // The window's end, not its start: better-auth removes rows of this table by their age.
    .values({ id: world.newId(), key: keyOf(email), count: 1, lastRequest: now + WINDOW_MS })
    .onConflictDoUpdate({
      target: staffRateLimits.key,
      set: {
        count: sql`case when ${over} then 1 else ${staffRateLimits.count} + 1 end`,
        lastRequest: sql`case when ${over} then ${now + WINDOW_MS} else ${staffRateLimits.lastRequest} end`,
      },
    })
    .returning({ count: staffRateLimits.count });
  return row !== undefined && row.count <= MAX_FAILED_SIGN_INS;
}

/** A sign-in that succeeded takes the failed ones before it away. */
export async function forgetSignIns(db: Database, email: string): Promise<void> {
  await db.delete(staffRateLimits).where(eq(staffRateLimits.key, keyOf(email)));
}

/** Hashed: what people type into the field is not always an address. */
function keyOf(email: string): string {
  return `account|${createHash('sha256').update(email.trim().toLowerCase()).digest('hex')}`;
}
