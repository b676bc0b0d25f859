import { titleOfRow } from '@/app/admin/_components/page/title-of';
import { editRecordPage } from '@/app/admin/record-form-pages';
import { getCustomer } from '@/lib/customers/queries';
import { customerParts } from '../../form-parts';

export const generateMetadata = titleOfRow('Edit customer', async (db, id) => {
  const customer = await getCustomer(db, { id });
  return customer && `Edit ${customer.name || customer.customer_number}`;
});

export default editRecordPage({
  form: 'customer',
  label: 'Customer',
  submit: 'Save',
  heading: async () => ({
    title: 'Edit customer',
    back: ({ customer_number }) => `Customer ${customer_number}`,
  }),
  parts: () => customerParts({ isNew: false }),
});
