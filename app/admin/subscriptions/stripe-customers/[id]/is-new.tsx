import { Alert, Group, Text } from '@mantine/core';
import { SubmitButton } from '../../../_components/submit-button';
import { linkTo } from './actions';

/** Asks whether a customer that was created for Stripe is a new one indeed. */
export function IsNew({ id, customerId }: { id: string; customerId: number }) {
  return (
    <Alert color="orange" variant="light" mb="lg" title="This customer was created for Stripe">
      <Text size="sm">
        None of ours had its number or its e-mail address. Say that it is new, or link it to the customer that
        it is.
      </Text>
      <Group mt="sm">
        <form action={linkTo.bind(null, id, { from: customerId, to: customerId })}>
          <SubmitButton variant="default">It is a new customer</SubmitButton>
        </form>
      </Group>
    </Alert>
  );
}
