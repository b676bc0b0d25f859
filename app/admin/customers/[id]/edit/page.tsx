import { formatCustomer } from '@/app/_components/format';
import { titleOfRow } from '../../../_components/page/staff-page';
import { editRecordPage } from '../../../record-form-pages';
import { customerParts, readCustomer } from '../../form-parts';

export const generateMetadata = titleOfRow(
  'Edit customer',
  readCustomer,
  (one) => `Edit ${formatCustomer(one)}`,
);

export default editRecordPage('customer', {
  read: readCustomer,
  heading: ({ customer_number }) => ({ back: `Customer ${customer_number}` }),
  parts: () => customerParts({ isNew: false }),
});
