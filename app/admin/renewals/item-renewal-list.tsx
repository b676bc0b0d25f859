import { toJsonAmount } from '@/lib/money';
import type { ItemRenewal } from '@/lib/subscriptions/list';
import { formatCustomer, formatDate, formatMoney } from '../../_components/format';
import { StatusBadge } from '../_components/display/values';
import { type Column, RecordList } from '../_components/lists/record-list';
import { CustomerName } from '../_components/records/customer-link';

/** Shows the subscription items that are billed again, each on its own day and with its own amount. */
export function ItemRenewalList({ rows }: { rows: ItemRenewal[] }) {
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

/** Returns an item's amount and interval, such as “€29.00 / month”. A dash if the price has no fixed amount. */
function amountOf({ amount, currency, interval, interval_count }: ItemRenewal): string {
  if (amount === null || currency === null) return '–';
  const every = (interval_count ?? 1) > 1 ? `${interval_count} ${interval}s` : interval;
  return [formatMoney(toJsonAmount(amount), currency), every].filter(Boolean).join(' / ');
}
