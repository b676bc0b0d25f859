import { firstLine } from '@/lib/records/typed-lines';
import { newRecordPage } from '../../record-form-pages';
import { documentParts } from '../form-parts';

export const metadata = { title: 'New sales document' };

export default newRecordPage('sales_document', {
  first: ({ typed, taxRate }) => ({ type: 'offer', ...typed, ...firstLine(taxRate) }),
  parts: () => documentParts({ isNew: true }),
});
