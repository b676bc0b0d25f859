import { Group, List, ListItem, Stack, Text } from '@mantine/core';
import type { CustomerRow } from '@/lib/customers/schema';
import { getRuntime } from '@/lib/runtime';
import { type getStripeCustomer, listItemsOfOthers } from '@/lib/sync/staff/stripe-customer-queries';
import { formatCount } from '../../../../_components/format';
import { LinkButton } from '../../../../_components/links';
import { SubmitButton } from '../../../_components/forms/submit-button';
import { linkTo } from './actions';

type StripeCustomer = Awaited<ReturnType<typeof getStripeCustomer>>;

interface Props {
  held: StripeCustomer;
  target: CustomerRow;
  path: string;
}

/** What the link will do, before it is done. */
export async function Confirmation({ held, target, path }: Props) {
  const { db } = await getRuntime();
  const { stripe_customer_id: id, customer_id: from } = held;
  const stays = from === target.id;
  const unlinked = stays ? [] : await listItemsOfOthers(db, id, target.id);
  const sentences = stays
    ? [`It stays with ${nameOf(target)}. Nothing moves.`]
    : movesOf(
        held,
        target,
        unlinked.map(({ service_number }) => service_number),
      );
  return (
    <Stack p="md" gap="sm">
      <List size="sm" spacing={4}>
        {[...sentences, 'Later reports from Stripe do not change your decision.'].map((sentence) => (
          <ListItem key={sentence} className="break-anywhere">
            {sentence}
          </ListItem>
        ))}
      </List>
      <Group gap="xs">
        <form action={linkTo.bind(null, id, { from, to: target.id })}>
          <SubmitButton>{stays ? 'Confirm the link' : `Link to ${target.customer_number}`}</SubmitButton>
        </form>
        <LinkButton href={path} size="sm" variant="subtle">
          Cancel
        </LinkButton>
      </Group>
      {target.status !== 'active' && (
        <Text size="sm" c="dimmed">
          {`${nameOf(target)} is ${target.status}.`}
        </Text>
      )}
    </Stack>
  );
}

function movesOf(held: StripeCustomer, target: CustomerRow, unlinked: string[]): string[] {
  const { customer } = held;
  const moving = [
    formatCount(held.subscriptions, 'subscription'),
    formatCount(held.invoices, 'invoice'),
    formatCount(held.payments, 'payment'),
  ];
  return [
    `${moving.join(', ').replace(/, (?=[^,]*$)/, ' and ')} move from ${nameOf(customer)} to ${nameOf(target)}.`,
    `Services and documents stay with ${nameOf(customer)}.`,
    ...(unlinked.length > 0 ? [`Items are no longer linked to ${listOf([...new Set(unlinked)])}.`] : []),
    ...(held.linked_by === 'created'
      ? [
          `${customer.customer_number} was created for this Stripe customer: it is deleted if it has no other records.`,
        ]
      : []),
  ];
}

/** At most ten of them. */
function listOf(numbers: string[]): string {
  const more = numbers.length - 10;
  return more > 0 ? `${numbers.slice(0, 10).join(', ')} and ${more} more services` : numbers.join(', ');
}

function nameOf({ name, customer_number }: { name: string; customer_number: string }): string {
  return name ? `${name} (${customer_number})` : customer_number;
}
