import { newRecordPage } from '../../record-form-pages';
import { customerParts } from '../form-parts';

export const metadata = { title: 'New customer' };

export default newRecordPage({
  form: 'new_customer',
  title: 'New customer',
  label: 'Customer',
  submit: 'Create customer',
  list: 'Customers',
  first: { currency: 'EUR' },
  parts: () => customerParts({ isNew: true }),
});
