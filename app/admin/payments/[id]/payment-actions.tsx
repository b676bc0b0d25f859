import { Group } from '@mantine/core';
import { etagOf } from '@/lib/http/etag';
import type { PaymentContext } from '@/lib/payments/payment-context';
import type { PaymentRow } from '@/lib/payments/schema';
import { formatMoney } from '../../../_components/format';
import { CheckButton } from '../../_components/check/check-button';
import { ConfirmButton } from '../../_components/confirm-button';
import { invoiceName } from '../../_components/invoice-list';
import { check, markRefunded, remove } from './actions';

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
    ? `The payment no longer counts towards invoice ${number}.`
    : `Invoice ${number} stays as it is.`;
  return (
    <Group gap="xs" key={version}>
      {isAtStripe && <CheckButton action={check.bind(null, id)} />}
      {payment.status === 'completed' && (
        <ConfirmButton
          action={markRefunded.bind(null, id, version)}
          question="Mark this payment as refunded?"
          confirm="Mark as refunded"
          consequences={[named, `This notes ${noted}; no money is moved. ${onInvoice}`]}
        >
          Mark as refunded
        </ConfirmButton>
      )}
      <ConfirmButton
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
      </ConfirmButton>
    </Group>
  );
}
