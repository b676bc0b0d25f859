import { titleOfRow } from '@/app/admin/_components/page/title-of';
import { editRecordPage } from '@/app/admin/record-form-pages';
import { getCustomer } from '@/lib/customers/queries';
import { typedCustomer } from '@/lib/customers/save-customers';
import { readTyped } from '@/lib/records/typed-record';
import { getRuntime } from '@/lib/runtime';
import { orNotFound } from '../../../../_components/or-not-found';
import { toId } from '../../../../_components/search-params';
import { FormPage } from '../../../_components/forms/record/form-page';
import { titleOfRow } from '../../../_components/page/title-of';
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
