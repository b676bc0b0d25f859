import { notFound, redirect } from 'next/navigation';
import { formatMoney } from '@/app/_components/format';
import { type CreditableLine, readCreditable, takesCreditNotes } from '@/lib/invoices/credit-notes';
import { addMoneyBack } from '@/lib/invoices/money-back';
import { getInvoice } from '@/lib/invoices/queries';
import { fromThousandths } from '@/lib/money';
import type { FormField } from '../../../_components/forms/field';
import { ActionForm } from '../../../_components/forms/form';
import { FormPage, recordPage, titleOfRow } from '../../../_components/page/staff-page';
import { invoiceName } from '../../../_components/records/invoice-list';
import { credit } from '../../actions';

export const generateMetadata = titleOfRow(
  'Credit note',
  getInvoice,
  (one) => `Credit note of ${invoiceName(one)}`,
);

/** Shows the form for a credit note, with a quantity or a net amount for each line that can still be credited. */
export default recordPage(getInvoice, async (row, { id, db }) => {
  const [invoice = notFound()] = await addMoneyBack(db, [row]);
  const page = `/admin/invoices/${id}`;
  const { lines, left } = await readCreditable(db, invoice);
  const open = lines.filter((line) => Number(line.left.net) !== 0);
  if (!takesCreditNotes(invoice) || open.length === 0) redirect(page);
  const { currency } = invoice;
  return (
    <FormPage
      back={{ href: page, label: 'Invoice' }}
      title={`Credit invoice ${invoiceName(invoice)}`}
      description={`Up to ${formatMoney(Number(fromThousandths(left)), currency)} with tax can be credited`}
    >
      <ActionForm
        label="Credit note"
        isSheet
        keeps
        version={invoice.version}
        action={credit.bind(null, id, invoice.version)}
        cancel={page}
        submit="Issue credit note"
        fields={[REASON, ...open.flatMap((line) => fieldsOf(line, currency))]}
      />
    </FormPage>
  );
});

const REASON: FormField = {
  name: 'reason',
  label: 'Reason',
  description: 'Printed on the credit note.',
  maxLength: 300,
  required: true,
};

function fieldsOf({ invoice_position, text, left }: CreditableLine, currency: string): FormField[] {
  const net = formatMoney(Math.abs(Number(left.net)), currency);
  const name = `Line ${invoice_position}, ${text}`;
  return [
    {
      name: `quantity_${invoice_position}`,
      label: `${name}: quantity to credit`,
      description: `${Number(left.quantity)} left. Leave empty if you credit an amount, or nothing.`,
      inputMode: 'decimal',
    },
    {
      name: `amount_${invoice_position}`,
      label: `${name}: or net amount in ${currency.toUpperCase()}`,
      description: Number(left.net) < 0 ? `${net} left. This line reduces the credit note.` : `${net} left.`,
      inputMode: 'decimal',
    },
  ];
}
