import { and, arrayContained, desc, eq, not, or, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { oauthAccessTokens, oauthConsents, oauthRefreshTokens, staffVerifications } from '@/db/schema';
import { hashOAuthToken } from './oauth-token';
import { MASK, OFFLINE } from './scopes';

const TOKENS = [oauthAccessTokens, oauthRefreshTokens];

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

/** Ends the tokens of one app and person. */
export async function endTokens(
  tx: Database,
  { clientId, userId }: { clientId: string; userId: string },
  which?: (table: (typeof TOKENS)[number]) => SQL | undefined,
): Promise<void> {
  for (const table of TOKENS) {
    await tx.delete(table).where(and(eq(table.clientId, clientId), eq(table.userId, userId), which?.(table)));
  }
}

/** Ends tokens of before that may do more than what was consented to now. */
export async function endBeyond(
  tx: Database,
  app: { clientId: string; userId: string },
  scopes: string[],
): Promise<void> {
  await endTokens(tx, app, (table) =>
    or(
      not(arrayContained(table.scopes, [...scopes, MASK, OFFLINE])),
      scopes.includes(MASK) ? sql`not (${MASK} = any (${table.scopes}))` : undefined,
    ),
  );
}

/**
 * After tokens were given: whether they are consented to no more, or may do more than is consented to now. What ended
 * or narrowed the consent meanwhile came before they were written; then they are ended here.
 */
export async function endUnconsented(db: Database, accessToken: string): Promise<boolean> {
  const { clientId, userId, token } = oauthAccessTokens;
  const ofBoth = and(eq(oauthConsents.clientId, clientId), eq(oauthConsents.userId, userId));
  const [given] = await db
    .select({ clientId, userId, scopes: oauthAccessTokens.scopes, consented: oauthConsents.scopes })
    .from(oauthAccessTokens)
    .leftJoin(oauthConsents, ofBoth)
    .where(eq(token, hashOAuthToken(accessToken)))
    .orderBy(desc(oauthConsents.updatedAt))
    .limit(1);
  if (!given) return true;
  const { consented, ...app } = given;
  if (consented && !isBeyond(given.scopes, consented)) return false;
  if (consented) await endBeyond(db, app, consented);
  else await endTokens(db, app);
  return true;
}

/** As `endBeyond` asks the database. */
function isBeyond(scopes: string[], consented: string[]): boolean {
  const allowed = [...consented, MASK, OFFLINE];
  return (
    scopes.some((scope) => !allowed.includes(scope)) || (consented.includes(MASK) && !scopes.includes(MASK))
  );
}

/** Ends codes that hold all of these texts. */
export async function endCodes(tx: Database, texts: string[]): Promise<void> {
  const holds = texts.map((text) => sql`strpos(${staffVerifications.value}, ${JSON.stringify(text)}) > 0`);
  const isCode = sql`${staffVerifications.value} like '{"type":"authorization_code"%'`;
  await tx.delete(staffVerifications).where(and(isCode, ...holds));
}
