import { invoiceName } from '@/app/admin/_components/records/invoice-list';
import { editRecordPage } from '@/app/admin/record-form-pages';
import { getInvoice } from '@/lib/invoices/queries';
import { titleOfRow } from '../../../_components/page/title-of';
import { DUE_DATE, isOwnUnpaid } from '../../form-parts';

export const generateMetadata = titleOfRow(
  'Due date',
  async (db, id) => `Due date of ${invoiceName(await getInvoice(db, id))}`,
);

export default editRecordPage({
  form: 'due_date',
  label: 'Due date',
  submit: 'Change due date',
  heading: async (db, id) => {
    const invoice = await getInvoice(db, id);
    return isOwnUnpaid(invoice) ? { title: `When invoice ${invoice.number} is due`, back: 'Invoice' } : null;
  },
  parts: () => DUE_DATE,
});
