import { and, desc, eq, isNull, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
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
import { type Actor, auditNumber, recordAudit, staffActor } from '../audit/audit-log';
import { AppError } from '../errors';
import { DOCUMENT_CLIENT } from './discover-client';
import { hashOAuthToken, type RefreshToken } from './grant';

const MAX_APPS = 200;

/** A client that a member of staff has authorized on one device. The app's id is the id of the consent. */
export type ConnectedApp = Awaited<ReturnType<typeof listConnectedApps>>[number];

/** A consent that a member of staff has just given. */
interface NewConsent {
  clientId: string;
  referenceId: string;
  actor: Actor;
  scopes: string[];
  hidesPersonalData: boolean;
  now: Date;
}

/** Lists the newest 200 apps of one member of staff, or of all staff if `userId` is null. */
export async function listConnectedApps(db: Database, userId: string | null) {
  // Time when the app's newest stored access token was issued. Null if none is stored, because expired tokens are
  // deleted.
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
    .limit(MAX_APPS);
  return found.map(({ discovery, name, ...app }) => ({
    ...app,
    name: name ?? app.clientId,
    host: discovery === DOCUMENT_CLIENT ? new URL(app.clientId).host : null,
  }));
}

/** Returns whether a consent hides personal data, either by its column or by the former scope `OLD_MASK`. */
function hidesPersonalData(): SQL<boolean> {
  return sql<boolean>`(${oauthConsents.hidesPersonalData} or ${OLD_MASK} = any (${oauthConsents.scopes}))`;
}

/**
 * Ends an app's access on one device immediately: deletes this consent, its tokens and its unused codes.
 *
 * @param of id of the member of staff who must have given the consent; null allows any member
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

/**
 * Stores whether the consent that the provider has just written hides personal data, and adds an audit entry. Also
 * marks the client as authorized, so that it is not deleted.
 */
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

/** Returns the fields that all audit entries about an OAuth client share. */
export function clientEntry(clientId: string, actor: Actor, verb: string) {
  return {
    actor,
    action: `oauth_client.${verb}`,
    entity: 'oauth_client' as const,
    entity_id: auditNumber(clientId),
  };
}

const TOKENS = [oauthAccessTokens, oauthRefreshTokens];

/** The key of a grant, which its consent, codes and tokens share. */
interface Grant {
  clientId: string;
  userId: string;
  /** Reference of the grant. Null for older grants. All older grants of one client and person share one consent. */
  referenceId: string | null;
}

/**
 * Ends the access of all apps of a member of staff: deletes their tokens, consents and unused codes.
 *
 * @returns the number of deleted consents
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

/**
 * Deletes the codes and tokens of one grant. An older grant has no codes, because a code is valid for ten minutes only.
 */
async function endGrant(tx: Database, grant: Grant): Promise<void> {
  const { clientId, userId, referenceId } = grant;
  for (const table of TOKENS) {
    await tx.delete(table).where(isOf(table, grant));
  }
  if (referenceId !== null) await endCodes(tx, [userId, clientId, referenceId]);
}

/**
 * Ends the grant of a refresh token: deletes its consent, codes and tokens, and adds an audit entry. For an older grant,
 * which has no reference, deletes only the tokens. The entry names the member of staff who had connected the app, because
 * an app has no entry of its own kind.
 *
 * @param reason `revoked` if the app asked for it; `reused` if the token was used again, so that it may be stolen
 */
export async function endGrantOf(
  db: Database,
  refreshToken: RefreshToken,
  reason: 'revoked' | 'reused',
): Promise<void> {
  await transact(db, async (tx) => {
    if ((await deleteGrant(tx, refreshToken)) === 0) return; // Another request ended the grant, and added the entry.
    const { clientId, userId, scopes } = refreshToken;
    const { id, email } = staffUsers;
    const [staff] = await tx.select({ id, email }).from(staffUsers).where(eq(id, userId));
    if (!staff) return; // Removing a member of staff ends all their grants, and adds its own entry.
    const before = { client_id: clientId, user_id: userId, scopes };
    await recordAudit(tx, {
      ...clientEntry(clientId, staffActor(staff), 'disconnect'),
      before,
      after: { reason },
    });
  });
}

/** @returns the number of deleted consents, or for an older grant of deleted refresh tokens */
async function deleteGrant(tx: Database, refreshToken: RefreshToken): Promise<number> {
  const { id, referenceId, authorizationCodeId: code } = refreshToken;
  if (referenceId !== null) {
    const isOfGrant = eq(oauthConsents.referenceId, referenceId);
    const ended = await tx.delete(oauthConsents).where(isOfGrant).returning({ id: oauthConsents.id });
    await endGrant(tx, refreshToken);
    return ended.length;
  }
  // Older grants share a consent, so do not delete it. The tokens of one older grant have the same authorization code.
  const ended = await tx
    .delete(oauthRefreshTokens)
    .where(eq(oauthRefreshTokens.id, id))
    .returning({ id: oauthRefreshTokens.id });
  for (const table of TOKENS) {
    if (code !== null) await tx.delete(table).where(eq(table.authorizationCodeId, code));
  }
  return ended.length;
}

/**
 * Deletes new tokens if their consent has been removed. A concurrent `disconnectApp` could not delete these tokens,
 * because they were not written yet.
 *
 * @returns true if the tokens are no longer valid
 */
export async function endUnconsented(db: Database, accessToken: string): Promise<boolean> {
  const { clientId, userId, referenceId, token } = oauthAccessTokens;
  const [given] = await db
    .select({ clientId, userId, referenceId })
    .from(oauthAccessTokens)
    .where(eq(token, hashOAuthToken(accessToken)));
  if (!given) return true;
  if ((await db.$count(oauthConsents, isOf(oauthConsents, given))) > 0) return false;
  await endGrant(db, given);
  return true;
}

function isOf(table: Record<keyof Grant, PgColumn>, { clientId, userId, referenceId }: Grant) {
  const ofReference = referenceId === null ? isNull(table.referenceId) : eq(table.referenceId, referenceId);
  return and(eq(table.clientId, clientId), eq(table.userId, userId), ofReference);
}

/** Deletes the authorization codes whose stored data contains all of these texts. */
async function endCodes(tx: Database, texts: string[]): Promise<void> {
  const holds = texts.map((text) => sql`strpos(${staffVerifications.value}, ${JSON.stringify(text)}) > 0`);
  const isCode = sql`${staffVerifications.value} like '{"type":"authorization_code"%'`;
  await tx.delete(staffVerifications).where(and(isCode, ...holds));
}
