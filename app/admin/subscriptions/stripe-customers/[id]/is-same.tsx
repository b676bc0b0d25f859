import { Alert, Text } from '@mantine/core';
import type { CustomerSnippet } from '@/lib/customers/schema';
import { SubmitButton } from '../../../_components/submit-button';
import { linkTo } from './actions';

/** Asks whether a Stripe customer is the one whose e-mail address it has. */
export function IsSame({ id, customer }: { id: string; customer: CustomerSnippet }) {
  return (
    <Alert color="orange" variant="light" mb="lg" title="Only its e-mail address says whose it is">
      <Text size="sm" mb="sm">
        A payer types it. Until you confirm the link, or link it to another customer below, its subscriptions
        date no services.
      </Text>
      <form action={linkTo.bind(null, id, { from: customer.id, to: customer.id })}>
        <SubmitButton>{`It is ${customer.name || customer.customer_number}`}</SubmitButton>
      </form>
    </Alert>
  );
}
