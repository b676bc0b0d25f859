import { and, desc, eq, isNull, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import {
  OLD_MASK,
  oauthAccessTokens,
  oauthClients,
  oauthConsents,
  oauthRefreshTokens,
  staffUsers,
  staffVerifications,
} from '@/db/schema';
import { transact } from '@/db/transaction';
import { type Actor, auditNumber, recordAudit } from '../audit/audit-log';
import { AppError } from '../errors';
import { DOCUMENT_CLIENT } from './discover-client';
import { hashOAuthToken, type RefreshToken } from './grant';

const MOST = 200;

/** A client that a member of staff has let in, on one device; its id is that of the consent. */
export type ConnectedApp = Awaited<ReturnType<typeof listConnectedApps>>[number];

/** A consent as a member of staff has given it. */
interface NewConsent {
  clientId: string;
  referenceId: string;
  actor: Actor;
  scopes: string[];
  hidesPersonalData: boolean;
  now: Date;
}

/** The newest 200 apps: of one member of staff, or of all. */
export async function listConnectedApps(db: Database, userId: string | null) {
  // When it was last given tokens; null: never.
  const refreshed = sql<Date | null>`(select max(${oauthAccessTokens.createdAt}) from ${oauthAccessTokens}
    where ${oauthAccessTokens.clientId} = ${oauthConsents.clientId}
      and ${oauthAccessTokens.userId} = ${oauthConsents.userId}
      and ${oauthAccessTokens.referenceId} is not distinct from ${oauthConsents.referenceId})`.mapWith(
    oauthAccessTokens.createdAt,
  );
  const found = await db
    .select({
      id: oauthConsents.id,
      clientId: oauthConsents.clientId,
      name: oauthClients.name,
      discovery: oauthClients.clientDiscoveryId,
      scopes: oauthConsents.scopes,
      hidesPersonalData: hidesPersonalData(),
      since: oauthConsents.updatedAt,
      refreshed,
      staff: { id: staffUsers.id, name: staffUsers.name, email: staffUsers.email },
    })
    .from(oauthConsents)
    .innerJoin(oauthClients, eq(oauthClients.clientId, oauthConsents.clientId))
    .innerJoin(staffUsers, eq(staffUsers.id, oauthConsents.userId))
    .where(userId === null ? undefined : eq(oauthConsents.userId, userId))
    .orderBy(desc(oauthConsents.updatedAt), desc(oauthConsents.id))
    .limit(MOST);
  return found.map(({ discovery, name, ...app }) => ({
    ...app,
    name: name ?? app.clientId,
    host: discovery === DOCUMENT_CLIENT ? new URL(app.clientId).host : null,
  }));
}

/** Whether a consent hides personal data: by its property, or by the scope that did so before. */
function hidesPersonalData(): SQL<boolean> {
  return sql<boolean>`(${oauthConsents.hidesPersonalData} or ${OLD_MASK} = any (${oauthConsents.scopes}))`;
}

/**
 * Ends an app's access at once, on the device of this consent: its tokens, what was consented to, and codes that were
 * not used yet.
 *
 * @param of whose app it must be; null: anybody's
 * @throws AppError not_found
 */
export async function disconnectApp(
  db: Database,
  id: string,
  { of, actor }: { of: string | null; actor: Actor },
): Promise<void> {
  await transact(db, async (tx) => {
    const isMeant = and(eq(oauthConsents.id, id), of === null ? undefined : eq(oauthConsents.userId, of));
    const [consent] = await tx.delete(oauthConsents).where(isMeant).returning();
    if (!consent) throw new AppError('not_found', 'This app no longer exists.');
    await endGrant(tx, consent);
    const { clientId, userId, scopes } = consent;
    const before = { client_id: clientId, user_id: userId, scopes };
    await recordAudit(tx, { ...clientEntry(clientId, actor, 'disconnect'), before, after: null });
  });
}

/** Completes the consent that the provider has written, and keeps its client from now on. */
export async function recordConsent(
  db: Database,
  { clientId, referenceId, actor, scopes, hidesPersonalData, now }: NewConsent,
): Promise<void> {
  const after = { client_id: clientId, user_id: actor.id, scopes, hides_personal_data: hidesPersonalData };
  await transact(db, async (tx) => {
    await tx
      .update(oauthConsents)
      .set({ hidesPersonalData })
      .where(eq(oauthConsents.referenceId, referenceId));
    await tx
      .update(oauthClients)
      .set({ authorizedAt: now })
      .where(and(eq(oauthClients.clientId, clientId), isNull(oauthClients.authorizedAt)));
    await recordAudit(tx, { ...clientEntry(clientId, actor, 'connect'), before: null, after });
  });
}

/** The part that all audit entries of an OAuth client have in common. */
export function clientEntry(clientId: string, actor: Actor, verb: string) {
  return {
    actor,
    action: `oauth_client.${verb}`,
    entity: 'oauth_client' as const,
    entity_id: auditNumber(clientId),
  };
}

const TOKENS = [oauthAccessTokens, oauthRefreshTokens];

/** What a consent, its codes and its tokens have in common. */
interface Grant {
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
async function endGrant(tx: Database, { clientId, userId, referenceId }: Grant): Promise<void> {
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
