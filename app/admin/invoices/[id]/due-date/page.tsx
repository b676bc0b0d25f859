import { getInvoice } from '@/lib/invoices/queries';
import { titleOfRow } from '../../../_components/page/staff-page';
import { invoiceName } from '../../../_components/records/invoice-list';
import { editRecordPage } from '../../../record-form-pages';
import { DUE_DATE, isOwnUnpaid } from '../../form-parts';

export const generateMetadata = titleOfRow(
  'Due date',
  getInvoice,
  (one) => `Due date of ${invoiceName(one)}`,
);

export default editRecordPage('due_date', {
  read: getInvoice,
  heading: (invoice) =>
    isOwnUnpaid(invoice) ? { title: `When invoice ${invoice.number} is due`, back: 'Invoice' } : null,
  parts: () => DUE_DATE,
  submit: 'Change due date',
});
