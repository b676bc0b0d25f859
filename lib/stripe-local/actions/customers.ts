import type { Address, Customer, Metadata } from '../model';
import { act, type Done, emit, epochNow, newId, type World } from '../world';
import { hasEnded, liveCustomer } from './live';
import { cancelSubscription } from './subscriptions';

export interface CustomerInput {
  email?: string | null;
  name?: string | null;
  address?: Address | null;
  metadata?: Metadata;
}

/** → customer.created */
export function createCustomer(world: World, input: CustomerInput = {}): Done<Customer> {
  return act(world, () => {
    const id = newId(world, 'cus_');
    const customer = world.customers.put({
      object: 'customer',
      id,
      created: epochNow(world),
      email: input.email ?? null,
      name: input.name ?? null,
      address: input.address ?? null,
      metadata: input.metadata ?? {},
      deleted: false,
      invoicePrefix: invoicePrefix(id),
      nextInvoiceSequence: 1,
    });
    emit(world, 'customer.created', customer);
    return customer;
  });
}

/** → customer.updated */
export function updateCustomer(world: World, id: string, patch: CustomerInput): Done<Customer> {
  return act(world, () => {
    const before = liveCustomer(world, id);
    const customer = world.customers.put({ ...before, ...patch });
    emit(world, 'customer.updated', customer, before);
    return customer;
  });
}

/** Cancels its subscriptions, as Stripe does → customer.subscription.deleted…, customer.deleted */
export function deleteCustomer(world: World, id: string): Done<Customer> {
  return act(world, () => {
    const before = liveCustomer(world, id);
    for (const subscription of [...world.subscriptions.where('customer', id)]) {
      if (!hasEnded(subscription)) cancelSubscription(world, subscription.id);
    }
    const customer = world.customers.put({ ...before, deleted: true });
    emit(world, 'customer.deleted', before);
    return customer;
  });
}

/** What the numbers of a customer's invoices start with. */
export function invoicePrefix(customerId: string): string {
  return customerId.slice(-8).toUpperCase();
}
