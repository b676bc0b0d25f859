import { Group } from '@mantine/core';
import type { PaymentRow } from '@/lib/payments/schema';
import { formatDate, formatField, formatMoney } from '../../../_components/format';
import { CopyButton } from '../../_components/display/copy-button';
import { Facts } from '../../_components/display/facts';
import { Instant } from '../../_components/display/instant';
import { StripeId } from '../../_components/display/stripe-id';
import { PAYMENT_SOURCES } from '../../_components/records/payment-sources';

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
        Reference: (
          <Group gap={4} wrap="nowrap" component="span">
            {payment.payment_reference}
            <CopyButton value={payment.payment_reference} name="reference" />
          </Group>
        ),
        Amount: money(payment.amount),
        Refunded: payment.refunded_amount > 0 ? money(payment.refunded_amount) : undefined,
        Date: formatDate(payment.payment_date),
        Status: formatField(payment.status),
        Source: PAYMENT_SOURCES[payment.source],
        Stripe: stripePayment ? <StripeId id={stripePayment} /> : undefined,
        Created: <Instant at={payment.created_at} timeZone={timeZone} />,
        Updated: <Instant at={payment.updated_at} timeZone={timeZone} />,
      }}
    />
  );
}
