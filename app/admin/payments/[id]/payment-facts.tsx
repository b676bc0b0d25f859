import type { PaymentRow } from '@/lib/payments/schema';
import { formatDate, formatField, formatMoney } from '../../../_components/format';
import { Facts } from '../../_components/facts';
import { Instant } from '../../_components/instant';
import { PAYMENT_SOURCES } from '../../_components/payment-sources';
import { StripeLink } from '../../_components/stripe-link';

interface Props {
  payment: PaymentRow;
  /** What Stripe calls it, where that is known. */
  stripePayment: string | null;
  timeZone: string;
}

export function PaymentFacts({ payment, stripePayment, timeZone }: Props) {
  const money = (amount: number) => formatMoney(amount, payment.currency);
  return (
    <Facts
      facts={{
        ID: payment.id,
        Reference: payment.payment_reference,
        Amount: money(payment.amount),
        Refunded: payment.refunded_amount > 0 ? money(payment.refunded_amount) : undefined,
        Date: formatDate(payment.payment_date),
        Status: formatField(payment.status),
        Source: PAYMENT_SOURCES[payment.source],
        'At Stripe': stripePayment ? (
          <StripeLink path={`payments/${stripePayment}`}>{stripePayment}</StripeLink>
        ) : undefined,
        Created: <Instant at={payment.created_at} timeZone={timeZone} />,
        Updated: <Instant at={payment.updated_at} timeZone={timeZone} />,
      }}
    />
  );
}
