import type { Chance } from './chance';
import { type Client, groupBy } from './clients';
import type { ServiceRow } from './rows';

type BundleState = 'order' | 'running' | 'suspended' | 'ended';

const STATES: Record<ServiceRow['status'], BundleState | null> = {
  draft: null,
  order: 'order',
  active: 'running',
  suspended: 'suspended',
  cancelled: 'ended',
  terminated: 'ended',
};

/**
 * Each client's services that are billed at intervals, in bundles of one to three that a subscription
 * may hold: billed together, in the same state. In chance order.
 */
export function bundleServices(chance: Chance, clients: Client[]): Record<BundleState, Client[]> {
  const bundles: Record<BundleState, Client[]> = { order: [], running: [], suspended: [], ended: [] };
  for (const client of clients) {
    const billed = client.services.filter(({ billing_interval }) => billing_interval !== 'once');
    const alike = groupBy(billed, ({ billing_interval, status }) => `${billing_interval} ${STATES[status]}`);
    for (const group of alike.values()) {
      const state = group[0] && STATES[group[0].status];
      if (state) bundles[state].push(...chunksOf(chance, group).map((services) => ({ ...client, services })));
    }
  }
  return {
    order: chance.shuffle(bundles.order),
    running: chance.shuffle(bundles.running),
    suspended: chance.shuffle(bundles.suspended),
    ended: chance.shuffle(bundles.ended),
  };
}

function chunksOf<T>(chance: Chance, list: T[]): T[][] {
  const chunks: T[][] = [];
  for (let rest = list; rest.length > 0; ) {
    const size = Number(chance.weighted({ 1: 20, 2: 45, 3: 35 }));
    chunks.push(rest.slice(0, size));
    rest = rest.slice(size);
  }
  return chunks;
}
