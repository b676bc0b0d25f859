import { openPostgres } from '@/db/client';
import { updateSubscription } from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import { fillFromDatabase } from '@/lib/stripe-local/fill-from-database';
import { startStripeLocal } from '@/lib/stripe-local/server';
import { createWorld } from '@/lib/stripe-local/world';

/** What the benchmark asks of its Stripe, in a process of its own so that its memory is not ours. */
export type Order = { order: 'drift'; share: number } | { order: 'count' };

const [databaseUrl = '', secretKey = ''] = process.argv.slice(2);
const { db, close } = openPostgres(databaseUrl, { max: 1 });
const world = createWorld({ now: () => new Date(), chance: seededChance(1) });
await fillFromDatabase(world, db, { timeZone: 'UTC' });
await close();
const server = await startStripeLocal({ world, secretKey });

process.on('message', (message: Order) => {
  if (message.order === 'count') process.send?.(server.requestCount());
  else process.send?.(drift(message.share));
});
process.send?.(server.url);

/** Renews a share of the subscriptions without telling anybody. @returns how many */
function drift(share: number): number {
  const every = Math.round(1 / share);
  let drifted = 0;
  for (const [i, { id }] of [...world.subscriptions.values()].entries()) {
    if (i % every !== 0) continue;
    updateSubscription(world, id, { currentPeriodEnd: Math.floor(Date.now() / 1000) + 30 * 86_400 });
    drifted += 1;
  }
  return drifted;
}
