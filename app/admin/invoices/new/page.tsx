import { firstLine } from '@/lib/records/typed-lines';
import { newRecordPage } from '../../record-form-pages';
import { invoiceParts } from '../form-parts';

export const metadata = { title: 'New invoice' };

export default newRecordPage({
  form: 'new_invoice',
  title: 'New invoice',
  label: 'Invoice',
  submit: 'Save draft',
  list: 'Invoices',
  first: ({ typed, taxRate }) => ({ ...typed, ...firstLine(taxRate) }),
  parts: () => invoiceParts({ isNew: true }),
});
