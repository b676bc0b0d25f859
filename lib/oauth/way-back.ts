import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { oauthClients } from '@/db/schema';
import type { Runtime } from '../runtime';
import { issuerOf } from './addresses';

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
