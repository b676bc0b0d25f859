import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { oauthAccessTokens, oauthClients } from '@/db/schema';
import type { Runtime } from '../runtime';
import { resourceOf } from './addresses';
import { hashOAuthToken, newOAuthToken } from './oauth-token';

const LASTS_MS = 60_000;

/** An access token of a trial, for a minute: it may read no more than servers. */
export async function issueTrialToken(
  { db, env, now, newId, randomBytes }: Pick<Runtime, 'db' | 'env' | 'now' | 'newId' | 'randomBytes'>,
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
    expiresAt: new Date(now().getTime() + LASTS_MS),
  });
  return token;
}

/** Ends the token of a trial. */
export async function endTrialToken(db: Database, token: string): Promise<void> {
  await db.delete(oauthAccessTokens).where(eq(oauthAccessTokens.token, hashOAuthToken(token)));
}

/** Removes a client that was made for a trial. */
export async function removeTrialClient(db: Database, clientId: string): Promise<void> {
  await db.delete(oauthClients).where(eq(oauthClients.clientId, clientId));
}
