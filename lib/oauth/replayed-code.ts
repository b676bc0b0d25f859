import { and, eq, like, lt } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { oauthAccessTokens, oauthRefreshTokens, staffVerifications } from '@/db/schema';
import type { Runtime } from '../runtime';
import { hashOAuthToken } from './oauth-token';

const NOTE = 'replayed:';
/** As long as a code lasts. */
const KEPT_MS = 600_000;

/**
 * Notes that a code was used again, and ends what it gave. The provider does the latter too, but before the first
 * exchange has written its tokens there is nothing to end yet: the note tells that one, see `wasReplayed`.
 */
export async function endReplayed(
  { db, now, newId }: Pick<Runtime, 'db' | 'now' | 'newId'>,
  code: string,
): Promise<void> {
  const expiresAt = new Date(now().getTime() + KEPT_MS);
  // Anybody can make up codes, so expired notes are removed first.
  const isNote = like(staffVerifications.identifier, `${NOTE}%`);
  await db.delete(staffVerifications).where(and(isNote, lt(staffVerifications.expiresAt, now())));
  await db.insert(staffVerifications).values({ id: newId(), identifier: noteOf(code), value: '', expiresAt });
  await endTokens(db, code);
}

/** After an exchange that went well: whether the code was used again meanwhile. Then what it gave is ended. */
export async function wasReplayed(db: Database, code: string): Promise<boolean> {
  if ((await db.$count(staffVerifications, eq(staffVerifications.identifier, noteOf(code)))) === 0)
    return false;
  await endTokens(db, code);
  return true;
}

async function endTokens(db: Database, code: string): Promise<void> {
  for (const table of [oauthAccessTokens, oauthRefreshTokens]) {
    await db.delete(table).where(eq(table.authorizationCodeId, hashOAuthToken(code)));
  }
}

function noteOf(code: string): string {
  return `${NOTE}${hashOAuthToken(code)}`;
}
