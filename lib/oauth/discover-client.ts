import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { request } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { ClientDiscovery } from '@better-auth/oauth-provider';
import { eq } from 'drizzle-orm';
import type { Database } from '../../db/database';
import { oauthClients } from '../../db/schema';
import { transact } from '../../db/transaction';
import { isWithin, normalAddress, toNetworks } from '../networks';
import type { Runtime } from '../runtime';
import {
  type ClientMetadata,
  clientColumns,
  hasRoomForDocument,
  isProblem,
  parseClientMetadata,
  REGISTRATION_LOCK,
} from './register-client';

/** The `clientDiscoveryId` of clients whose id is the URL of their metadata document. */
export const DOCUMENT_CLIENT = 'metadata-document';
/** Milliseconds after which a stored document is read again. This is longer than an authorization takes. */
const FRESH_MS = 900_000;
const MAX_ID_LENGTH = 300;

type Deps = Pick<Runtime, 'db' | 'env' | 'now' | 'newId' | 'log' | 'fetchDocument'>;
type FoundClient = ClientMetadata & { id: string; now: Date };
type StoredClient = Awaited<ReturnType<ClientDiscovery['resolve']>>;

/**
 * Returns whether a client id can be the URL of a document. It must be a normalized https URL with a path, and without
 * credentials, port and fragment.
 */
function isDocumentId(clientId: string): boolean {
  if (!clientId.startsWith('https://') || clientId.length > MAX_ID_LENGTH) return false;
  if (!URL.canParse(clientId)) return false;
  const url = new URL(clientId);
  const isPlain = url.username === '' && url.password === '' && url.port === '' && !clientId.includes('#');
  return isPlain && url.pathname !== '/' && url.href === clientId;
}

/**
 * Finds clients whose id is the URL of their metadata document:
 * https://datatracker.ietf.org/doc/draft-ietf-oauth-client-id-metadata-document/
 */
export function clientDiscovery(deps: Deps): ClientDiscovery {
  return {
    id: DOCUMENT_CLIENT,
    matches: isDocumentId,
    resolve: async (ctx, clientId, existing) => {
      // Read the document again only for an authorization. All other requests use the stored client.
      const isNew = ctx.path === '/oauth2/authorize';
      const age = deps.now().getTime() - (existing?.updatedAt?.getTime() ?? 0);
      if (existing && (!isNew || age < FRESH_MS)) return existing;
      if (!isNew) return null;
      const read = await readDocument(deps, clientId);
      if (typeof read === 'string') {
        deps.log.warn({ component: 'oauth', client_id: clientId, reason: read }, 'metadata document refused');
        return null;
      }
      const found = { ...read, id: deps.newId(), now: deps.now() };
      const stored = existing
        ? await storeClient(deps.db, clientId, found)
        : await storeNewClient(deps, clientId, found);
      return stored as StoredClient;
    },
  };
}

/** Reads and checks a client's metadata document. @returns the metadata, or the reason why it is rejected */
export async function readDocument(
  { env, fetchDocument: fetch = fetchDocument }: Pick<Deps, 'env' | 'fetchDocument'>,
  clientId: string,
) {
  let document: unknown;
  try {
    document = await fetch(new URL(clientId));
  } catch (error) {
    return error instanceof Error ? error.message : 'it cannot be read';
  }
  if (typeof document !== 'object' || document === null) return 'it is not an object';
  if (!('client_id' in document) || document.client_id !== clientId) return 'it names another client_id';
  if ('client_secret' in document) return 'it contains a secret, but the document is public';
  const parsed = parseClientMetadata(document, { schemes: env.oauth.redirectSchemes, methods: ['none'] });
  return isProblem(parsed) ? parsed.error_description : parsed;
}

/** Stores a client unless there are too many unused ones. @returns the stored client, or null */
async function storeNewClient({ db, log }: Deps, clientId: string, found: FoundClient) {
  return transact(
    db,
    async (tx) => {
      if (await hasRoomForDocument(tx, clientId, found.now)) return storeClient(tx, clientId, found);
      log.warn({ component: 'oauth', client_id: clientId }, 'too many metadata documents');
      return null;
    },
    REGISTRATION_LOCK,
    REGISTRATION_LOCK,
  );
}

async function storeClient(db: Database, clientId: string, { id, now, ...metadata }: FoundClient) {
  const { redirectUris, name, uri, ...fixed } = clientColumns(metadata, now);
  const [row] = await db
    .insert(oauthClients)
    .values({ id, clientId, clientDiscoveryId: DOCUMENT_CLIENT, redirectUris, name, uri, ...fixed })
    .onConflictDoUpdate({
      target: oauthClients.clientId,
      set: { redirectUris, name, uri, updatedAt: now },
      setWhere: eq(oauthClients.clientDiscoveryId, DOCUMENT_CLIENT),
    })
    .returning();
  return row ?? null;
}

const MAX_DOCUMENT_BYTES = 65_536;
const DOCUMENT_MS = 5000;

/** IPv4 networks that are not public according to IANA's special-purpose registry, and multicast and 6to4 networks. */
const CLOSED = toNetworks([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
]);
/** The IPv6 network that contains all public addresses. */
const GLOBAL6 = toNetworks(['2000::/3']);
/** Networks within GLOBAL6 that are not public or may lead elsewhere: special-purpose, documentation and tunnels. */
const CLOSED6 = toNetworks(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']);

/** Returns whether an IP address belongs to the public internet. */
export function isPublicAddress(text: string): boolean {
  const address = normalAddress(text);
  if (address === null) return false;
  if (isIP(address) === 4) return !isWithin(CLOSED, address);
  return isWithin(GLOBAL6, address) && !isWithin(CLOSED6, address);
}

type Resolve = (host: string, done: (error: Error | null, found: LookupAddress[]) => void) => void;

const resolveAll: Resolve = (host, done) =>
  dnsLookup(host, { all: true }, (error, found) => done(error, found ?? []));

/**
 * Creates a DNS lookup that returns only public IP addresses, and fails if one of a name's IP addresses is not public.
 * The connection uses the returned IP addresses, so a name cannot resolve differently between the check and the
 * connection.
 */
export function publicLookup(resolve: Resolve = resolveAll): LookupFunction {
  return (host, options, done) =>
    resolve(host, (error, found) => {
      const [first] = found;
      if (error || !first) return done(error ?? new Error('the host name has no address'), '');
      if (!found.every(({ address }) => isPublicAddress(address))) {
        return done(new Error('the address is not public'), '');
      }
      if (options.all) done(null, found);
      else done(null, first.address, first.family);
    });
}

interface Settings {
  lookup?: LookupFunction;
  port?: number;
  ca?: string;
  ms?: number;
}

/**
 * Reads JSON from an https URL on the public internet. Does not follow redirects. Reads at most 64 KB, for at most 5
 * seconds in total.
 *
 * @throws Error that describes the problem, without the received data
 */
export function fetchDocument(url: URL, settings: Settings = {}): Promise<unknown> {
  const { lookup = publicLookup(), ms = DOCUMENT_MS, ...rest } = settings;
  if (isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0)
    throw new Error('the host is an IP address, not a name');
  return new Promise((resolve, reject) => {
    const asked = request(
      url,
      { ...rest, lookup, agent: false, headers: { Accept: 'application/json' } },
      (answer) => {
        const type = answer.headers['content-type'] ?? '';
        if (answer.statusCode !== 200) return fail(`the answer was ${answer.statusCode}`);
        if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) return fail('the answer is not JSON');
        const chunks: Buffer[] = [];
        let size = 0;
        answer.on('data', (chunk: Buffer) => {
          size += chunk.byteLength;
          if (size > MAX_DOCUMENT_BYTES) return fail('the document is too large');
          chunks.push(chunk);
        });
        answer.on('error', () => fail('the answer broke off'));
        answer.on('end', () => {
          try {
            resolve(JSON.parse(Buffer.concat(chunks).toString()));
          } catch {
            fail('the document is not JSON');
          } finally {
            clearTimeout(timer);
          }
        });
      },
    );
    const fail = (reason: string) => {
      clearTimeout(timer);
      asked.destroy();
      reject(new Error(reason));
    };
    const timer = setTimeout(() => fail('the document took too long to load'), ms);
    asked.on('error', (error) => fail(error.message));
    asked.end();
  });
}
