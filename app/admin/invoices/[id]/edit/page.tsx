import { getInvoice } from '@/lib/invoices/queries';
import { titleOfRow } from '../../../_components/page/staff-page';
import { invoiceName } from '../../../_components/records/invoice-list';
import { editRecordPage } from '../../../record-form-pages';
import { invoiceParts, isOwnDraft } from '../../form-parts';

export const generateMetadata = titleOfRow(
  'Edit invoice',
  getInvoice,
  (one) => `Edit draft ${invoiceName(one)}`,
);

export default editRecordPage('invoice', {
  read: getInvoice,
  heading: (invoice) => (isOwnDraft(invoice) ? { title: 'Edit draft', back: 'Invoice' } : null),
  parts: () => invoiceParts({ isNew: false }),
});
