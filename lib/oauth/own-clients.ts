import { and, desc, eq, isNull, type SQL } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { oauthAccessTokens, oauthClients } from '@/db/schema';
import { transact } from '@/db/transaction';
import { type Actor, recordAudit } from '../audit/audit-log';
import { AppError } from '../errors';
import type { Runtime } from '../runtime';
import { clientEntry } from './connected-apps';
import { hashOAuthToken, newOAuthToken } from './grant';
import { resourceOf } from './metadata';
import { insertClient, type Registered, redirectProblem } from './register-client';

const MAX_NAME_LENGTH = 100;
const MAX_REDIRECTS = 20;
const MAX_CLIENTS = 200;

/** The fields of the form in which an admin adds a client. */
export interface TypedClient {
  name: string;
  /** The redirect URIs, one per line. */
  redirects: string;
  /** Whether the client has a secret. A server can keep a secret, but a program on a person's machine cannot. */
  hasSecret: boolean;
}

export type OwnClient = Awaited<ReturnType<typeof listOwnClients>>[number];

type Deps = Pick<Runtime, 'db' | 'env' | 'now' | 'newId' | 'randomBytes'>;

/** Lists the newest 200 clients that admins have added. */
export async function listOwnClients(db: Database) {
  const { id, clientId, name, redirectUris, tokenEndpointAuthMethod: method, createdAt } = oauthClients;
  return db
    .select({ id, clientId, name, redirectUris, method, created: createdAt })
    .from(oauthClients)
    .where(isOwn())
    .orderBy(desc(createdAt))
    .limit(MAX_CLIENTS);
}

/**
 * Adds a client that neither registers itself nor has a metadata document.
 *
 * @returns the client's id, and its secret, which is shown only once
 * @throws AppError validation_failed naming the fields
 */
export async function addOwnClient(
  deps: Deps,
  { name, redirects, hasSecret }: TypedClient,
  { actor, secret }: { actor: Actor; secret: string },
): Promise<Registered> {
  const uris = redirects.split(/\s+/).filter((uri) => uri !== '');
  const problems = [];
  const wrong = uris
    .map((uri) => redirectProblem(uri, deps.env.oauth.redirectSchemes))
    .find((one) => one !== null);
  if (name.trim() === '' || name.length > MAX_NAME_LENGTH) {
    problems.push({ field: 'name', message: `must have 1 to ${MAX_NAME_LENGTH} characters` });
  }
  if (uris.length === 0 || uris.length > MAX_REDIRECTS) {
    problems.push({ field: 'redirects', message: `must be 1 to ${MAX_REDIRECTS} addresses, one per line` });
  } else if (wrong) problems.push({ field: 'redirects', message: wrong });
  if (problems.length > 0) throw new AppError('validation_failed', 'The client is not complete.', problems);
  const authMethod = hasSecret ? 'client_secret_basic' : 'none';
  const metadata = { name: name.trim(), redirectUris: uris, uri: null, authMethod } as const;
  return transact(deps.db, async (tx) => {
    const made = await insertClient({ ...deps, db: tx }, metadata, { secret, registeredFrom: null });
    const after = { client_id: made.clientId, name: metadata.name, redirect_uris: uris };
    await recordAudit(tx, { ...clientEntry(made.clientId, actor, 'create'), before: null, after });
    return made;
  });
}

/**
 * Removes a client that an admin added, together with all access that it was given.
 *
 * @throws AppError not_found
 */
export async function removeOwnClient(db: Database, id: string, actor: Actor): Promise<void> {
  await transact(db, async (tx) => {
    const [gone] = await tx
      .delete(oauthClients)
      .where(and(eq(oauthClients.id, id), isOwn()))
      .returning();
    if (!gone) throw new AppError('not_found', 'This client no longer exists.');
    const before = { client_id: gone.clientId, name: gone.name, redirect_uris: gone.redirectUris };
    await recordAudit(tx, { ...clientEntry(gone.clientId, actor, 'delete'), before, after: null });
  });
}

function isOwn(): SQL | undefined {
  return and(isNull(oauthClients.registeredFrom), isNull(oauthClients.clientDiscoveryId));
}

const TRIAL_TOKEN_MS = 60_000;

/** Issues an access token for the connection check. It is valid for a minute and can read only servers. */
export async function issueTrialToken(
  { db, env, now, newId, randomBytes }: Deps,
  clientId: string,
  userId: string,
): Promise<string> {
  const token = newOAuthToken('w5o', randomBytes);
  await db.insert(oauthAccessTokens).values({
    id: newId(),
    token: hashOAuthToken(token),
    clientId,
    userId,
    resources: [resourceOf(env)],
    scopes: ['servers:read'],
    createdAt: now(),
    expiresAt: new Date(now().getTime() + TRIAL_TOKEN_MS),
  });
  return token;
}

/** Deletes a token of the connection check. */
export async function endTrialToken(db: Database, token: string): Promise<void> {
  await db.delete(oauthAccessTokens).where(eq(oauthAccessTokens.token, hashOAuthToken(token)));
}

/** Deletes a client that the connection check created. */
export async function removeTrialClient(db: Database, clientId: string): Promise<void> {
  await db.delete(oauthClients).where(eq(oauthClients.clientId, clientId));
}
