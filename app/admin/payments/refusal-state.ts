import type { AppError } from '@/lib/errors';
import { listPayments } from '@/lib/payments/queries';
import { normalReference } from '@/lib/payments/schema';
import type { Runtime } from '@/lib/runtime';
import { formatDate, formatMoney } from '../../_components/format';
import { toProblems } from '../_components/page/staff-action';
import type { Existing } from './existing-payment';
import type { TypedState } from './typed-form';

export interface PaymentState extends TypedState {
  /** The payment that has the reference already. */
  existing: Existing | null;
}

/** What a payment's form shows after it was refused. */
export async function toRefusalState(
  { db }: Runtime,
  typed: PaymentState['typed'],
  error: AppError,
): Promise<PaymentState> {
  const payment_reference = normalReference(typed.payment_reference ?? '').trim();
  const [payment] =
    error.code === 'conflict' ? (await listPayments(db, { payment_reference, per_page: 1 })).data : [];
  const existing = payment && {
    href: `/admin/payments/${payment.id}`,
    text: `${formatMoney(payment.amount, payment.currency)} of ${formatDate(payment.payment_date)}`,
  };
  return { typed, problems: toProblems(error, typed), existing: existing ?? null };
}
