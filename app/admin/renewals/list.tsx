import type { StaffPage } from '@/lib/counted-list/sorted-page';
import { comingPresets, toCalendarDate } from '@/lib/dates';
import type { Runtime } from '@/lib/runtime';
import type { ServiceRow } from '@/lib/services/queries';
import { type Days, listServiceRenewals, RENEWING, renewalFilters } from '@/lib/services/renewals';
import { type ItemRenewal, listItemRenewals, renewalsCsv } from '@/lib/subscriptions/list';
import { choiceOf, declareList } from '../_components/lists/list-declaration';
import { ServiceList } from '../_components/records/service-list';
import { ItemRenewalList } from './item-renewal-list';

type Renewing = ServiceRow | ItemRenewal;

export const RENEWALS = declareList({
  title: 'Renewals',
  description:
    'By next billing date, from today on unless you choose other dates. Each item of a subscription has its own date, and the sums leave out items without a fixed amount.',
  path: '/admin/renewals',
  noun: 'renewal',
  yet: 'Active services and items of live subscriptions appear here as soon as they have a billing date.',
  source: {
    schema: renewalFilters,
    read: (db, filters, { start }, runtime): Promise<StaffPage<Renewing>> => {
      const read = filters.of === 'subscriptions' ? listItemRenewals : listServiceRenewals;
      return read(db, daysOf(filters, runtime), start, filters.per_page);
    },
    csv: (db, filters, runtime) => renewalsCsv(db, daysOf(filters, runtime), filters.of ?? 'services'),
  },
  fields: (today) => [
    { name: 'from', label: 'Next billing', presets: comingPresets(today) },
    { name: 'of', label: 'Show', options: choiceOf(RENEWING) },
  ],
  Rows: ({ rows }) => {
    const items = rows.filter(isItem);
    return items.length > 0 ? (
      <ItemRenewalList rows={items} />
    ) : (
      <ServiceList rows={rows.filter(isService)} />
    );
  },
});

const isItem = (row: Renewing): row is ItemRenewal => 'subscription' in row;
const isService = (row: Renewing): row is ServiceRow => 'service_number' in row;

/** Returns the days whose renewals the page shows: the range of the filter, or all days from today on. */
export function daysOf({ from, to }: Days, { env, now }: Runtime): Days {
  return from || to ? { from, to } : { from: toCalendarDate(now(), env.timeZone) };
}
