import type { Chance } from './chance';
import type { CustomerRow, ServiceRow } from './rows';

/** Services of one customer that one subscription may hold: billed together, in the same state. */
export interface Bundle {
  customer: CustomerRow;
  services: ServiceRow[];
}

export type BundleState = 'order' | 'running' | 'suspended' | 'ended';

const STATES: Record<ServiceRow['status'], BundleState | null> = {
  draft: null,
  order: 'order',
  active: 'running',
  suspended: 'suspended',
  cancelled: 'ended',
  terminated: 'ended',
};

/** Every service that is billed at intervals, in bundles of one to three, in chance order. */
export function bundleServices(
  chance: Chance,
  customers: CustomerRow[],
  services: ServiceRow[],
): Record<BundleState, Bundle[]> {
  const bundles: Record<BundleState, Bundle[]> = { order: [], running: [], suspended: [], ended: [] };
  const byId = new Map(customers.map((customer) => [customer.id, customer]));
  const billed = services.filter(({ billing_interval }) => billing_interval !== 'once');
  const key = (service: ServiceRow) =>
    [service.customer_id, service.billing_interval, STATES[service.status]].join();
  for (const group of groupBy(billed, key)) {
    const state = group[0] && STATES[group[0].status];
    const customer = group[0] && byId.get(group[0].customer_id);
    if (!state || !customer) continue;
    for (let from = 0; from < group.length; ) {
      const size = Number(chance.weighted({ 1: 20, 2: 45, 3: 35 }));
      bundles[state].push({ customer, services: group.slice(from, from + size) });
      from += size;
    }
  }
  return {
    order: chance.shuffle(bundles.order),
    running: chance.shuffle(bundles.running),
    suspended: chance.shuffle(bundles.suspended),
    ended: chance.shuffle(bundles.ended),
  };
}

export function groupBy<T>(list: readonly T[], keyOf: (item: T) => string | number): T[][] {
  const groups = new Map<string | number, T[]>();
  for (const item of list) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return [...groups.values()];
}
