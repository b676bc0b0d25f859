import { cameBack } from '@/lib/payments/came-back';
import type { StoredPayment } from '@/lib/sync/store/rows';
import type { ModelTables } from './tables';

/** As `agreeRefunds`. @returns what then came back of the payment */
export function agreeModelRefunds(
  tables: ModelTables,
  before: StoredPayment,
  payment: StoredPayment,
  now: Date,
): string {
  const { refunds, disputes } = tables.rows;
  const ofIt = <Row extends { payment_id: number | null }>(rows: Map<number, Row>) =>
    [...rows.values()].filter(({ payment_id }) => payment_id === payment.id);
  if (before.status === 'refunded' && payment.status !== 'refunded') {
    for (const row of ofIt(refunds)) {
      const isOurs = row.stripe_refund_id === null;
      const version = row.version + 1;
      if (isOurs && row.status !== 'cancelled') {
        tables.put('refunds', row.id, { ...row, status: 'cancelled', version });
      } else if (row.status === 'pending')
        tables.put('refunds', row.id, { ...row, source: 'stripe', version });
    }
  }
  const { refunded } = cameBack(payment, { refunds: ofIt(refunds), disputes: ofIt(disputes) });
  if (payment.status !== 'refunded' || Number(refunded) === Number(payment.amount)) return refunded;
  const id = tables.nextId('refunds');
  tables.put('refunds', id, {
    id,
    payment_id: payment.id,
    stripe_refund_id: null,
    stripe_payment_intent_id: null,
    stripe_charge_id: null,
    stripe_invoice_id: null,
    amount: (Number(payment.amount) - Number(refunded)).toFixed(3),
    currency: payment.currency,
    status: 'succeeded',
    provider_status: null,
    source: 'api',
    reason: null,
    issued_at: now,
    provider_as_of: null,
    provider_gone_at: null,
    version: 0,
    created_at: now,
    updated_at: now,
  });
  return payment.amount;
}

/** Before a payment is deleted: what Stripe told is kept without it. */
export function forgetMoneyBack(tables: ModelTables, paymentId: number): void {
  for (const row of tables.rows.refunds.values()) {
    if (row.payment_id !== paymentId) continue;
    if (row.stripe_refund_id === null) tables.delete('refunds', row.id);
    else {
      const version = row.version + 2; // by the update and by the key
      tables.put('refunds', row.id, { ...row, source: 'stripe', payment_id: null, version });
    }
  }
  for (const row of tables.rows.disputes.values()) {
    if (row.payment_id !== paymentId) continue;
    tables.put('disputes', row.id, { ...row, payment_id: null, version: row.version + 1 });
  }
}
