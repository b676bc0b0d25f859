import type { StoredPayment } from './lock-payment';
import type { PaymentChanges } from './schema';

/** The refunded amount, if the writer states it. The part that is not recorded yet becomes a refund. */
export interface Refunded {
  cameBack?: number | undefined;
}

/** Whether a payment already has the requested values. */
export const isAlready = (payment: StoredPayment, changes: PaymentChanges & Refunded): boolean =>
  isSame(payment, withChanges(payment, changes), changes.cameBack);

/** A payment's fields once they are changed. */
export const withChanges = (before: StoredPayment, changes: PaymentChanges) => ({
  invoice_id: changes.invoice_id ?? before.invoice_id,
  customer_id: changes.customer_id ?? before.customer_id,
  amount: changes.amount ?? Number(before.amount),
  payment_date: changes.payment_date ?? before.payment_date,
  payment_reference: changes.payment_reference ?? before.payment_reference,
  status: changes.status ?? before.status,
});

/** @param told how much came back, where the writer knows */
export function isSame(
  before: StoredPayment,
  values: Partial<Record<keyof StoredPayment, unknown>>,
  told: number | undefined,
): boolean {
  const isTold = told === undefined || told === Number(before.refunded_amount);
  return (
    isTold &&
    Object.entries(values).every(([field, value]) =>
      field === 'amount'
        ? Number(before.amount) === Number(value)
        : before[field as keyof StoredPayment] === value,
    )
  );
}
