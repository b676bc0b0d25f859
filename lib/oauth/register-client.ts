import { isIP } from 'node:net';
import { symmetricEncrypt } from 'better-auth/crypto';
import { and, count, eq, gt, isNotNull, isNull, lt, or, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '../../db/database';
import {
  oauthAccessTokens,
  oauthClientAssertions,
  oauthClients,
  oauthConsents,
  oauthRefreshTokens,
} from '../../db/schema';
import { transact } from '../../db/transaction';
import { isWithin, toNetworks, widerNetworks } from '../networks';
import type { Runtime } from '../runtime';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Maximum number of registrations from one IPv4 address or IPv6 /64 network within an hour. */
export const MAX_REGISTRATIONS = 20;
/**
 * Factor by which the limits are multiplied for a private or unknown IP address. A private IP address usually belongs
 * to a proxy that TRUSTED_PROXIES does not list, so all clients behind the proxy share the limits.
 */
const SHARED_FACTOR = 10;
const PRIVATE = toNetworks([
  ...['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'],
  ...['::/128', '::1/128', 'fc00::/7', 'fe80::/10'],
]);
/** Maximum number of unused clients of each kind: self-registered, and with a metadata document. */
const MAX_UNUSED = 2000;
/**
 * Maximum numbers of unused clients registered from one IPv4 address or IPv6 /64 network, from the surrounding /56
 * network, and from the surrounding /48 network.
 */
const MAX_UNUSED_OF = [60, 60, 120];
/** Maximum number of unused clients whose metadata documents are on the same host. */
const MAX_OF_HOST = 20;
/** Key to lock while clients are counted and stored. Otherwise concurrent registrations would not count each other. */
export const REGISTRATION_LOCK = 'oauth registration';
const METHODS: AuthMethod[] = ['client_secret_basic', 'client_secret_post', 'none'];

type Deps = Pick<Runtime, 'db' | 'env' | 'now' | 'newId' | 'randomBytes'>;

/** The id and the secret of a new client. The secret is null for a client that has none. */
export type Registered = Awaited<ReturnType<typeof insertClient>>;

/**
 * Registers a client at its own request (RFC 7591). Deletes old unused clients first.
 *
 * @param address the IP address from which the client registers
 * @returns the new client, or an OAuth error: `invalid_redirect_uri`, `invalid_client_metadata`, or `slow_down` if
 *   there are too many registrations
 */
export async function registerClient(
  deps: Deps,
  given: unknown,
  { address, secret }: { address: string; secret: string },
): Promise<(Registered & ClientMetadata) | OAuthProblem> {
  const { db, env } = deps;
  const now = deps.now();
  const parsed = parseClientMetadata(given, { schemes: env.oauth.redirectSchemes, methods: METHODS });
  if (isProblem(parsed)) return parsed;
  return transact(
    db,
    async (tx) => {
      await clearUnusedClients(tx, now);
      const hourAgo = new Date(now.getTime() - HOUR_MS);
      const isRecent = and(eq(oauthClients.registeredFrom, address), gt(oauthClients.createdAt, hourAgo));
      const isBusy =
        (await tx.$count(oauthClients, isRecent)) >= maxRegistrations(address) ||
        (await hasManyUnused(tx, address));
      if (isBusy) return slowDown(`Too many clients were registered from ${address}.`);
      const unused = await tx.$count(oauthClients, and(isUnused(tx), isNotNull(oauthClients.registeredFrom)));
      if (unused >= MAX_UNUSED) return slowDown('Too many clients were registered.');
      const made = await insertClient({ ...deps, db: tx }, parsed, { secret, registeredFrom: address });
      return { ...parsed, ...made };
    },
    REGISTRATION_LOCK,
    REGISTRATION_LOCK,
  );
}

/** Returns the maximum number of clients that an IP address may register within an hour. */
export function maxRegistrations(address: string): number {
  return MAX_REGISTRATIONS * sharedFactor(address);
}

/**
 * Returns the factor for the limits of an IP address.
 *
 * @param address a result of `countedAddress`, which may be `unknown`
 */
function sharedFactor(address: string): number {
  return isIP(address) === 0 || isWithin(PRIVATE, address) ? SHARED_FACTOR : 1;
}

function slowDown(sentence: string): OAuthProblem {
  return problem('slow_down', `${sentence} Try again in an hour.`);
}

/**
 * Returns whether too many unused clients were registered from an IP address or from one of its wider networks. This
 * prevents one network from using up MAX_UNUSED.
 */
async function hasManyUnused(tx: Database, address: string): Promise<boolean> {
  const networks = [address, ...widerNetworks(address)];
  const { registeredFrom } = oauthClients;
  // An IPv6 address starts with the prefix of its widest network, which is written `…::/48`.
  const isNear = sql`starts_with(${registeredFrom}, ${networks.at(-1)?.replace(/::\/48$/, ':')})`;
  const near = await tx
    .select({ from: registeredFrom, clients: count() })
    .from(oauthClients)
    .where(and(isUnused(tx), isNear))
    .groupBy(registeredFrom);
  return networks.some((network, i) => {
    const own = near.filter(({ from }) => from && [from, ...widerNetworks(from)].includes(network));
    const most = (MAX_UNUSED_OF[i] ?? 0) * sharedFactor(address);
    return own.reduce((sum, { clients }) => sum + clients, 0) >= most;
  });
}

/**
 * Returns whether another client with a metadata document can be stored. The caller must hold REGISTRATION_LOCK. The
 * number is limited, because anyone can send us the URLs of many documents. Unused documents are deleted after an hour,
 * and fetched again when they are needed.
 */
export async function hasRoomForDocument(db: Database, clientId: string, now: Date): Promise<boolean> {
  await clearUnusedClients(db, now);
  const isUnusedDocument = and(isUnused(db), isNotNull(oauthClients.clientDiscoveryId));
  const isOfHost = sql`starts_with(${oauthClients.clientId}, ${`${new URL(clientId).origin}/`})`;
  return (
    (await db.$count(oauthClients, and(isUnusedDocument, isOfHost))) < MAX_OF_HOST &&
    (await db.$count(oauthClients, isUnusedDocument)) < MAX_UNUSED
  );
}

/**
 * Stores a client.
 *
 * @param secret the key that encrypts the stored client secret; the provider decrypts it with the same key
 * @param registeredFrom the IP address from which the client registered itself; null if an admin adds the client
 * @returns the client's id and secret; the secret is shown only once
 */
export async function insertClient(
  { db, now, newId, randomBytes }: Deps,
  metadata: ClientMetadata,
  { secret, registeredFrom }: { secret: string; registeredFrom: string | null },
) {
  const clientId = randomBytes(16).toString('base64url');
  const clientSecret = metadata.authMethod === 'none' ? null : randomBytes(32).toString('base64url');
  await db.insert(oauthClients).values({
    id: newId(),
    clientId,
    clientSecret: clientSecret && (await symmetricEncrypt({ key: secret, data: clientSecret })),
    registeredFrom,
    ...clientColumns(metadata, now()),
  });
  return { clientId, clientSecret };
}

/** Converts a client's metadata to the columns of a new row. */
export function clientColumns({ authMethod, ...metadata }: ClientMetadata, now: Date) {
  return {
    ...metadata,
    tokenEndpointAuthMethod: authMethod,
    grantTypes: ['authorization_code', 'refresh_token'],
    responseTypes: ['code'],
    createdAt: now,
    updatedAt: now,
  };
}

/** Deletes clients that were never authorized: self-registered ones after a day, metadata documents after an hour. */
export async function clearUnusedClients(db: Database, now: Date): Promise<void> {
  const before = (ms: number) => lt(oauthClients.updatedAt, new Date(now.getTime() - ms));
  const isOver = or(before(DAY_MS), and(isNotNull(oauthClients.clientDiscoveryId), before(HOUR_MS)));
  await db.delete(oauthClients).where(and(isUnused(db), isOver));
}

function isUnused(db: Database) {
  const consents = db
    .select({ one: sql`1` })
    .from(oauthConsents)
    .where(eq(oauthConsents.clientId, oauthClients.clientId));
  const isOwn = sql`(${isNotNull(oauthClients.registeredFrom)} or ${isNotNull(oauthClients.clientDiscoveryId)})`;
  return and(
    isOwn,
    isNull(oauthClients.userId),
    isNull(oauthClients.authorizedAt),
    sql`not exists ${consents}`,
  );
}

/** Deletes expired tokens, ended grants and unused clients. Keeps unexpired used refresh tokens to detect theft. */
export async function clearOver(db: Database, now: Date): Promise<void> {
  for (const table of [oauthAccessTokens, oauthRefreshTokens, oauthClientAssertions]) {
    await db.delete(table).where(lt(table.expiresAt, now));
  }
  await clearEndedGrants(db, now);
  await clearUnusedClients(db, now);
}

async function clearEndedGrants(db: Database, now: Date): Promise<void> {
  const { referenceId, updatedAt } = oauthConsents;
  const hasNo = [oauthAccessTokens, oauthRefreshTokens].map((table) => {
    const own = db.select({ one: sql`1` }).from(table).where(eq(table.referenceId, referenceId));
    return sql`not exists ${own}`;
  });
  // Keep a grant that is younger than an hour, because its code may still be exchanged for tokens.
  const isOld = lt(updatedAt, new Date(now.getTime() - HOUR_MS));
  await db.delete(oauthConsents).where(and(isNotNull(referenceId), isOld, ...hasNo));
}

const MAX_REDIRECTS = 20;
const MAX_GIVEN = 100;
const KNOWN_GRANT_TYPES = ['authorization_code', 'refresh_token'];
/** Matches text without control, invisible or direction-changing characters, with which a name can imitate another. */
const VISIBLE = /^\P{C}+$/u;
const optionalUrl = z
  .url({ protocol: /^https$/ })
  .max(500)
  .optional()
  .catch(undefined);

/** The fields of a client's metadata (RFC 7591) that we read. The RFC requires ignoring unknown fields. */
const metadata = z.object({
  redirect_uris: z.array(z.unknown()).min(1).max(MAX_GIVEN),
  client_name: z.string().trim().max(100).regex(VISIBLE).optional().catch(undefined),
  client_uri: optionalUrl,
  logo_uri: optionalUrl,
  grant_types: z.array(z.string()).optional(),
  response_types: z.array(z.string()).optional(),
  token_endpoint_auth_method: z.string().optional(),
  /**
   * Methods that the client supports. This field is not part of the RFC. ChatGPT prefers to authenticate with a key,
   * and uses this field to announce that it also works without a key.
   */
  token_endpoint_auth_methods_supported: z.array(z.string()).optional().catch(undefined),
});

type AuthMethod = 'none' | 'client_secret_basic' | 'client_secret_post';

export type ClientMetadata = Exclude<ReturnType<typeof parseClientMetadata>, OAuthProblem>;

/** An OAuth error response (RFC 6749, section 5.2). */
interface OAuthProblem {
  error: string;
  error_description: string;
}

/**
 * Checks a client's metadata. Drops redirect URIs that are not allowed, because a vendor may list the URIs of all its
 * apps.
 *
 * @returns the metadata to store; or an error, for example if no redirect URI is allowed
 */
export function parseClientMetadata(
  given: unknown,
  { schemes, methods }: { schemes: readonly string[]; methods: readonly AuthMethod[] },
) {
  const parsed = metadata.safeParse(given);
  if (!parsed.success) {
    const field = String(parsed.error.issues[0]?.path[0] ?? 'the body');
    return field === 'redirect_uris'
      ? problem('invalid_redirect_uri', `redirect_uris must be 1 to ${MAX_GIVEN} addresses.`)
      : problem('invalid_client_metadata', `${field} is not valid.`);
  }
  const { data } = parsed;
  const redirectUris: string[] = [];
  const problems: string[] = [];
  for (const uri of data.redirect_uris.map(String)) {
    const wrong = redirectProblem(uri, schemes);
    if (wrong) problems.push(`The redirect URI ${uri.slice(0, 200)} ${wrong}.`);
    else if (redirectUris.length < MAX_REDIRECTS) redirectUris.push(uri);
  }
  if (redirectUris.length === 0) return problem('invalid_redirect_uri', problems[0] ?? '');
  const grants = data.grant_types ?? KNOWN_GRANT_TYPES;
  if (!grants.includes('authorization_code')) {
    return problem('invalid_client_metadata', 'grant_types must have authorization_code.');
  }
  if (data.response_types && !data.response_types.includes('code')) {
    return problem('invalid_client_metadata', 'response_types must have code.');
  }
  const preferred = data.token_endpoint_auth_method ?? methods[0];
  const possible = [preferred, ...(data.token_endpoint_auth_methods_supported ?? [])];
  const authMethod = possible.flatMap((one) => methods.find((method) => method === one) ?? [])[0];
  if (!authMethod) {
    return problem('invalid_client_metadata', `token_endpoint_auth_method must be ${methods.join(' or ')}.`);
  }
  return { redirectUris, name: data.client_name ?? null, uri: data.client_uri ?? null, authMethod };
}

export function isProblem(value: object): value is OAuthProblem {
  return 'error' in value;
}

function problem(error: string, error_description: string): OAuthProblem {
  return { error, error_description };
}

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;
const MAX_LENGTH = 500;

/** Returns whether a redirect URI points to a program on the user's own machine. */
export function isLoopback(uri: string): boolean {
  const url = new URL(uri);
  return url.protocol === 'http:' && LOOPBACK.test(url.hostname);
}

/**
 * Checks a redirect URI of a registration. It must be https on another host than localhost, http on localhost (with any
 * port), or a private scheme on the allowlist. The rule is the same for web clients and native clients.
 *
 * @returns the problem, or null if the URI is allowed
 */
export function redirectProblem(uri: string, schemes: readonly string[]): string | null {
  if (uri.length > MAX_LENGTH || !URL.canParse(uri)) return 'must be an absolute address';
  const url = new URL(uri);
  if (uri.includes('#') || url.username !== '' || url.password !== '') {
    return 'must have neither a fragment nor credentials';
  }
  // The URI is later compared character by character. Refuse characters that browsers normalize.
  if (/[\s\\\p{Cc}]/u.test(uri)) return 'must have no spaces, backslashes or control characters';
  // A browser treats https:evil.example as https://evil.example, but a person may not recognize the host.
  if (/^https?:/i.test(uri) && !/^https?:\/\/[^/]/i.test(uri)) return 'must have two slashes before its host';
  if (url.protocol === 'https:') return LOOPBACK.test(url.hostname) ? 'must be http on this machine' : null;
  if (url.protocol === 'http:') return isLoopback(uri) ? null : 'must be https';
  return schemes.includes(url.protocol.slice(0, -1))
    ? null
    : 'has a scheme that is not on OAUTH_REDIRECT_SCHEMES';
}
