import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { oauthClients, staffVerifications } from '@/db/schema';
import type { Runtime } from '../runtime';
import { isLoopback } from './client-metadata';
import { DOCUMENT_CLIENT } from './discover-client';
import { hashOAuthToken } from './oauth-token';
import { type ReadScope, toReadScopes } from './scopes';

/** The source of a client's identity: an admin, its own site, or only itself. */
export type Vouched = 'staff' | 'site' | 'nobody';

/** What a member of staff is asked to consent to. */
export interface ConsentRequest {
  clientId: string;
  /** As the client calls itself. */
  name: string | null;
  /** The host of its metadata document. */
  host: string | null;
  vouched: Vouched;
  /** Where the answer goes: a host, this computer, or the app of a scheme. */
  leadsTo: string;
  isLocal: boolean;
  scopes: ReadScope[];
}

/**
 * Reads the address of the consent page, which the provider has signed. The signature is checked when the consent is
 * given.
 *
 * @returns null if the address is malformed or has expired
 */
export async function readConsentRequest(
  db: Database,
  query: URLSearchParams,
  now: Date,
): Promise<ConsentRequest | null> {
  const clientId = query.get('client_id') ?? '';
  const redirect = query.get('redirect_uri') ?? '';
  const isOver = Number(query.get('exp')) * 1000 <= now.getTime();
  if (isOver || !query.has('sig') || !URL.canParse(redirect) || clientId.includes('\0')) return null;
  const [client] = await db.select().from(oauthClients).where(eq(oauthClients.clientId, clientId));
  if (!client) return null;
  const isDocument = client.clientDiscoveryId === DOCUMENT_CLIENT;
  const { protocol, host } = new URL(redirect);
  const isWeb = protocol === 'https:';
  const documentHost = isDocument ? new URL(clientId).host : null;
  return {
    clientId,
    name: client.name,
    host: documentHost,
    vouched: vouchedBy(client, isWeb && documentHost === host),
    leadsTo: isWeb ? host : isLoopback(redirect) ? 'a program on this computer' : `the app of ${protocol}//`,
    isLocal: !isWeb,
    scopes: toReadScopes((query.get('scope') ?? '').split(' ')),
  };
}

/** Longer than the provider takes a consent. */
const KEPT_MS = 1_200_000;

/**
 * Takes a consent before it is given, so that its page is answered once.
 *
 * @param query the address of the consent, as the provider has made it
 * @returns frees it again; null if it was answered already
 */
export async function claimConsent(
  { db, now }: Pick<Runtime, 'db' | 'now'>,
  query: URLSearchParams,
): Promise<(() => Promise<void>) | null> {
  const id = `consent ${hashOAuthToken(query.get('sig') ?? '')}`;
  const claim = { id, identifier: 'answered consent', value: '' };
  const [claimed] = await db
    .insert(staffVerifications)
    .values({ ...claim, expiresAt: new Date(now().getTime() + KEPT_MS) })
    .onConflictDoNothing()
    .returning({ id: staffVerifications.id });
  if (!claimed) return null;
  return async () => {
    await db.delete(staffVerifications).where(eq(staffVerifications.id, id));
  };
}

/** A document proves its host, and that only for an answer that goes there: any local program can name it. */
function vouchedBy(
  { registeredFrom, clientDiscoveryId }: { registeredFrom: string | null; clientDiscoveryId: string | null },
  leadsHome: boolean,
): Vouched {
  if (clientDiscoveryId === DOCUMENT_CLIENT) return leadsHome ? 'site' : 'nobody';
  return registeredFrom === null ? 'staff' : 'nobody';
}
