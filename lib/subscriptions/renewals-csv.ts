import type { Database } from '@/db/database';
import { allPages } from '../counted-list/staff-list';
import { toCsv } from '../csv';
import { inColumns } from '../customers/customer-columns';
import { type Days, listServiceRenewals } from '../services/renewals';
import { listSubscriptionRenewals } from './renewals';

const BATCH = 1000;
const OF_SERVICES = ['next_billing_date', 'service_number', 'name', 'domain', 'price', 'currency'];
const OF_SUBSCRIPTIONS = ['next_billing_date', 'id', 'stripe_subscription_id', 'status', 'services'];
const OF_BOTH = ['customer_number', 'customer_name'];

/** What renews on some days as CSV, piece by piece. */
export function renewalsCsv(
  db: Database,
  days: Days,
  of: 'services' | 'subscriptions',
): AsyncGenerator<string> {
  return of === 'services'
    ? toCsv([...OF_SERVICES, ...OF_BOTH], readServices(db, days))
    : toCsv([...OF_SUBSCRIPTIONS, ...OF_BOTH], readSubscriptions(db, days));
}

async function* readServices(db: Database, days: Days) {
  for await (const batch of allPages((start) => listServiceRenewals(db, days, start, BATCH))) {
    yield batch.map(inColumns);
  }
}

async function* readSubscriptions(db: Database, days: Days) {
  for await (const batch of allPages((start) => listSubscriptionRenewals(db, days, start, BATCH))) {
    yield batch.map(({ items, ...row }) => ({
      ...inColumns(row),
      services: items.flatMap(({ service }) => service?.service_number ?? []).join(' '),
    }));
  }
}
