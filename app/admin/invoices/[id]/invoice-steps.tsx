import type { InvoiceDetails } from '@/lib/invoices/get-invoice';
import { isUnpaid } from '@/lib/overdue';
import { formatMoney } from '../../../_components/format';
import { LinkButton } from '../../../_components/links';
import { ConfirmButton } from '../../_components/confirm-button';
import { invoiceName } from '../../_components/invoice-list';
import { PATH } from '../path';
import { cancel, send } from './step-actions';

type Invoice = Pick<InvoiceDetails, 'status' | 'stripe_invoice_id'>;

export const isOwnDraft = ({ status, stripe_invoice_id }: Invoice): boolean =>
  status === 'draft' && stripe_invoice_id === null;

export const isOwnUnpaid = ({ status, stripe_invoice_id }: Invoice): boolean =>
  isUnpaid(status) && stripe_invoice_id === null;

/** What staff can do with an invoice of our own as they see it: of one that has changed since, nothing. */
export function InvoiceSteps({ invoice }: { invoice: InvoiceDetails }) {
  const { id, version } = invoice;
  const named = `${formatMoney(invoice.total, invoice.currency)}, ${invoice.customer.name || invoice.customer.customer_number}`;
  if (isOwnDraft(invoice)) {
    return (
      <>
        <LinkButton href={`${PATH}/${id}/edit`} variant="default">
          Edit
        </LinkButton>
        <ConfirmButton
          key={version}
          action={send.bind(null, id, version)}
          question="Send this invoice?"
          confirm="Send invoice"
          consequences={[
            named,
            'It takes its number and counts as sent; its lines cannot be changed any more. No e-mail goes out.',
          ]}
          variant="filled"
        >
          Send
        </ConfirmButton>
      </>
    );
  }
  if (!isOwnUnpaid(invoice)) return null;
  return (
    <>
      <LinkButton href={`${PATH}/${id}/due-date`} variant="default">
        Change due date
      </LinkButton>
      {invoice.amount_paid === 0 && (
        <ConfirmButton
          key={version}
          action={cancel.bind(null, id, version)}
          question="Cancel this invoice?"
          confirm="Cancel invoice"
          color="red.9"
          consequences={[
            `${invoiceName(invoice)}, ${named}`,
            'It keeps its number and is owed no more, for good.',
          ]}
        >
          Cancel invoice
        </ConfirmButton>
      )}
    </>
  );
}
