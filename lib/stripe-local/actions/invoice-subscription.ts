import type { Invoice, Subscription } from '../model';
import { act, type Done, type World, WorldError } from '../world';
import { createInvoice } from './invoices';
import { liveSubscription } from './live';
import { addIntervals } from './period';
import { endsWithPeriod, updateSubscription } from './subscriptions';

interface Invoiced {
  subscription: Subscription;
  /** A draft: Stripe finalizes it an hour later, `finalizeInvoice` when called. */
  invoice: Invoice;
}

export interface SubscriptionInvoiceOptions {
  tax?: number;
  dueDate?: number | null;
  billingReason?: Invoice['billingReason'];
}

/** An invoice over the current period → invoice.created, customer.subscription.updated (its latest_invoice) */
export function invoiceSubscription(
  world: World,
  id: string,
  options: SubscriptionInvoiceOptions = {},
): Done<Invoiced> {
  return act(world, () => {
    const subscription = liveSubscription(world, id);
    const invoice = draft(world, subscription, { billingReason: 'subscription_create', ...options });
    return { invoice, subscription: updateSubscription(world, id, { latestInvoice: invoice.id }).object };
  });
}

/**
 * The next period: every item moves on by its interval; a trial ends; one that was to be cancelled then is refused.
 * → invoice.created (a draft), customer.subscription.updated
 */
export function renewSubscription(
  world: World,
  id: string,
  options: SubscriptionInvoiceOptions = {},
): Done<Invoiced> {
  return act(world, () => {
    const before = liveSubscription(world, id);
    if (endsWithPeriod(before)) throw new WorldError(`The subscription ${id} ends with its period.`);
    const items = before.items.map((item) => ({
      ...item,
      currentPeriodStart: item.currentPeriodEnd,
      currentPeriodEnd: addIntervals(item.currentPeriodEnd, item.interval, item.intervalCount),
    }));
    const invoice = draft(world, { ...before, items }, { billingReason: 'subscription_cycle', ...options });
    const { object: subscription } = updateSubscription(world, id, {
      items,
      latestInvoice: invoice.id,
      ...(before.status === 'trialing' && { status: 'active' as const }),
    });
    return { invoice, subscription };
  });
}

function draft(world: World, subscription: Subscription, options: SubscriptionInvoiceOptions): Invoice {
  return createInvoice(world, {
    customer: subscription.customer,
    subscription: subscription.id,
    currency: subscription.currency,
    ...options,
    lines: subscription.items.map((item) => ({
      amount: item.unitAmount * item.quantity,
      description: `${item.quantity} × ${item.priceId}`,
      quantity: item.quantity,
      priceId: item.priceId,
      subscriptionItem: item.id,
      periodStart: item.currentPeriodStart,
      periodEnd: item.currentPeriodEnd,
    })),
  }).object;
}
