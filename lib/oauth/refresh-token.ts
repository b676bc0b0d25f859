import { setTimeout as sleep } from 'node:timers/promises';
import { and, eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { oauthRefreshTokens } from '@/db/schema';
import type { Runtime } from '../runtime';
import { hashOAuthToken } from './oauth-token';

/**
 * How long a used refresh token is answered again, with the same tokens. Programs of one person share their tokens on
 * disk, and refresh them up to five minutes before their end: this is twice that.
 */
const GRACE_S = 600;
/**
 * The provider's grace is longer: a token that is too old for us never reaches it. The provider would end all grants
 * of the client and the person, on every device.
 */
export const PROVIDER_GRACE_S = GRACE_S + 60;
const WAIT_MS = 100;
const MAX_WAITS = 50;

type Row = typeof oauthRefreshTokens.$inferSelect;

export interface RefreshToken
  extends Pick<Row, 'id' | 'clientId' | 'userId' | 'referenceId' | 'authorizationCodeId' | 'scopes'> {
  /** `rotating` is in use by another request, `rotated` can be answered again, `stale` no more. */
  state: 'unused' | 'rotating' | 'rotated' | 'stale';
}

/**
 * Finds a refresh token. Waits while another request uses it, so that both can be given the same answer.
 *
 * @returns null if the client has no such token
 */
export async function findRefreshToken(
  { db, now }: Pick<Runtime, 'db' | 'now'>,
  clientId: string,
  text: string,
): Promise<RefreshToken | null> {
  for (let waits = 0; ; waits += 1) {
    const found = await readRefreshToken(db, { clientId, text, now: now() });
    if (found?.state !== 'rotating' || waits === MAX_WAITS) return found;
    await sleep(WAIT_MS);
  }
}

async function readRefreshToken(
  db: Database,
  { clientId, text, now }: { clientId: string; text: string; now: Date },
): Promise<RefreshToken | null> {
  const isToken = eq(oauthRefreshTokens.token, hashOAuthToken(text));
  const [row] = await db
    .select()
    .from(oauthRefreshTokens)
    .where(and(isToken, eq(oauthRefreshTokens.clientId, clientId)));
  return row ? { ...row, state: stateOf(row, now) } : null;
}

function stateOf({ revoked, rotationReplayExpiresAt, rotationReplayResponse }: Row, now: Date) {
  if (!revoked) return 'unused';
  const end = (rotationReplayExpiresAt?.getTime() ?? 0) - (PROVIDER_GRACE_S - GRACE_S) * 1000;
  if (end < now.getTime()) return 'stale';
  return rotationReplayResponse === null ? 'rotating' : 'rotated';
}
