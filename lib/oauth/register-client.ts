import { symmetricEncrypt } from 'better-auth/crypto';
import { and, eq, gt, isNotNull, isNull, lt, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { oauthClients, oauthConsents } from '@/db/schema';
import type { Runtime } from '../runtime';
import {
  type AuthMethod,
  type ClientMetadata,
  isProblem,
  type OAuthProblem,
  parseClientMetadata,
} from './client-metadata';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Of one address within an hour. */
const MAX_REGISTRATIONS = 20;
/** Nobody has consented to yet, all together. */
const MAX_UNUSED = 2000;
const METHODS: AuthMethod[] = ['client_secret_basic', 'client_secret_post', 'none'];

type World = Pick<Runtime, 'db' | 'env' | 'now' | 'newId' | 'randomBytes'>;

/** A client as it is told of itself, once. */
export interface Registered {
  clientId: string;
  clientSecret: string | null;
}

/**
 * Registers a client that asks for it (RFC 7591).
 *
 * @param address counted; unused ones of yesterday are cleared first
 * @returns OAuth's error: `invalid_redirect_uri`, `invalid_client_metadata`, `slow_down` for too many
 */
export async function registerClient(
  world: World,
  given: unknown,
  { address, secret }: { address: string; secret: string },
): Promise<(Registered & ClientMetadata) | OAuthProblem> {
  const { db, env } = world;
  const now = world.now();
  const parsed = parseClientMetadata(given, { schemes: env.oauth.redirectSchemes, methods: METHODS });
  if (isProblem(parsed)) return parsed;
  await clearUnusedClients(db, now);
  const hourAgo = new Date(now.getTime() - HOUR_MS);
  const isRecent = and(eq(oauthClients.registeredFrom, address), gt(oauthClients.createdAt, hourAgo));
  const isFull =
    (await db.$count(oauthClients, isRecent)) >= MAX_REGISTRATIONS ||
    (await db.$count(oauthClients, isUnused(db))) >= MAX_UNUSED;
  if (isFull)
    return { error: 'slow_down', error_description: 'Too many clients were registered. Try again later.' };
  return { ...parsed, ...(await insertClient(world, parsed, { secret, registeredFrom: address })) };
}

/**
 * @param secret the key under which a client's secret is kept, as the provider reads it
 * @returns what the client signs in with; the secret is shown once
 */
export async function insertClient(
  { db, now, newId, randomBytes }: World,
  { redirectUris, name, uri, authMethod }: ClientMetadata,
  { secret, registeredFrom }: { secret: string; registeredFrom: string | null },
): Promise<Registered> {
  const clientId = randomBytes(16).toString('base64url');
  const clientSecret = authMethod === 'none' ? null : randomBytes(32).toString('base64url');
  const at = now();
  await db.insert(oauthClients).values({
    id: newId(),
    clientId,
    clientSecret: clientSecret && (await symmetricEncrypt({ key: secret, data: clientSecret })),
    redirectUris,
    name,
    uri,
    tokenEndpointAuthMethod: authMethod,
    grantTypes: ['authorization_code', 'refresh_token'],
    responseTypes: ['code'],
    registeredFrom,
    createdAt: at,
    updatedAt: at,
  });
  return { clientId, clientSecret };
}

/** Removes what registered itself more than a day ago and nobody let in. */
export async function clearUnusedClients(db: Database, now: Date): Promise<void> {
  const yesterday = new Date(now.getTime() - DAY_MS);
  await db.delete(oauthClients).where(and(isUnused(db), lt(oauthClients.updatedAt, yesterday)));
}

function isUnused(db: Database) {
  const consents = db
    .select({ one: sql`1` })
    .from(oauthConsents)
    .where(eq(oauthConsents.clientId, oauthClients.clientId));
  const isOwn = sql`(${isNotNull(oauthClients.registeredFrom)} or ${isNotNull(oauthClients.clientDiscoveryId)})`;
  return and(isOwn, isNull(oauthClients.userId), sql`not exists ${consents}`);
}
