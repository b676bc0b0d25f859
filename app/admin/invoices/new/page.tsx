import { firstLine } from '@/lib/records/typed-lines';
import { newRecordPage } from '../../record-form-pages';
import { invoiceParts } from '../form-parts';

export const metadata = { title: 'New invoice' };

export default newRecordPage('invoice', {
  first: ({ typed, taxRate }) => ({ ...typed, ...firstLine(taxRate) }),
  parts: () => invoiceParts({ isNew: true }),
});
