import { openPostgres } from '@/db/client';
import { seededChance } from '@/lib/chance';
import { isCollected } from '@/lib/stripe-local/charges';
import { fillFromDatabase } from '@/lib/stripe-local/fill-from-database';
import { createWorld } from '@/lib/stripe-local/world';
import { createCreditNote, openDispute, refundPayment, updateSubscription } from '../support/stripe-actions';
import { startStripeLocal } from '../support/stripe-server';

/**
 * Messages from the bench to the local Stripe API. The API runs in its own process, so that its memory is not measured.
 */
export type Order = { order: 'drift' | 'return'; share: number } | { order: 'count' };

export interface Returned {
  /** Number of new refunds, disputes and credit notes. A reconciliation run finds them in Stripe's lists. */
  listed: number;
  /** Number of credited invoices. A reconciliation run has to retrieve each one separately. */
  retrieved: number;
}

const [databaseUrl = '', secretKey = ''] = process.argv.slice(2);
const { db, close } = openPostgres(databaseUrl, { max: 1 });
const world = createWorld({ now: () => new Date(), chance: seededChance(1) });
await fillFromDatabase(world, db, { timeZone: 'UTC' });
await close();
const server = await startStripeLocal({ world, secretKey });

process.on('message', (message: Order) => {
  if (message.order === 'count') process.send?.(server.requestCount());
  else if (message.order === 'drift') process.send?.(drift(message.share));
  else process.send?.(giveBack(message.share));
});
process.send?.(server.url);

/** Renews a share of the subscriptions without sending events. @returns the number of renewals */
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

/** Refunds, disputes or credits a share of the payments without sending events. */
function giveBack(share: number): Returned {
  const every = Math.round(1 / share);
  let [listed, retrieved] = [0, 0];
  const collected = [...world.paymentIntents.values()].filter(isCollected);
  for (const [i, { id, invoice }] of collected.entries()) {
    if (i % every !== 0) continue;
    const kind = listed % 5;
    if (kind === 0) refundPayment(world, { paymentIntent: id });
    else if (kind === 1) refundPayment(world, { paymentIntent: id, amount: 500, status: 'pending' });
    else if (kind === 2) openDispute(world, { paymentIntent: id });
    else if (kind === 3) refundPayment(world, { paymentIntent: id, amount: 500 });
    else if (invoice) {
      createCreditNote(world, { invoice, amount: 500, outOfBandAmount: 500 });
      retrieved += 1;
    }
    listed += 1;
  }
  return { listed, retrieved };
}
