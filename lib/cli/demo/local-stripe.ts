import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Database } from '@/db/database';
import type { Env } from '../../env';
import { localUrl } from '../../server/addresses';
import { fillFromDatabase } from '../../stripe-local/fill-from-database';
import { loadWorld, saveWorld } from '../../stripe-local/persist';
import { type StripeLocal, startStripeLocal } from '../../stripe-local/server';
import { createWorld, seededChance, type World } from '../../stripe-local/world';
import { storeDeliveries } from './store-deliveries';

/**
 * The Stripe that a database goes with: as the last demo left it, or filled from the database.
 *
 * @param fresh true where the database was seeded just now, so that what is saved belongs to another
 */
export async function prepareWorld(
  db: Database,
  env: Env,
  options: { now(): Date; randomBytes(size: number): Buffer; fresh: boolean },
): Promise<World> {
  const { now } = options;
  const { timeZone } = env;
  const saved = options.fresh ? null : await loadWorld(worldFile(env), { now, timeZone });
  if (saved) return saved;
  const chance = seededChance(options.randomBytes(4).readUInt32BE());
  const world = createWorld({ now, chance, timeZone });
  await fillFromDatabase(world, db, { timeZone });
  if (options.fresh) await storeDeliveries(db, world);
  await saveWorld(world, worldFile(env));
  return world;
}

/** Serves a world, and tells the demo's webhook what happens in it. */
export async function serveWorld(world: World, env: Env): Promise<StripeLocal> {
  const [secret = ''] = env.stripe.webhookSecrets;
  return startStripeLocal({
    world,
    secretKey: env.stripe.secretKey ?? '',
    webhook: { url: `${localUrl(env)}/api/stripe/webhook`, secret },
    file: worldFile(env),
    log: (message) => console.error(message),
  });
}

/** Each database has its own, however DATABASE_URL is changed between two starts. */
function worldFile({ dataDir, databaseUrl }: Env): string {
  const which = databaseUrl ? `-${createHash('sha256').update(databaseUrl).digest('hex').slice(0, 8)}` : '';
  return join(dataDir, `stripe-local${which}.json`);
}
