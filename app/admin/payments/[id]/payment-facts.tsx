import type { PaymentRow } from '@/lib/payments/schema';
import { formatDate, formatField, formatMoney } from '../../../_components/format';
import { Facts } from '../../_components/facts';
import { Instant } from '../../_components/instant';
import { PAYMENT_SOURCES } from '../../_components/payment-sources';

export function PaymentFacts({ payment, timeZone }: { payment: PaymentRow; timeZone: string }) {
  return (
    <Facts
      facts={{
        ID: payment.id,
        Reference: payment.payment_reference,
        Amount: formatMoney(payment.amount, payment.currency),
        Date: formatDate(payment.payment_date),
        Status: formatField(payment.status),
        Source: PAYMENT_SOURCES[payment.source],
        Created: <Instant at={payment.created_at} timeZone={timeZone} />,
        Updated: <Instant at={payment.updated_at} timeZone={timeZone} />,
      }}
    />
  );
}
