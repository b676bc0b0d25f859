import { Alert, Box, List, ListItem } from '@mantine/core';
import { notFound } from 'next/navigation';
import { getCustomer } from '@/lib/customers/queries';
import { CONSEQUENCES, requireErasable } from '@/lib/erasure/erase-customer';
import { AppError } from '@/lib/errors';
import { formatCustomer } from '../../../../_components/format';
import { ActionForm } from '../../../_components/forms/form';
import { PageHeader } from '../../../_components/page/page-header';
import { adminPage, rowIdIn } from '../../../_components/page/staff-page';
import { titleOfRow } from '../../../_components/page/title-of';
import { erase } from '../../admin-actions';

export const generateMetadata = titleOfRow('Erase a customer', async (db, id) => {
  const customer = await getCustomer(db, { id });
  return customer && `Erase ${formatCustomer(customer)}`;
});

/** Explains the consequences of an erasure, and asks for the customer's number as confirmation. */
export default adminPage<{ id: string }>(async ({ params, runtime: { db } }) => {
  const id = rowIdIn(params);
  const customer = (await getCustomer(db, { id })) ?? notFound();
  const refused = await requireErasable(db, id).then(
    () => null,
    (error: unknown) => {
      if (error instanceof AppError) return error.message;
      throw error;
    },
  );
  const [number, href] = [customer.customer_number, `/admin/customers/${id}`];
  return (
    <Box maw={600}>
      <PageHeader
        back={{ href, label: formatCustomer(customer) }}
        title="Erase this customer"
        description={[customer.name, number].filter(Boolean).join(', ')}
      />
      {refused ? (
        <Alert color="orange" variant="light">
          {refused}
        </Alert>
      ) : (
        <>
          <List spacing="xs" mb="lg">
            {CONSEQUENCES.map((sentence) => (
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
    </Box>
  );
});
