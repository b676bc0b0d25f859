import { Text } from '@mantine/core';
import { getRuntime } from '@/lib/runtime';
import { listSubscriptionsOfService } from '@/lib/subscriptions/queries';
import { nextBilling } from '../../_components/display/next-billing';
import { StatusBadge } from '../../_components/display/status-badge';
import { RecordList } from '../../_components/lists/record-list';
import { Section } from '../../_components/page/section';

/** The subscriptions that bill a service. */
export async function ServiceBilling({ serviceId }: { serviceId: number }) {
  const { db, env } = await getRuntime();
  const subscriptions = await listSubscriptionsOfService(db, serviceId);
  return (
    <Section title="Billed by">
      {subscriptions.length > 0 ? (
        <RecordList
          label="Subscriptions"
          rows={subscriptions}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => `/admin/subscriptions/${id}`}
          columns={[
            { label: 'Subscription', cell: nameOf },
            { label: 'Status', width: '20%', cell: ({ status }) => <StatusBadge status={status} /> },
            { label: 'Next billing', width: '20%', cell: (row) => nextBilling(row, env.timeZone) },
          ]}
          entryOf={(row) => ({
            title: nameOf(row),
            detail: `Next billing: ${nextBilling(row, env.timeZone)}`,
            state: <StatusBadge status={row.status} />,
          })}
        />
      ) : (
        <Text size="sm" c="dimmed" p="md">
          No Stripe subscription bills this service.
        </Text>
      )}
    </Section>
  );
}

type Row = Awaited<ReturnType<typeof listSubscriptionsOfService>>[number];

function nameOf({ stripe_subscription_id, id }: Row): string {
  return stripe_subscription_id ?? `#${id}`;
}
