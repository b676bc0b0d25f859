import type { CustomerRow, ServiceRow, StripeCustomerRow } from './rows';

/** A customer with what belongs to it. */
export interface Client {
  customer: CustomerRow;
  services: ServiceRow[];
  /** Who it is at Stripe, should Stripe bill it: one id, seldom two. */
  stripeIds: string[];
}

export function clientsOf(
  customers: CustomerRow[],
  services: ServiceRow[],
  stripeCustomers: StripeCustomerRow[],
): Client[] {
  const held = groupBy(services, ({ customer_id }) => customer_id);
  const known = groupBy(stripeCustomers, ({ customer_id }) => customer_id);
  return customers.map((customer) => ({
    customer,
    services: held.get(customer.id) ?? [],
    stripeIds: (known.get(customer.id) ?? []).map(({ stripe_customer_id }) => stripe_customer_id),
  }));
}

export function groupBy<K, T>(list: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of list) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
