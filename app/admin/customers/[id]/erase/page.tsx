import { Alert, Box, List, ListItem } from '@mantine/core';
import { notFound } from 'next/navigation';
import { requireAdmin } from '@/lib/auth/staff-session';
import { getCustomer } from '@/lib/customers/queries';
import { CONSEQUENCES, requireErasable } from '@/lib/erasure/erase-customer';
import { AppError } from '@/lib/errors';
import { getRuntime } from '@/lib/runtime';
import { toId } from '../../../../_components/search-params';
import { PageHeader } from '../../../_components/page/page-header';
import { titleOfRow } from '../../../_components/page/title-of';
import { erase } from '../../admin-actions';
import { EraseForm } from '../../customer-forms';

export const generateMetadata = titleOfRow('Erase a customer', async (db, id) => {
  const customer = await getCustomer(db, { id });
  return customer && `Erase ${customer.name || customer.customer_number}`;
});

/** Says what it means before it takes the customer's number for a yes. */
export default async function ErasePage({ params }: { params: Promise<{ id: string }> }) {
  await requireAdmin();
  const id = toId((await params).id) ?? notFound();
  const { db } = await getRuntime();
  const customer = (await getCustomer(db, { id })) ?? notFound();
  const refused = await requireErasable(db, id).then(
    () => null,
    (error: unknown) => {
      if (!(error instanceof AppError)) throw error;
      return error.message;
    },
  );
  const [number, href] = [customer.customer_number, `/admin/customers/${id}`];
  return (
    <Box maw={600}>
      <PageHeader
        back={{ href, label: customer.name || number }}
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
          <EraseForm action={erase.bind(null, id)} number={number} back={href} />
        </>
      )}
    </Box>
  );
}
