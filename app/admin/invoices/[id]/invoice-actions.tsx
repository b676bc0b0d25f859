import type { InvoiceDetails } from '@/lib/invoices/get-invoice';
import { invoiceSteps } from '@/lib/invoices/typed-invoice';
import { formatMoney } from '../../../_components/format';
import { RecordActions } from '../../_components/forms/record/record-actions';
import { invoiceName } from '../../_components/records/invoice-list';
import { isOwnDraft, isOwnUnpaid } from '../own-invoice';
import { PATH } from '../path';
import { STEPS } from './step-text';

/** What staff can do with an invoice of our own. */
export function InvoiceActions({ invoice }: { invoice: InvoiceDetails }) {
  const { id, customer, version } = invoice;
  if (invoice.stripe_invoice_id !== null) return null;
  const name = [
    invoiceName(invoice),
    formatMoney(invoice.total, invoice.currency),
    customer.name || customer.customer_number,
  ];
  return (
    <RecordActions
      key={version}
      kind="invoice"
      steps={invoiceSteps}
      texts={STEPS}
      record={invoice}
      noun="draft"
      name={name.join(', ')}
      edit={editOf(invoice)}
      except={invoice.amount_paid > 0 ? ['cancel'] : []}
      removal={
        isOwnDraft(invoice)
          ? 'It has no number yet, so no number is lost. The document it came from can be converted again.'
          : null
      }
    />
  );

  function editOf(one: InvoiceDetails) {
    if (isOwnDraft(one)) return { href: `${PATH}/${id}/edit` };
    return isOwnUnpaid(one) ? { href: `${PATH}/${id}/due-date`, label: 'Change due date' } : null;
  }
}
