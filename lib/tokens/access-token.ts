import { createHash } from 'node:crypto';
import { and, eq, isNull, or, sql } from 'drizzle-orm';
import { type Database, pickColumns, statement } from '@/db/database';
import { perProcess } from '@/db/per-process';
import { accessScope, accessTokens, OLD_MASK } from '@/db/schema';

export type Scope = (typeof accessScope.enumValues)[number];
export type GrantedScope = Exclude<Scope, typeof OLD_MASK>;
/** The scopes that a new token can have. */
export const SCOPES = accessScope.enumValues.filter((scope): scope is GrantedScope => scope !== OLD_MASK);

export type AccessToken = Pick<
  typeof accessTokens.$inferSelect,
  'id' | 'name' | 'scopes' | 'hides_personal_data' | 'staff_email' | 'last_used_at'
>;

const MINUTE_MS = 60_000;

/** Time of the last failed write of `last_used_at`. Writes then pause for a minute, because the disk may be full. */
const touches = perProcess('token-touches', () => ({ failedAt: 0 }));

const TOKEN = /^w5t_[A-Za-z0-9_-]{43}$/;

/** Generates a token: `w5t_` and 256 random bits in base64url. */
export function newTokenText(randomBytes: (size: number) => Buffer): string {
  return `w5t_${randomBytes(32).toString('base64url')}`;
}

/** Returns whether a token hides personal data, either by its column or by the former scope `OLD_MASK`. */
export function hidesPersonalData({
  hides_personal_data,
  scopes,
}: Pick<AccessToken, 'hides_personal_data' | 'scopes'>): boolean {
  return hides_personal_data || scopes.includes(OLD_MASK);
}

/** Returns the hash under which a token is stored. 256 random bits need no salt and no slow hash. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/**
 * Verifies a token with one indexed database query, without a cache. A revocation therefore takes effect immediately.
 *
 * @returns null if the token is unknown, expired or revoked
 * @throws the database's error if it does not respond; the caller must then respond with 503, never 401
 */
export async function verifyAccessToken(db: Database, token: string, now: Date): Promise<AccessToken | null> {
  if (!TOKEN.test(token)) return null;
  const [row] = await findToken(db, { hash: hashToken(token) });
  if (!row || (row.expires_at && row.expires_at <= now)) return null;
  const { expires_at: _, ...found } = row;
  return found;
}

const findToken = statement(['hash'], (db, { hash }) =>
  db
    .select({
      ...pickColumns(accessTokens, 'id', 'name', 'scopes', 'hides_personal_data', 'staff_email'),
      ...pickColumns(accessTokens, 'expires_at', 'last_used_at'),
    })
    .from(accessTokens)
    .where(and(eq(accessTokens.token_hash, hash), isNull(accessTokens.revoked_at))),
);

/** Stores the time of a token's last use, at most once a minute. Also pauses for a minute after a failed write. */
export async function touchAccessToken(db: Database, { id, last_used_at }: AccessToken, now: Date) {
  if (last_used_at && now.getTime() - last_used_at.getTime() < MINUTE_MS) return;
  if (Math.abs(now.getTime() - touches.failedAt) < MINUTE_MS) return;
  const stale = sql`${accessTokens.last_used_at} < ${now.toISOString()}::timestamptz - interval '1 minute'`;
  try {
    await db
      .update(accessTokens)
      .set({ last_used_at: now })
      .where(and(eq(accessTokens.id, id), or(isNull(accessTokens.last_used_at), stale)));
  } catch (error) {
    touches.failedAt = now.getTime();
    throw error;
  }
}
