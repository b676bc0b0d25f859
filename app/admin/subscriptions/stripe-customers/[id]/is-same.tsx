import { Alert, Text } from '@mantine/core';
import type { CustomerSnippet } from '@/lib/customers/schema';
import { SubmitButton } from '../../../_components/forms/submit-button';
import { linkTo } from './actions';

/** Asks whether a Stripe customer is the one whose e-mail address it has. */
export function IsSame({ id, customer }: { id: string; customer: CustomerSnippet }) {
  return (
    <Alert color="orange" variant="light" mb="lg" title="Matched by e-mail address only">
      <Text size="sm" mb="sm">
        Payers type their e-mail address. Until you confirm the link or choose another customer below, its
        subscriptions set no billing dates.
      </Text>
      <form action={linkTo.bind(null, id, { from: customer.id, to: customer.id })}>
        <SubmitButton>{`It is ${customer.name || customer.customer_number}`}</SubmitButton>
      </form>
    </Alert>
  );
}
