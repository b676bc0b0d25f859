import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { oauthAccessTokens, oauthConsents, oauthRefreshTokens, staffVerifications } from '@/db/schema';
import type { RefreshToken } from './grant';
import { hashOAuthToken } from './oauth-token';

const TOKENS = [oauthAccessTokens, oauthRefreshTokens];

/** What a consent, its codes and its tokens have in common. */
export interface Grant {
  clientId: string;
  userId: string;
  /** Null for all grants from before each had a consent of its own. */
  referenceId: string | null;
}

/**
 * Ends what apps may do in a person's name: tokens, what was consented to, and codes that were not used yet.
 *
 * @returns how many apps there were
 */
export async function endAppsOf(tx: Database, userId: string): Promise<number> {
  for (const table of TOKENS) await tx.delete(table).where(eq(table.userId, userId));
  await endCodes(tx, [userId]);
  const ended = await tx
    .delete(oauthConsents)
    .where(eq(oauthConsents.userId, userId))
    .returning({ id: oauthConsents.id });
  return ended.length;
}

/** Ends the codes and tokens of a grant, and of no other. */
export async function endGrant(tx: Database, { clientId, userId, referenceId }: Grant): Promise<void> {
  for (const table of TOKENS) {
    const isOf = referenceId === null ? isNull(table.referenceId) : eq(table.referenceId, referenceId);
    await tx.delete(table).where(and(eq(table.clientId, clientId), eq(table.userId, userId), isOf));
  }
  await endCodes(tx, [userId, clientId, ...(referenceId === null ? [] : [referenceId])]);
}

/** Ends the grant that a refresh token came from, with its consent. */
export async function endGrantOf(tx: Database, refreshToken: RefreshToken): Promise<void> {
  const { id, referenceId, authorizationCodeId: code } = refreshToken;
  if (referenceId !== null) {
    await tx.delete(oauthConsents).where(eq(oauthConsents.referenceId, referenceId));
    return endGrant(tx, refreshToken);
  }
  // Grants from before share a consent; the tokens of each have their code in common.
  for (const table of TOKENS) {
    if (code !== null) await tx.delete(table).where(eq(table.authorizationCodeId, code));
  }
  await tx.delete(oauthRefreshTokens).where(eq(oauthRefreshTokens.id, id));
}

/**
 * Whether new tokens have no consent any more. A disconnect meanwhile could not see them, because they were not written
 * yet; then they are ended here.
 */
export async function endUnconsented(db: Database, accessToken: string): Promise<boolean> {
  const { clientId, userId, referenceId, token } = oauthAccessTokens;
  const [given] = await db
    .select({ clientId, userId, referenceId })
    .from(oauthAccessTokens)
    .where(eq(token, hashOAuthToken(accessToken)));
  if (!given) return true;
  if ((await db.$count(oauthConsents, isConsentOf(given))) > 0) return false;
  await endGrant(db, given);
  return true;
}

function isConsentOf({ clientId, userId, referenceId }: Grant) {
  const { clientId: client, userId: user, referenceId: reference } = oauthConsents;
  const isOf = referenceId === null ? isNull(reference) : eq(reference, referenceId);
  return and(eq(client, clientId), eq(user, userId), isOf);
}

/** Ends codes that hold all of these texts. */
async function endCodes(tx: Database, texts: string[]): Promise<void> {
  const holds = texts.map((text) => sql`strpos(${staffVerifications.value}, ${JSON.stringify(text)}) > 0`);
  const isCode = sql`${staffVerifications.value} like '{"type":"authorization_code"%'`;
  await tx.delete(staffVerifications).where(and(isCode, ...holds));
}
