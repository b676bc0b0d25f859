import { newRecordPage } from '../../record-form-pages';
import { customerParts } from '../form-parts';

export const metadata = { title: 'New customer' };

export default newRecordPage('customer', {
  first: { currency: 'EUR' },
  parts: () => customerParts({ isNew: true }),
});
