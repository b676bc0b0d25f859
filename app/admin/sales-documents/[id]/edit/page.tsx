import { getSalesDocument } from '@/lib/sales-documents/queries';
import { titleOfRow } from '../../../_components/page/staff-page';
import { editRecordPage } from '../../../record-form-pages';
import { documentParts } from '../../form-parts';

export const generateMetadata = titleOfRow(
  'Edit sales document',
  getSalesDocument,
  ({ document_number }) => `Edit ${document_number}`,
);

export default editRecordPage('sales_document', {
  read: getSalesDocument,
  heading: ({ status, document_number: number }) =>
    status === 'draft' ? { title: `Edit ${number}`, back: number } : null,
  parts: () => documentParts({ isNew: false }),
});
