import {
  Badge,
  Box,
  Group,
  Stack,
  Table,
  TableTbody,
  TableTd,
  TableTh,
  TableThead,
  TableTr,
  Text,
} from '@mantine/core';
import Link from 'next/link';
import type { SubscriptionDetails } from '@/lib/subscriptions/queries';
import { formatDate } from '../../_components/format';
import classes from '../_components/list.module.css';
import { StatusBadge } from '../_components/status-badge';

interface Props {
  subscriptions: SubscriptionDetails[];
}

/** Subscriptions as a table, on a narrow screen as a list. */
export function SubscriptionList({ subscriptions }: Props) {
  return (
    <>
      <Box visibleFrom="sm">
        <WideList subscriptions={subscriptions} />
      </Box>
      <Box hiddenFrom="sm">
        {subscriptions.map((subscription) => (
          <NarrowEntry key={subscription.id} subscription={subscription} />
        ))}
      </Box>
    </>
  );
}

function WideList({ subscriptions }: Props) {
  return (
    <Table className={classes.table ?? ''} layout="fixed" highlightOnHover>
      <TableThead>
        <TableTr>
          <TableTh>Customer</TableTh>
          <TableTh w="13%">Status</TableTh>
          <TableTh w="28%">Services</TableTh>
          <TableTh w="15%">Next billing</TableTh>
          <TableTh w="9%" ta="right">
            ID
          </TableTh>
        </TableTr>
      </TableThead>
      <TableTbody>
        {subscriptions.map((subscription) => (
          <TableTr key={subscription.id} className={classes.row ?? ''}>
            <TableTd className="one-line">
              <Link href={`/admin/subscriptions/${subscription.id}`} className={classes.cover}>
                <Text span size="sm" fw={500}>
                  {nameOf(subscription)}
                </Text>
              </Link>{' '}
              <Text span size="xs" c="dimmed">
                {subscription.customer.customer_number}
              </Text>
            </TableTd>
            <TableTd>
              <StatusBadge status={subscription.status} />
            </TableTd>
            <TableTd className="one-line">
              <Services subscription={subscription} />
            </TableTd>
            <TableTd className="figures">{nextBilling(subscription)}</TableTd>
            <TableTd ta="right" className="figures">
              {subscription.id}
            </TableTd>
          </TableTr>
        ))}
      </TableTbody>
    </Table>
  );
}

function NarrowEntry({ subscription }: { subscription: SubscriptionDetails }) {
  return (
    <Link href={`/admin/subscriptions/${subscription.id}`} className={classes.entry}>
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Stack gap={2} miw={0}>
          <Text size="sm" fw={500} truncate>
            {nameOf(subscription)}
          </Text>
          <Text size="xs" c="dimmed" component="div" truncate>
            <Services subscription={subscription} />
          </Text>
        </Stack>
        <Stack gap={4} align="flex-end" flex="none">
          <StatusBadge status={subscription.status} />
          <Text size="xs" c="dimmed">
            {nextBilling(subscription)}
          </Text>
        </Stack>
      </Group>
    </Link>
  );
}

/** What its items pay for; an item without a service stands out while customers go on paying for it. */
function Services({ subscription: { items, status } }: { subscription: SubscriptionDetails }) {
  const numbers = items.map((item) => item.service?.service_number).filter(Boolean);
  const unlinked = status === 'cancelled' ? 0 : items.length - numbers.length;
  return (
    <Group gap={8} wrap="nowrap" component="span">
      {numbers.length > 0 && (
        <Text span inherit truncate>
          {numbers.join(', ')}
        </Text>
      )}
      {unlinked > 0 && (
        <Badge variant="light" radius="sm" tt="none" fw={500} color="orange" flex="none">
          {unlinked} not linked
        </Badge>
      )}
      {items.length === 0 && '–'}
    </Group>
  );
}

function nameOf({ customer }: SubscriptionDetails): string {
  return customer.name || customer.customer_number;
}

function nextBilling({ status, next_billing_date, cancel_at_period_end }: SubscriptionDetails): string {
  if (status === 'cancelled' || !next_billing_date) return '–';
  return cancel_at_period_end ? `Ends ${formatDate(next_billing_date)}` : formatDate(next_billing_date);
}
