import type { StaffPage } from '@/lib/counted-list/sorted-page';
import { comingPresets, toCalendarDate } from '@/lib/dates';
import type { Runtime } from '@/lib/runtime';
import type { ServiceRow } from '@/lib/services/queries';
import { type Days, listServiceRenewals, RENEWING, renewalFilters } from '@/lib/services/renewals';
import { type ListedSubscription, listSubscriptionRenewals, renewalsCsv } from '@/lib/subscriptions/list';
import { choiceOf, declareList } from '../_components/lists/list-declaration';
import { ServiceList } from '../_components/records/service-list';
import { SubscriptionList } from '../subscriptions/subscription-list';

type Renewing = ServiceRow | ListedSubscription;

export const RENEWALS = declareList({
  title: 'Renewals',
  description:
    'By next billing date, from today on unless you choose other dates. The sums count each item of a subscription on its own date.',
  path: '/admin/renewals',
  noun: 'renewal',
  yet: 'Active services and live subscriptions appear here as soon as they have a billing date.',
  source: {
    schema: renewalFilters,
    read: (db, filters, { start }, runtime): Promise<StaffPage<Renewing>> => {
      const read = filters.of === 'subscriptions' ? listSubscriptionRenewals : listServiceRenewals;
      return read(db, daysOf(filters, runtime), start, filters.per_page);
    },
    csv: (db, filters, runtime) => renewalsCsv(db, daysOf(filters, runtime), filters.of ?? 'services'),
  },
  fields: (today) => [
    { name: 'from', label: 'Next billing', presets: comingPresets(today) },
    { name: 'of', label: 'Show', options: choiceOf(RENEWING) },
  ],
  Rows: ({ rows, timeZone }) => {
    const subscriptions = rows.filter(isSubscription);
    return subscriptions.length > 0 ? (
      <SubscriptionList rows={subscriptions} timeZone={timeZone} />
    ) : (
      <ServiceList rows={rows.filter(isService)} />
    );
  },
});

const isSubscription = (row: Renewing): row is ListedSubscription => 'items' in row;
const isService = (row: Renewing): row is ServiceRow => 'service_number' in row;

/** Returns the days whose renewals the page shows: the range of the filter, or all days from today on. */
export function daysOf({ from, to }: Days, { env, now }: Runtime): Days {
  return from || to ? { from, to } : { from: toCalendarDate(now(), env.timeZone) };
}
