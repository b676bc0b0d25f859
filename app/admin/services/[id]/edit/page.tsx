import { titleOfRow } from '@/app/admin/_components/page/title-of';
import { editRecordPage } from '@/app/admin/record-form-pages';
import { getService } from '@/lib/services/queries';
import { serviceParts } from '../../form-parts';

export const generateMetadata = titleOfRow('Edit service', async (db, id) => {
  const { domain, name } = await getService(db, id);
  return `Edit ${domain ?? name}`;
});

export default editRecordPage({
  form: 'service',
  label: 'Service',
  submit: 'Save',
  heading: async () => ({
    title: 'Edit service',
    back: ({ service_number }) => `Service ${service_number}`,
  }),
  parts: serviceParts,
  hasCustomer: true,
});
