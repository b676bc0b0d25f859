import type { StaffPage } from '@/lib/counted-list/sorted-page';
import { comingPresets, toCalendarDate } from '@/lib/dates';
import { toJsonAmount } from '@/lib/money';
import type { Runtime } from '@/lib/runtime';
import type { ServiceRow } from '@/lib/services/queries';
import { type Days, listServiceRenewals, RENEWING, renewalFilters } from '@/lib/services/renewals';
import { type ItemRenewal, listItemRenewals, renewalsCsv } from '@/lib/subscriptions/list';
import { formatCustomer, formatDate, formatMoney } from '../../_components/format';
import { StatusBadge } from '../_components/display/values';
import { choiceOf, declareList } from '../_components/lists/list-declaration';
import { type Column, RecordList } from '../_components/lists/record-list';
import { CustomerName } from '../_components/records/customer-link';
import { ServiceList } from '../_components/records/service-list';

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

/** Lists the subscription items that renew, each with its own day and amount. */
function ItemRenewalList({ rows }: { rows: ItemRenewal[] }) {
  return (
    <RecordList
      label="Renewals of subscriptions"
      rows={rows}
      hrefOf={({ subscription }) => `/admin/subscriptions/${subscription.id}`}
      nameOf={({ subscription }) => `Subscription ${subscription.id}`}
      columns={COLUMNS}
      entryOf={(row) => ({
        title: formatCustomer(row.customer),
        detail: [formatDate(row.day), row.service?.service_number].filter(Boolean).join(' · '),
        figure: amountOf(row),
        state: <StatusBadge status={row.subscription.status} />,
      })}
    />
  );
}

const COLUMNS: Column<ItemRenewal>[] = [
  { label: 'Customer', cell: ({ customer }) => <CustomerName customer={customer} /> },
  { label: 'Status', width: '12%', cell: ({ subscription: { status } }) => <StatusBadge status={status} /> },
  { label: 'Service', width: '18%', cell: ({ service }) => service?.service_number ?? '–', title: true },
  { label: 'Next billing', width: '14%', cell: ({ day }) => formatDate(day) },
  { label: 'Amount', width: '20%', align: 'right', cell: amountOf },
];

/** Returns an item's amount and interval, such as “€29.00 / month”. Returns a dash if the price has no fixed amount. */
function amountOf({ amount, currency, interval, interval_count }: ItemRenewal): string {
  if (amount === null || currency === null) return '–';
  const every = (interval_count ?? 1) > 1 ? `${interval_count} ${interval}s` : interval;
  return [formatMoney(toJsonAmount(amount), currency), every].filter(Boolean).join(' / ');
}
