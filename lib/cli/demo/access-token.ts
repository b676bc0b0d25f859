import type { Database } from '@/db/database';
import { SCOPES } from '../../auth/access-token';
import { createAccessToken, listAccessTokens, revokeAccessToken } from '../../auth/manage-access-tokens';

const NAME = 'demo';
const WEEK_MS = 7 * 86_400_000;

/**
 * Ends the tokens of earlier runs and makes this run's, for everything. The embedded database is the
 * server's while the demo runs, so that the end of a run cannot take its token back: the next start does.
 */
export async function prepareAccessToken(
  db: Database,
  world: { now(): Date; randomBytes(size: number): Buffer },
): Promise<string> {
  for (const token of await listAccessTokens(db)) {
    const ours = token.name === NAME && token.created_by === NAME;
    if (ours && !token.revoked_at) await revokeAccessToken(db, token.id, world.now());
  }
  const expires_at = new Date(world.now().getTime() + WEEK_MS);
  const input = { name: NAME, scopes: [...SCOPES], expires_at, created_by: NAME };
  return (await createAccessToken(db, input, world.randomBytes)).token;
}
