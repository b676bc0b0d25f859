import { and, desc, eq, isNull } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { accessTokens } from '@/db/schema';
import { AppError } from '../errors';
import { hashToken, newTokenText, type Scope } from './access-token';

export interface NewAccessToken {
  name: string;
  scopes: Scope[];
  /** Null: valid until revoked. */
  expires_at: Date | null;
  created_by: string;
}

/** @returns the token's text, which is shown once and kept nowhere */
export async function createAccessToken(
  db: Database,
  input: NewAccessToken,
  randomBytes: (size: number) => Buffer,
): Promise<{ id: number; token: string }> {
  const token = newTokenText(randomBytes);
  const [row] = await db
    .insert(accessTokens)
    .values({ ...input, token_hash: hashToken(token) })
    .returning({ id: accessTokens.id });
  if (!row) throw new Error('insert into access_tokens returned no row');
  return { id: row.id, token };
}

/** All tokens, newest first, without their hashes. */
export async function listAccessTokens(db: Database) {
  return db
    .select({
      id: accessTokens.id,
      name: accessTokens.name,
      scopes: accessTokens.scopes,
      expires_at: accessTokens.expires_at,
      last_used_at: accessTokens.last_used_at,
      revoked_at: accessTokens.revoked_at,
      created_by: accessTokens.created_by,
      created_at: accessTokens.created_at,
    })
    .from(accessTokens)
    .orderBy(desc(accessTokens.id));
}

/**
 * Ends a token's validity at once.
 *
 * @throws AppError not_found for an unknown or already revoked one
 */
export async function revokeAccessToken(db: Database, id: number, now: Date): Promise<void> {
  const revoked = await db
    .update(accessTokens)
    .set({ revoked_at: now })
    .where(and(eq(accessTokens.id, id), isNull(accessTokens.revoked_at)))
    .returning({ id: accessTokens.id });
  if (revoked.length === 0) throw new AppError('not_found', `There is no valid access token ${id}.`);
}
