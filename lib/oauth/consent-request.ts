import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { oauthClients, staffVerifications } from '@/db/schema';
import type { Runtime } from '../runtime';
import { DOCUMENT_CLIENT } from './discover-client';
import { hashOAuthToken } from './grant';
import { issuerOf, type ReadScope, toReadScopes } from './metadata';
import { isLoopback } from './register-client';

/** The source of a client's identity: an admin, its own site, or only itself. */
type Vouched = 'staff' | 'site' | 'nobody';

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
  if (isOver || !query.has('sig') || !URL.canParse(redirect)) return null;
  const client = await findClient(db, clientId);
  if (!client) return null;
  const { protocol, host } = new URL(redirect);
  const isWeb = protocol === 'https:';
  const documentHost = client.clientDiscoveryId === DOCUMENT_CLIENT ? new URL(clientId).host : null;
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

const MAX_STATE = 2000;
/** An error of OAuth (RFC 6749, 4.1.2.1): a code, never a sentence. */
const CODE = /^[a-z_]{1,60}$/;

/** Where a refused authorization may go on, for a person to decide. */
export interface WayBack {
  /** As the client calls itself. */
  name: string | null;
  host: string;
  /** The client's own address, with the error as it would have been told at once. */
  href: string;
}

/**
 * Whether a client may be told of an error before anybody has clicked. Programs on the person's machine may, and
 * sites that an admin has entered. Anybody can register another site, and would have an open redirector in us.
 * https://www.rfc-editor.org/rfc/rfc9700#section-4.11.2
 */
export async function mayGoBack(db: Database, clientId: string, to: URL): Promise<boolean> {
  if (to.protocol !== 'https:') return true;
  const client = await findClient(db, clientId);
  return client !== undefined && client.registeredFrom === null && client.clientDiscoveryId === null;
}

/**
 * @param query of the error page. A stranger may have written it, so it leads only to a registered address of its client
 */
export async function readWayBack(
  { db, env }: Pick<Runtime, 'db' | 'env'>,
  query: URLSearchParams,
): Promise<WayBack | null> {
  const error = query.get('error') ?? '';
  const redirect = query.get('redirect_uri') ?? '';
  if (!CODE.test(error) || !redirect.startsWith('https://')) return null;
  const client = await findClient(db, query.get('client_id') ?? '');
  if (!client?.redirectUris.includes(redirect) || client.disabled) return null;
  const { name } = client;
  const to = errorAddress(redirect, { error, state: query.get('state'), iss: issuerOf(env) });
  return { name, host: to.host, href: to.href };
}

/** A client's address with an error for it. */
export function errorAddress(
  redirect: string,
  { error, state, iss }: { error: string; state: string | null; iss: string },
): URL {
  const to = new URL(redirect);
  to.searchParams.set('error', error);
  if (state !== null && state.length <= MAX_STATE) to.searchParams.set('state', state);
  to.searchParams.set('iss', iss);
  return to;
}

async function findClient(db: Database, clientId: string) {
  if (clientId.includes('\0')) return undefined; // which PostgreSQL refuses
  const { name, redirectUris, disabled, registeredFrom, clientDiscoveryId } = oauthClients;
  const [client] = await db
    .select({ name, redirectUris, disabled, registeredFrom, clientDiscoveryId })
    .from(oauthClients)
    .where(eq(oauthClients.clientId, clientId));
  return client;
}
