import { Alert, Group, Text } from '@mantine/core';
import type { listSameEmail } from '@/lib/sync/staff/unconfirmed-links';
import { SubmitButton } from '../../../_components/forms/submit-button';
import { linkTo } from './actions';

interface Props {
  id: string;
  customerId: number;
  /** The customers with its e-mail address. */
  same: Awaited<ReturnType<typeof listSameEmail>>;
}

/** Asks whether a customer that was created for Stripe is a new one indeed. */
export function IsNew({ id, customerId, same }: Props) {
  return (
    <Alert color="orange" variant="light" mb="lg" title="This customer was created from Stripe">
      <Text size="sm">
        No customer had its number. Confirm that it is new, or link it to an existing customer.
        {same.length > 0 && ' Payers type their e-mail address, so a match does not prove who paid.'}
      </Text>
      <Group mt="sm">
        {same.map(({ id: to, customer_number, name, is_created }) => (
          <form key={to} action={linkTo.bind(null, id, { from: customerId, to })}>
            <SubmitButton>
              {`It is ${name ? `${name} (${customer_number})` : customer_number}, same e-mail${is_created ? ', also created from Stripe' : ''}`}
            </SubmitButton>
          </form>
        ))}
        <form action={linkTo.bind(null, id, { from: customerId, to: customerId })}>
          <SubmitButton variant="default">It is a new customer</SubmitButton>
        </form>
      </Group>
    </Alert>
  );
}
