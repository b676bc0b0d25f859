import type { Customer, Invoice, Subscription } from '../model';
import { getFrom, type World, WorldError } from '../world';

/** @throws WorldError if the customer does not exist or was deleted */
export function liveCustomer(world: World, id: string): Customer {
  const customer = getFrom(world.customers, id, 'customer');
  if (customer.deleted) throw new WorldError(`No such customer: '${id}'`);
  return customer;
}

/** @throws WorldError if the subscription does not exist or has ended */
export function liveSubscription(world: World, id: string): Subscription {
  const subscription = getFrom(world.subscriptions, id, 'subscription');
  if (hasEnded(subscription)) {
    throw new WorldError(`The subscription ${id} is ${subscription.status} and cannot be changed.`);
  }
  return subscription;
}

export function hasEnded(subscription: Subscription): boolean {
  return subscription.status === 'canceled' || subscription.status === 'incomplete_expired';
}

/** @throws WorldError if the invoice does not exist or has another status */
export function invoiceThatIs(world: World, id: string, ...statuses: Invoice['status'][]): Invoice {
  const invoice = getFrom(world.invoices, id, 'invoice');
  if (!statuses.includes(invoice.status)) {
    throw new WorldError(
      `The invoice ${invoice.number ?? id} is ${invoice.status}, not ${statuses.join(' or ')}.`,
    );
  }
  return invoice;
}
