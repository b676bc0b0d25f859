import type { AuditRow } from '../audit/audit-log';
import { toJsonAmount } from '../money';
import { type PaymentRow, paymentRow } from './schema';

export interface DeletedPayment {
  payment: PaymentRow;
  deleted_by: string;
  deleted_at: Date;
}

/** A payment as it was when it was deleted; null where its history does not end so. */
export function toDeletedPayment([last]: AuditRow[]): DeletedPayment | null {
  if (last?.action !== 'payment.delete' || !last.before) return null;
  const { amount, refunded_amount = '0' } = last.before;
  return {
    payment: paymentRow.parse({
      ...last.before,
      amount: toJsonAmount(String(amount)),
      refunded_amount: toJsonAmount(String(refunded_amount)),
    }),
    deleted_by: last.actor_name,
    deleted_at: last.created_at,
  };
}
