import { and, desc, eq, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { oauthAccessTokens, oauthClients, oauthConsents, staffUsers } from '@/db/schema';
import { transact } from '@/db/transaction';
import { type Actor, auditNumber, recordAudit } from '../audit/record-audit';
import { AppError } from '../errors';
import { DOCUMENT_CLIENT } from './discover-client';
import { endBeyond, endCodes, endTokens } from './end-access';

const MOST = 200;

/** A client that a member of staff has let in. */
export interface ConnectedApp {
  /** Of the consent. */
  id: string;
  clientId: string;
  name: string;
  host: string | null;
  scopes: string[];
  since: Date;
  /** When it was last given tokens; null: never. */
  refreshed: Date | null;
  staff: { id: string; name: string; email: string };
}

/** The newest 200 apps: of one member of staff, or of all. */
export async function listConnectedApps(db: Database, userId: string | null): Promise<ConnectedApp[]> {
  const refreshed = sql<Date | null>`(select max(${oauthAccessTokens.createdAt}) from ${oauthAccessTokens}
    where ${oauthAccessTokens.clientId} = ${oauthConsents.clientId}
      and ${oauthAccessTokens.userId} = ${oauthConsents.userId})`.mapWith(oauthAccessTokens.createdAt);
  const found = await db
    .select({
      id: oauthConsents.id,
      clientId: oauthConsents.clientId,
      name: oauthClients.name,
      discovery: oauthClients.clientDiscoveryId,
      scopes: oauthConsents.scopes,
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

/**
 * Ends an app's access at once: its tokens, what was consented to, and codes that were not used yet.
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
    const { clientId, userId, scopes } = consent;
    await endTokens(tx, { clientId, userId });
    await endCodes(tx, [userId, clientId]);
    const before = { client_id: clientId, user_id: userId, scopes };
    await recordAudit(tx, { ...entryOf(clientId, actor, 'disconnect'), before, after: null });
  });
}

/** Notes what a member of staff has let a client do, and ends what it could do beyond that. */
export async function recordConsent(
  db: Database,
  { clientId, actor, scopes }: { clientId: string; actor: Actor; scopes: string[] },
): Promise<void> {
  const after = { client_id: clientId, user_id: actor.id, scopes };
  await transact(db, async (tx) => {
    await endBeyond(tx, { clientId, userId: actor.id }, scopes);
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
