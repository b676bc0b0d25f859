import { Badge } from '@mantine/core';
import type { SubscriptionDetails } from '@/lib/subscriptions/queries';
import { CustomerName } from '../_components/customer-name';
import { nextBilling } from '../_components/next-billing';
import { type Column, RecordList } from '../_components/record-list';
import { StatusBadge } from '../_components/status-badge';

interface Props {
  subscriptions: SubscriptionDetails[];
  timeZone: string;
}

/** Subscriptions of several customers. */
export function SubscriptionList(props: Props) {
  return (
    <List
      {...props}
      columns={[CUSTOMER, ...restOf(props), ID]}
      titleOf={({ customer }) => customer.name || customer.customer_number}
    />
  );
}

/** Those of one. */
export function OwnSubscriptionList(props: Props) {
  return <List {...props} columns={[NAME, ...restOf(props)]} titleOf={({ id }) => `Subscription ${id}`} />;
}

interface ListProps extends Props {
  columns: Column<SubscriptionDetails>[];
  titleOf(subscription: SubscriptionDetails): string;
}

function List({ subscriptions, timeZone, columns, titleOf }: ListProps) {
  return (
    <RecordList
      label="Subscriptions"
      rows={subscriptions}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/admin/subscriptions/${id}`}
      columns={columns}
      entryOf={(subscription) => ({
        title: titleOf(subscription),
        detail: (
          <>
            {nextBilling(subscription, timeZone)} · <Services subscription={subscription} />
          </>
        ),
        state: <StatusBadge status={subscription.status} />,
      })}
    />
  );
}

const CUSTOMER: Column<SubscriptionDetails> = {
  label: 'Customer',
  cell: ({ customer }) => <CustomerName customer={customer} />,
};

const NAME: Column<SubscriptionDetails> = {
  label: 'Subscription',
  cell: ({ id }) => <strong>{`Subscription ${id}`}</strong>,
};

const restOf = ({ timeZone }: Props): Column<SubscriptionDetails>[] => [
  { label: 'Status', width: '13%', cell: ({ status }) => <StatusBadge status={status} /> },
  { label: 'Services', width: '28%', cell: (subscription) => <Services subscription={subscription} /> },
  { label: 'Next billing', width: '15%', cell: (subscription) => nextBilling(subscription, timeZone) },
];

const ID: Column<SubscriptionDetails> = { label: 'ID', width: '9%', align: 'right', cell: ({ id }) => id };

/** What its items pay for; an item without a service stands out while customers go on paying for it. */
function Services({ subscription: { items, status } }: { subscription: SubscriptionDetails }) {
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
