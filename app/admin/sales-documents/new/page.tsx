import { firstLine } from '@/lib/records/typed-lines';
import { newRecordPage } from '../../record-form-pages';
import { documentParts } from '../form-parts';

export const metadata = { title: 'New sales document' };

export default newRecordPage({
  form: 'new_sales_document',
  title: 'New sales document',
  label: 'Sales document',
  submit: 'Save draft',
  list: 'Sales documents',
  first: ({ typed, taxRate }) => ({ type: 'offer', ...typed, ...firstLine(taxRate) }),
  parts: () => documentParts({ isNew: true }),
});
