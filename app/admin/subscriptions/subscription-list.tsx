import { Badge } from '@mantine/core';
import type { LinkedBy } from '@/lib/customers/sure-link';
import { toJsonAmount } from '@/lib/money';
import type { ListedSubscription } from '@/lib/subscriptions/list';
import type { SubscriptionItem } from '@/lib/subscriptions/queries';
import { formatCustomer, formatMoney } from '../../_components/format';
import { nextBilling, StatusBadge, TwoLines } from '../_components/display/values';
import { type Column, RecordList, type RecordRows } from '../_components/lists/record-list';
import { CustomerName } from '../_components/records/customer-link';

interface Props extends RecordRows<ListedSubscription> {
  timeZone: string;
}

/** Shows a list of subscriptions. If `isOwn` is true, shows the subscription's id instead of the customer. */
export function SubscriptionList({ rows, timeZone, isOwn = false, sorting }: Props) {
  return (
    <RecordList
      label="Subscriptions"
      rows={rows}
      hrefOf={({ id }) => `/admin/subscriptions/${id}`}
      nameOf={nameOf}
      columns={[isOwn ? NAME : CUSTOMER, ...restOf(timeZone)]}
      entryOf={(subscription) => ({
        title: isOwn ? nameOf(subscription) : formatCustomer(subscription.customer),
        detail: (
          <>
            {nextBilling(subscription, timeZone)} · <Services subscription={subscription} />
          </>
        ),
        figure: amountOf(subscription),
        state: <StatusBadge status={subscription.status} />,
      })}
      sorting={sorting}
    />
  );
}

const nameOf = ({ id }: ListedSubscription) => `Subscription ${id}`;

const CUSTOMER: Column<ListedSubscription> = {
  label: 'Customer',
  cell: ({ customer }) => <CustomerName customer={customer} />,
};

const NAME: Column<ListedSubscription> = {
  label: 'Subscription',
  cell: (subscription) => <strong>{nameOf(subscription)}</strong>,
};

const restOf = (timeZone: string): Column<ListedSubscription>[] => [
  { label: 'Status', width: '12%', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    label: 'Services',
    width: '28%',
    cell: (subscription) => <Services subscription={subscription} />,
    title: ({ items }) => items.map(({ service }) => service?.service_number).join(', '),
  },
  {
    label: 'Next billing',
    width: '14%',
    sort: 'next-billing',
    cell: (subscription) => nextBilling(subscription, timeZone),
  },
  { label: 'Amount', width: '16%', align: 'right', cell: amountOf },
];

/** Renders the billed amount, and below it the unpaid amount if there is one. */
function amountOf(subscription: ListedSubscription) {
  const billed = billedText(subscription.items) ?? '–';
  const unpaid = subscription.unpaid.map(({ due, currency }) => formatMoney(due, currency)).join(' + ');
  return unpaid ? <TwoLines below={`${unpaid} unpaid`}>{billed}</TwoLines> : billed;
}

/** Shows the services that the items pay for, and counts items without a service unless the subscription has ended. */
function Services({ subscription: { items, status } }: { subscription: ListedSubscription }) {
  if (items.length === 0) return '–';
  const numbers = items.map((item) => item.service?.service_number).filter(Boolean);
  const unlinked = status === 'cancelled' ? 0 : items.length - numbers.length;
  return (
    <>
      {unlinked > 0 && (
        <Badge variant="light" radius="sm" tt="none" fw={500} color="orange" mr={8}>
          {unlinked} not linked
        </Badge>
      )}
      {numbers.join(', ')}
    </>
  );
}

type Billed = Pick<SubscriptionItem, 'amount' | 'currency' | 'interval' | 'interval_count'>;

/**
 * Returns the billed amount ("€29.00 / month"). Returns null if there are no items, if an amount is unknown, or if
 * currencies or intervals differ.
 */
function billedText(items: Billed[]): string | null {
  const [first] = items;
  if (!first?.currency) return null;
  const { currency, interval, interval_count } = first;
  const isAlike = (item: Billed) =>
    item.amount !== null &&
    item.currency === currency &&
    item.interval === interval &&
    item.interval_count === interval_count;
  if (!items.every(isAlike)) return null;
  const sum = items.reduce((total, { amount }) => total + toJsonAmount(amount ?? '0'), 0);
  const every = (interval_count ?? 1) > 1 ? `${interval_count} ${interval}s` : interval;
  return [formatMoney(sum, currency), every].filter(Boolean).join(' / ');
}

/** Text for each way in which a Stripe customer was linked to a customer. */
export const LINKED_BY: Record<LinkedBy, string> = {
  staff: 'Decision by staff',
  number: 'Customer number at Stripe',
  email: 'E-mail address only (not certain)',
  created: 'No match: customer created from Stripe',
};
