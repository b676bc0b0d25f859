import { Alert, Group, Text } from '@mantine/core';
import type { Obstacle, Reference } from '@/lib/sync/staff/link-subscription';
import { TextLink } from '../../../_components/links';
import { SubmitButton } from '../../_components/forms/submit-button';
import { adopt, decline } from './reference-actions';

const WHY: Record<Obstacle, string> = {
  customer_unsure: 'the link of its Stripe customer is not confirmed yet',
  other_customer: 'that subscription belongs to another customer',
  already_linked: 'that subscription is linked to another subscription at Stripe',
  cancelled: 'that subscription is cancelled',
  nothing_sold: 'there is no record of what was sold with that subscription',
  nothing_billed: 'Stripe has not yet reported what it bills',
  price_unknown: 'its price at Stripe has no fixed amount',
  price_differs: 'Stripe bills something other than what was sold',
};

/** What a subscription's checkout names, and why it has not become that. */
export function ReferenceNotice({ id, reference }: { id: number; reference: Reference }) {
  const { obstacle, canAdopt } = reference;
  return (
    <Alert color="orange" variant="light" title="Its checkout refers to another subscription">
      <Text size="sm">
        It refers to{' '}
        <TextLink href={`/admin/subscriptions/${reference.id}`}>subscription {reference.id}</TextLink>
        {`, but was not linked to it because ${obstacle ? WHY[obstacle] : 'Stripe has reported nothing since'}. Payers can enter any reference.`}
      </Text>
      <Group mt="sm">
        {canAdopt && (
          <form action={adopt.bind(null, id)}>
            <SubmitButton>{`It is subscription ${reference.id}`}</SubmitButton>
          </form>
        )}
        <form action={decline.bind(null, id)}>
          <SubmitButton variant="default">Leave it as it is</SubmitButton>
        </form>
      </Group>
    </Alert>
  );
}
