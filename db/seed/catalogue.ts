import type { CustomerRow, ServiceRow, StripeCustomerRow } from './rows';

type ServiceType = ServiceRow['service_type'];

interface Product {
  name: string;
  /** Net price for a billing interval, in euro cents. */
  cents: number;
  interval: ServiceRow['billing_interval'];
}

const each =
  (interval: Product['interval']) =>
  (name: string, cents: number): Product => ({ name, cents, interval });
const [monthly, quarterly, yearly, once] = [each('month'), each('quarter'), each('year'), each('once')];

export const CATALOGUE: Record<ServiceType, Product[]> = {
  hosting: [
    monthly('Webhosting S', 490),
    monthly('Webhosting M', 990),
    monthly('Webhosting L', 1990),
    monthly('Managed WordPress', 2490),
    monthly('Managed Shop', 4990),
    quarterly('Reseller Hosting', 11_970),
    yearly('Webhosting S, yearly', 4900),
    yearly('E-Mail Hosting Business', 3900),
  ],
  domain: [
    yearly('Domain registration', 1490),
    yearly('Domain registration with DNSSEC', 1990),
    yearly('Premium domain', 8900),
  ],
  server: [
    monthly('Cloud Server CX2', 1290),
    monthly('Cloud Server CX4', 2490),
    monthly('Dedicated Server EX44', 5900),
    monthly('Dedicated Server EX101', 11_900),
    monthly('Managed Database', 8900),
    quarterly('Colocation 1U', 17_700),
  ],
  license: [
    monthly('Plesk Web Pro licence', 1490),
    monthly('cPanel Solo licence', 1890),
    monthly('Windows Server 2025 licence', 3200),
    yearly('Wildcard certificate', 9900),
    yearly('Backup software licence', 5900),
  ],
  service: [
    monthly('Managed Backup', 990),
    monthly('Monitoring 24/7', 1990),
    monthly('Priority support', 4900),
    quarterly('Firewall management', 14_700),
    once('Website migration', 14_900),
    once('Consulting hour', 11_900),
  ],
  other: [
    monthly('Additional IPv4 address', 290),
    monthly('Object storage 1 TB', 690),
    monthly('Load balancer', 590),
    quarterly('Content delivery network', 4470),
    once('Remote hands', 4900),
  ],
};

const PER_EURO: Record<string, number> = { eur: 1, usd: 1.1, gbp: 0.87, chf: 0.95, jpy: 1.6 };

/**
 * Converts a catalogue price in euro cents to minor units of a currency. In currencies other than the euro, the price
 * is rounded to ten minor units, as in price lists.
 */
export function priceIn(currency: string, cents: number): number {
  return currency === 'eur' ? cents : Math.round((cents * (PER_EURO[currency] ?? 1)) / 10) * 10;
}

/** A customer with their services and Stripe ids. */
export type Client = ReturnType<typeof clientsOf>[number];

export function clientsOf(
  customers: CustomerRow[],
  services: ServiceRow[],
  stripeCustomers: StripeCustomerRow[],
) {
  const held = groupBy(services, ({ customer_id }) => customer_id);
  const known = groupBy(stripeCustomers, ({ customer_id }) => customer_id);
  return customers.map((customer) => ({
    customer,
    services: held.get(customer.id) ?? [],
    /** Ids of the customer's Stripe customers. There is usually one, and rarely two. */
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
