import { and, eq, isNull } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { accessTokens } from '@/db/schema';
import { SCOPES } from '../../auth/tokens/access-token';
import { createAccessToken, revokeAccessToken } from '../../auth/tokens/manage-access-tokens';
import { DEMO, DEMO_ACTOR } from './actor';

const WEEK_MS = 7 * 86_400_000;

/**
 * Ends the tokens of earlier runs and makes this run's, for everything. The embedded database is the
 * server's while the demo runs, so that the end of a run cannot take its token back: the next start does.
 */
export async function prepareAccessToken(
  db: Database,
  world: { now(): Date; randomBytes(size: number): Buffer },
): Promise<string> {
  const ours = await db
    .select({ id: accessTokens.id })
    .from(accessTokens)
    .where(
      and(eq(accessTokens.name, DEMO), eq(accessTokens.created_by, DEMO), isNull(accessTokens.revoked_at)),
    );
  for (const { id } of ours) await revokeAccessToken(db, id, { actor: DEMO_ACTOR, now: world.now() });
  const expires_at = new Date(world.now().getTime() + WEEK_MS);
  const input = { name: DEMO, scopes: [...SCOPES], expires_at, created_by: DEMO_ACTOR };
  return (await createAccessToken(db, input, world.randomBytes)).token;
}
