import { titleOfRow } from '@/app/admin/_components/page/title-of';
import { editRecordPage } from '@/app/admin/record-form-pages';
import { getSalesDocument } from '@/lib/sales-documents/queries';
import { documentParts } from '../../form-parts';

export const generateMetadata = titleOfRow('Edit sales document', async (db, id) => {
  const { document_number } = await getSalesDocument(db, id);
  return `Edit ${document_number}`;
});

export default editRecordPage({
  form: 'sales_document',
  label: 'Sales document',
  submit: 'Save draft',
  heading: async (db, id) => {
    const { status, document_number } = await getSalesDocument(db, id);
    return status === 'draft' ? { title: `Edit ${document_number}`, back: document_number } : null;
  },
  parts: () => documentParts({ isNew: false }),
  hasCustomer: true,
});
