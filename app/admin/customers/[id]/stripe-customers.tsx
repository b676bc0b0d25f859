import { Text } from '@mantine/core';
import type { listStripeCustomersOf } from '@/lib/sync/staff/stripe-customer-queries';
import { RecordList } from '../../_components/lists/record-list';
import { Section } from '../../_components/page/section';
import { LINKED_BY } from '../../subscriptions/linked-by';

interface Props {
  stripeCustomers: Awaited<ReturnType<typeof listStripeCustomersOf>>;
}

/** Who the customer is at Stripe. */
export function StripeCustomers({ stripeCustomers }: Props) {
  return (
    <Section title="Stripe">
      {stripeCustomers.length > 0 ? (
        <RecordList
          label="Stripe customers"
          rows={stripeCustomers}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => `/admin/subscriptions/stripe-customers/${id}`}
          columns={[
            { label: 'Stripe customer', cell: ({ id }) => id },
            {
              label: 'Matched by',
              width: '55%',
              wraps: true,
              cell: (row) => LINKED_BY[row.linked_by],
            },
          ]}
          entryOf={(row) => ({ title: row.id, detail: LINKED_BY[row.linked_by] })}
        />
      ) : (
        <Text size="sm" c="dimmed" p="md">
          No Stripe customer is linked.
        </Text>
      )}
    </Section>
  );
}
