import { lt, lte, type SQL, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Database } from '@/db/database';
import { staffRateLimits, staffSessions, staffSignInFailures, staffVerifications } from '@/db/schema';

/** More than a sign-in leaves behind, so that however many there are, they become fewer. */
const MAX_CLEARED = 100;
/** Longer than any window that better-auth counts in. */
const COUNTED_MS = 3_600_000;

/** Removes what is over of sessions, counted sign-ins and one-time addresses: at most 100 rows of each. */
export async function clearExpired(db: Database, now: Date): Promise<void> {
  const over: [PgTable, SQL][] = [
    [staffSessions, lte(staffSessions.expiresAt, now)],
    [staffVerifications, lte(staffVerifications.expiresAt, now)],
    [staffSignInFailures, lte(staffSignInFailures.expires_at, now)],
    [staffRateLimits, lt(staffRateLimits.lastRequest, now.getTime() - COUNTED_MS)],
  ];
  for (const [table, isOver] of over) {
    await db.execute(sql`delete from ${table} where ctid = any (array(
      select ctid from ${table} where ${isOver} limit ${MAX_CLEARED} for update skip locked
    ))`);
  }
}
