import { and, eq, isNotNull, lt, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { oauthAccessTokens, oauthClientAssertions, oauthConsents, oauthRefreshTokens } from '@/db/schema';
import { clearUnusedClients } from './register-client';

/** Longer than a code lasts, from which a consent without tokens could still get some. */
const HOUR_MS = 3_600_000;

/**
 * Deletes expired tokens, grants without tokens, and clients that were never authorized. A used refresh token stays until
 * it expires, since its reuse reveals a theft.
 */
export async function clearOver(db: Database, now: Date): Promise<void> {
  for (const table of [oauthAccessTokens, oauthRefreshTokens, oauthClientAssertions]) {
    await db.delete(table).where(lt(table.expiresAt, now));
  }
  await clearEndedGrants(db, now);
  await clearUnusedClients(db, now);
}

async function clearEndedGrants(db: Database, now: Date): Promise<void> {
  const { referenceId, updatedAt } = oauthConsents;
  const hasNo = [oauthAccessTokens, oauthRefreshTokens].map((table) => {
    const own = db.select({ one: sql`1` }).from(table).where(eq(table.referenceId, referenceId));
    return sql`not exists ${own}`;
  });
  const isOld = lt(updatedAt, new Date(now.getTime() - HOUR_MS));
  await db.delete(oauthConsents).where(and(isNotNull(referenceId), isOld, ...hasNo));
}
