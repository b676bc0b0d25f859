import { etagOf } from '@/lib/http/etag';
import { owedAfter } from '@/lib/invoices/totals';
import type { PaymentContext } from '@/lib/payments/list-for-staff';
import type { PaymentRow } from '@/lib/payments/schema';
import { isCorrectable } from '@/lib/payments/typed-payment';
import { formatMoney } from '../../../_components/format';
import { LinkButton } from '../../../_components/links';
import { CheckButton } from '../../_components/audit/check/check-button';
import { ConfirmButton } from '../../_components/forms/confirm-button';
import { PageActions } from '../../_components/page/page-actions';
import { invoiceName } from '../../_components/records/invoice-list';
import { check, decide, markRefunded, remove } from './actions';

interface Props {
  payment: PaymentRow;
  invoice: PaymentContext['invoice'];
  /** Stripe can be asked about it, or about its invoice. */
  isAtStripe: boolean;
}

/** What staff can do with a payment as they see it: of one that has changed since, nothing. */
export function PaymentActions({ payment, invoice, isAtStripe }: Props) {
  const { id, source } = payment;
  const version = etagOf(payment);
  const money = (amount: number) => formatMoney(amount, payment.currency);
  const named = `${money(payment.amount)}, ${payment.payment_reference}`;
  const rest = payment.amount - payment.refunded_amount;
  const noted = payment.refunded_amount > 0 ? `that the rest, ${money(rest)}, was refunded` : 'the refund';
  const counts = payment.status === 'completed' && !invoice.stripe_invoice_id;
  const number = invoiceName(invoice);
  const onInvoice = counts
    ? `The payment no longer counts towards invoice ${number}, which will then owe ${money(owedAfter(invoice, rest))}.`
    : `Invoice ${number} stays as it is.`;
  const isPending = payment.status === 'pending';
  const isCompleted = payment.status === 'completed';
  return (
    <PageActions
      key={version}
      primary={
        isPending ? (
          <ConfirmButton
            action={decide.bind(null, id, version, 'completed')}
            question="Confirm this payment?"
            confirm="Confirm payment"
            consequences={[named, `The money has arrived. It counts towards invoice ${number} from now on.`]}
            variant="filled"
          >
            Confirm
          </ConfirmButton>
        ) : (
          isCompleted && (
            <LinkButton href={`/admin/payments/${id}/refund`} size="sm">
              Record refund
            </LinkButton>
          )
        )
      }
      grave={[
        isCompleted && (
          <ConfirmButton
            key="refunded"
            action={markRefunded.bind(null, id, version)}
            question="Mark this payment as refunded?"
            confirm="Mark as refunded"
            consequences={[named, `This records ${noted}; no money is moved. ${onInvoice}`]}
          >
            Mark as refunded
          </ConfirmButton>
        ),
        <ConfirmButton
          key="delete"
          action={remove.bind(null, id, version)}
          question="Delete this payment?"
          confirm="Delete payment"
          color="red.9"
          consequences={[
            named,
            `${onInvoice} Its history is kept.${source === 'stripe' ? ' Nothing changes at Stripe.' : ''}`,
          ]}
        >
          Delete
        </ConfirmButton>,
      ]}
    >
      {isAtStripe && <CheckButton action={check.bind(null, id)} />}
      {isCorrectable(payment) && (
        <LinkButton href={`/admin/payments/${id}/edit`} size="sm" variant="default">
          Correct
        </LinkButton>
      )}
      {isPending && (
        <ConfirmButton
          action={decide.bind(null, id, version, 'failed')}
          question="Mark this payment as failed?"
          confirm="Mark as failed"
          consequences={[named, `The money will not arrive. Invoice ${number} stays open.`]}
        >
          Mark as failed
        </ConfirmButton>
      )}
    </PageActions>
  );
}
