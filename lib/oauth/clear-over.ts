import { lt } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { oauthAccessTokens, oauthClientAssertions, oauthRefreshTokens } from '@/db/schema';
import { clearUnusedClients } from './register-client';

/** Removes tokens that are over, and clients that nobody let in. A used refresh token stays until its time: it tells of its theft. */
export async function clearOver(db: Database, now: Date): Promise<void> {
  for (const table of [oauthAccessTokens, oauthRefreshTokens, oauthClientAssertions]) {
    await db.delete(table).where(lt(table.expiresAt, now));
  }
  await clearUnusedClients(db, now);
}
