import { Alert, List, ListItem } from '@mantine/core';
import { formatCustomer } from '@/app/_components/format';
import { consequencesOf, requireErasable } from '@/lib/erasure/erase-customer';
import { AppError } from '@/lib/errors';
import { getRuntime } from '@/lib/runtime';
import { ActionForm } from '../../../_components/forms/form';
import { adminRecordPage, FormPage, titleOfRow } from '../../../_components/page/staff-page';
import { erase } from '../../admin-actions';
import { readCustomer } from '../../form-parts';

export const generateMetadata = titleOfRow(
  'Erase a customer',
  readCustomer,
  (one) => `Erase ${formatCustomer(one)}`,
);

/** Explains an erasure and asks for the customer's number as confirmation, or says why the erasure is refused. */
export default adminRecordPage(readCustomer, async (customer, { id, db }) => {
  const refused = await requireErasable(db, id).then(
    () => null,
    (error: unknown) => {
      if (error instanceof AppError) return error.message;
      throw error;
    },
  );
  const { env } = await getRuntime();
  const consequences = refused === null ? await consequencesOf(db, id, env.documentRetentionYears) : [];
  const [number, href] = [customer.customer_number, `/admin/customers/${id}`];
  return (
    <FormPage
      back={{ href, label: formatCustomer(customer) }}
      title="Erase this customer"
      description={[customer.name, number].filter(Boolean).join(', ')}
    >
      {refused ? (
        <Alert color="orange" variant="light">
          {refused}
        </Alert>
      ) : (
        <>
          <List spacing="xs" mb="lg">
            {consequences.map((sentence) => (
              <ListItem key={sentence}>{sentence}</ListItem>
            ))}
          </List>
          <ActionForm
            label="Erase"
            isSheet
            action={erase.bind(null, id)}
            fields={[
              {
                name: 'customer_number',
                label: 'Customer number',
                description: `Type ${number} to confirm.`,
                required: true,
                withAsterisk: true,
              },
            ]}
            submit="Erase customer"
            cancel={href}
            button={{ color: 'red.9' }}
          />
        </>
      )}
    </FormPage>
  );
});
