import { Badge } from '@mantine/core';
import type { SubscriptionDetails } from '@/lib/subscriptions/queries';
import { formatDate } from '../../_components/format';
import { CustomerName } from '../_components/customer-name';
import { type Column, RecordList } from '../_components/record-list';
import { StatusBadge } from '../_components/status-badge';

export function SubscriptionList({ subscriptions }: { subscriptions: SubscriptionDetails[] }) {
  return (
    <RecordList
      label="Subscriptions"
      rows={subscriptions}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/admin/subscriptions/${id}`}
      columns={COLUMNS}
      entryOf={(subscription) => ({
        title: subscription.customer.name || subscription.customer.customer_number,
        detail: (
          <>
            {nextBilling(subscription)} · <Services subscription={subscription} />
          </>
        ),
        state: <StatusBadge status={subscription.status} />,
      })}
    />
  );
}

const COLUMNS: Column<SubscriptionDetails>[] = [
  { label: 'Customer', cell: ({ customer }) => <CustomerName customer={customer} /> },
  { label: 'Status', width: '13%', cell: ({ status }) => <StatusBadge status={status} /> },
  { label: 'Services', width: '28%', cell: (subscription) => <Services subscription={subscription} /> },
  { label: 'Next billing', width: '15%', cell: nextBilling },
  { label: 'ID', width: '9%', align: 'right', cell: ({ id }) => id },
];

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

function nextBilling({ status, next_billing_date, cancel_at_period_end }: SubscriptionDetails): string {
  if (status === 'cancelled' || !next_billing_date) return '–';
  return cancel_at_period_end ? `Ends ${formatDate(next_billing_date)}` : formatDate(next_billing_date);
}
