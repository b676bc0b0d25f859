import { invoiceName } from '@/app/admin/_components/records/invoice-list';
import { editRecordPage } from '@/app/admin/record-form-pages';
import { getInvoice } from '@/lib/invoices/queries';
import { titleOfRow } from '../../../_components/page/title-of';
import { invoiceParts, isOwnDraft } from '../../form-parts';

export const generateMetadata = titleOfRow(
  'Edit invoice',
  async (db, id) => `Edit draft ${invoiceName(await getInvoice(db, id))}`,
);

export default editRecordPage({
  form: 'invoice',
  label: 'Invoice',
  submit: 'Save draft',
  heading: async (db, id) =>
    isOwnDraft(await getInvoice(db, id)) ? { title: 'Edit draft', back: 'Invoice' } : null,
  parts: () => invoiceParts({ isNew: false }),
  hasCustomer: true,
});
