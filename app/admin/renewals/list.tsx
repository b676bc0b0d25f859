import { comingPresets, toCalendarDate } from '@/lib/dates';
import type { Runtime } from '@/lib/runtime';
import { type Days, listServiceRenewals, RENEWING, renewalFilters } from '@/lib/services/renewals';
import type { ServiceRow } from '@/lib/services/schema';
import type { ListedSubscription } from '@/lib/subscriptions/queries';
import { listSubscriptionRenewals, renewalsCsv } from '@/lib/subscriptions/renewals';
import { choiceOf, type ListDeclaration } from '../_components/lists/list-declaration';
import { ServiceList } from '../_components/records/service-list';
import { SubscriptionList } from '../subscriptions/subscription-list';

type Renewing = ServiceRow | ListedSubscription;

export const RENEWALS = {
  title: 'Renewals',
  description:
    'By next billing date, from today on unless you choose other dates. The sums count each item of a subscription on its own date.',
  path: '/admin/renewals',
  noun: 'renewal',
  yet: 'Active services and live subscriptions appear here as soon as they have a billing date.',
  schema: renewalFilters,
  fields: ({ today }) => [
    { name: 'from', label: 'Next billing', presets: comingPresets(today) },
    { name: 'of', label: 'Show', options: choiceOf(RENEWING) },
  ],
  read: (runtime, filters, { start }) => {
    const read = filters.of === 'subscriptions' ? listSubscriptionRenewals : listServiceRenewals;
    return read(runtime.db, daysOf(filters, runtime), start, filters.per_page);
  },
  Rows: ({ rows, timeZone }) => {
    const subscriptions = rows.filter(isSubscription);
    return subscriptions.length > 0 ? (
      <SubscriptionList subscriptions={subscriptions} timeZone={timeZone} />
    ) : (
      <ServiceList services={rows.filter(isService)} />
    );
  },
  csv: (runtime, filters) => renewalsCsv(runtime.db, daysOf(filters, runtime), filters.of ?? 'services'),
} satisfies ListDeclaration<typeof renewalFilters, Renewing>;

const isSubscription = (row: Renewing): row is ListedSubscription => 'items' in row;
const isService = (row: Renewing): row is ServiceRow => 'service_number' in row;

/** The days that renewals are of; without any, from today on. */
export function daysOf({ from, to }: Days, { env, now }: Runtime): Days {
  return from || to ? { from, to } : { from: toCalendarDate(now(), env.timeZone) };
}
