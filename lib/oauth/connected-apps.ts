import { and, desc, eq, isNull, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { OLD_MASK, oauthAccessTokens, oauthClients, oauthConsents, staffUsers } from '@/db/schema';
import { transact } from '@/db/transaction';
import { type Actor, auditNumber, recordAudit } from '../audit/audit-log';
import { AppError } from '../errors';
import { DOCUMENT_CLIENT } from './discover-client';
import { endGrant } from './end-access';

const MOST = 200;

/** A client that a member of staff has let in, on one device. */
export interface ConnectedApp {
  /** Of the consent. */
  id: string;
  clientId: string;
  name: string;
  host: string | null;
  scopes: string[];
  hidesPersonalData: boolean;
  since: Date;
  /** When it was last given tokens; null: never. */
  refreshed: Date | null;
  staff: { id: string; name: string; email: string };
}

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
export async function listConnectedApps(db: Database, userId: string | null): Promise<ConnectedApp[]> {
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
export function hidesPersonalData(): SQL<boolean> {
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
    await recordAudit(tx, { ...entryOf(clientId, actor, 'disconnect'), before, after: null });
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
    await recordAudit(tx, { ...entryOf(clientId, actor, 'connect'), before: null, after });
  });
}

function entryOf(clientId: string, actor: Actor, verb: string) {
  return {
    actor,
    action: `oauth_client.${verb}`,
    entity: 'oauth_client' as const,
    entity_id: auditNumber(clientId),
  };
}
