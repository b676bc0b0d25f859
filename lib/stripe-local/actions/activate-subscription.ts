import type { Invoice } from '../model';
import type { World } from '../world';
import { hasEnded } from './live';
import { updateSubscription } from './subscriptions';

/** A paid latest invoice makes a waiting subscription active → customer.subscription.updated */
export function activateSubscription(world: World, invoice: Invoice): void {
  const subscription = world.subscriptions.get(invoice.subscription ?? '');
  if (!subscription || hasEnded(subscription) || subscription.latestInvoice !== invoice.id) return;
  if (['incomplete', 'past_due', 'unpaid'].includes(subscription.status)) {
    updateSubscription(world, subscription.id, { status: 'active' });
  }
}
