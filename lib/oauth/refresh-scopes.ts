import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { oauthRefreshTokens } from '@/db/schema';
import { hashOAuthToken } from './oauth-token';
import { MASK, OFFLINE, toProviderScopes } from './scopes';

/**
 * The scopes that a refresh may ask for: fewer of those granted, but never without what was taken away.
 *
 * @returns undefined for all that were granted; null where more are asked for
 */
export async function refreshScopes(
  db: Database,
  refreshToken: string,
  scope: string | null,
): Promise<string | undefined | null> {
  if (scope === null || scope.trim() === '') return undefined;
  const [row] = await db
    .select({ granted: oauthRefreshTokens.scopes })
    .from(oauthRefreshTokens)
    .where(eq(oauthRefreshTokens.token, hashOAuthToken(refreshToken)));
  if (!row) return undefined; // the provider says that there is no such token
  const asked = toProviderScopes(scope);
  if (asked.some((one) => one !== OFFLINE && !row.granted.includes(one))) return null;
  const masked = row.granted.includes(MASK) && !asked.includes(MASK) ? [MASK] : [];
  return [...asked, ...masked].join(' ');
}
