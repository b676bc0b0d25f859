import type { Database } from '@/db/database';
import { allPages } from '../counted-list/staff-list';
import { toCsv } from '../csv';
import type { PageStart } from '../cursor-page';
import { CUSTOMER_COLUMNS, inColumns } from '../customers/customer-columns';
import { toIso } from '../dates';
import type { SubscriptionFilters } from './filters';
import { type ListedSubscription, listSubscriptions } from './queries';

const BATCH = 1000;
const COLUMNS = [
  'id',
  'status',
  'next_billing_date',
  'cancel_at',
  'stripe_subscription_id',
  'stripe_customer_id',
  'services',
  'unpaid',
  ...CUSTOMER_COLUMNS,
];

/** The subscriptions that match as CSV, piece by piece, in the order of the list. */
export function subscriptionsCsv(db: Database, filters: SubscriptionFilters): AsyncGenerator<string> {
  return toCsv(COLUMNS, readRecords(db, filters));
}

async function* readRecords(db: Database, filters: SubscriptionFilters) {
  const read = (start: PageStart) => listSubscriptions(db, filters, { ...start, limit: BATCH });
  for await (const batch of allPages(read)) yield batch.map(toRecord);
}

function toRecord({ items, unpaid, ...row }: ListedSubscription) {
  return {
    ...inColumns(row),
    cancel_at: toIso(row.cancel_at),
    services: items.flatMap(({ service }) => service?.service_number ?? []).join(' '),
    unpaid: unpaid.map(({ due, currency }) => `${due} ${currency}`).join(' '),
  };
}
