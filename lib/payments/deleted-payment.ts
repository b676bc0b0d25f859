import type { AuditRow } from '../audit/list-audit';
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
  return {
    payment: paymentRow.parse({ ...last.before, amount: toJsonAmount(String(last.before.amount)) }),
    deleted_by: last.actor_name,
    deleted_at: last.created_at,
  };
}
