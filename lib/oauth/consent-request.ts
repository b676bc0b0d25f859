import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { oauthClients } from '@/db/schema';
import type { Runtime } from '../runtime';
import { DOCUMENT_CLIENT } from './discover-client';
import { claimOnce, hashOAuthToken } from './grant';
import { issuerOf, toReadScopes } from './metadata';
import { isLoopback } from './register-client';

/** Who confirms a client's identity: an admin (`staff`), the site of its metadata document (`site`), or `nobody`. */
type Vouched = 'staff' | 'site' | 'nobody';

/**
 * Parses the consent page's URL, which the provider has signed. The signature is verified later, when the consent is
 * given.
 *
 * @returns null if the URL is malformed or has expired, or if the client does not exist
 */
export async function readConsentRequest(db: Database, query: URLSearchParams, now: Date) {
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
    /** The name in the client's registration or document. It is trustworthy only if `vouched` is not `nobody`. */
    name: client.name,
    /** The host of the client's metadata document. Null if the client has no document. */
    host: documentHost,
    vouched: vouchedBy(client, isWeb && documentHost === host),
    /** The destination of the redirect, in words: a host, a program on this computer, or the app of a URL scheme. */
    leadsTo: isWeb ? host : isLoopback(redirect) ? 'a program on this computer' : `the app of ${protocol}//`,
    isLocal: !isWeb,
    scopes: toReadScopes((query.get('scope') ?? '').split(' ')),
  };
}

/** A request for consent, as the consent page shows it. */
export type ConsentRequest = NonNullable<Awaited<ReturnType<typeof readConsentRequest>>>;

/**
 * Lifetime of the claim on a consent, in milliseconds. It exceeds the time during which the provider accepts the
 * consent.
 */
const CLAIM_MS = 1_200_000;

/**
 * Claims a consent request before the provider gets the decision, so that the consent page works only once.
 *
 * @param query the query of the consent page as the provider signed it
 * @returns a function that releases the claim; null if the request was already claimed
 */
export function claimConsent(
  runtime: Pick<Runtime, 'db' | 'now'>,
  query: URLSearchParams,
): Promise<(() => Promise<void>) | null> {
  return claimOnce(runtime, `consent ${hashOAuthToken(query.get('sig') ?? '')}`, CLAIM_MS);
}

/**
 * Returns who confirms a client's identity. A metadata document proves its host only if the redirect goes to that host,
 * because any local program can use the document's URL as its id.
 */
function vouchedBy(
  { registeredFrom, clientDiscoveryId }: { registeredFrom: string | null; clientDiscoveryId: string | null },
  leadsHome: boolean,
): Vouched {
  if (clientDiscoveryId === DOCUMENT_CLIENT) return leadsHome ? 'site' : 'nobody';
  return registeredFrom === null ? 'staff' : 'nobody';
}

/** The form of an OAuth error code (RFC 6749, 4.1.2.1). */
const CODE = /^[a-z_]{1,60}$/;

/**
 * Returns whether the browser may be redirected to a client with an error before the person has confirmed anything.
 * This is allowed for programs on the person's machine and for sites that an admin has added. Anyone can register other
 * sites, and could use such a redirect to misuse this service as an open redirector.
 * https://www.rfc-editor.org/rfc/rfc9700#section-4.11.2
 */
export async function mayGoBack(db: Database, clientId: string, to: URL): Promise<boolean> {
  if (to.protocol !== 'https:') return true;
  const client = await findClient(db, clientId);
  return client !== undefined && client.registeredFrom === null && client.clientDiscoveryId === null;
}

/**
 * Returns the link back to the client, for the error page after a refused authorization.
 *
 * @param query the query of the error page. Anyone can write it, so the link leads only to a registered https redirect
 *   URI.
 * @returns null if the query contains no valid error, or no such URI of an enabled client
 */
export async function readWayBack({ db, env }: Pick<Runtime, 'db' | 'env'>, query: URLSearchParams) {
  const error = query.get('error') ?? '';
  const redirect = query.get('redirect_uri') ?? '';
  if (!CODE.test(error) || !redirect.startsWith('https://')) return null;
  const client = await findClient(db, query.get('client_id') ?? '');
  if (!client?.redirectUris.includes(redirect) || client.disabled) return null;
  const { name } = client;
  const to = errorAddress(redirect, { error, state: query.get('state'), iss: issuerOf(env) });
  // `href` is the client's redirect URI with the error in its query.
  return { name, host: to.host, href: to.href };
}

export type WayBack = NonNullable<Awaited<ReturnType<typeof readWayBack>>>;

/** Returns a client's redirect URI with an OAuth error and the request's `state` in its query. */
export function errorAddress(
  redirect: string,
  { error, state, iss }: { error: string; state: string | null; iss: string },
): URL {
  const to = new URL(redirect);
  to.searchParams.set('error', error);
  if (state !== null) to.searchParams.set('state', state);
  to.searchParams.set('iss', iss);
  return to;
}

async function findClient(db: Database, clientId: string) {
  if (clientId.includes('\0')) return undefined; // PostgreSQL refuses NUL characters.
  const { name, redirectUris, disabled, registeredFrom, clientDiscoveryId } = oauthClients;
  const [client] = await db
    .select({ name, redirectUris, disabled, registeredFrom, clientDiscoveryId })
    .from(oauthClients)
    .where(eq(oauthClients.clientId, clientId));
  return client;
}
