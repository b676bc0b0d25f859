import type { Refunded } from './changed-payment';
import { checkPayment, type LockedInvoice, refuseFuture, takesPayments, tookPayments } from './check-payment';
import type { PaymentInput } from './schema';
import { type PaymentWriter, WRITTEN_COLUMNS } from './write-payment';

/** The columns that a new payment is written with. */
export const NEW_COLUMNS = [...WRITTEN_COLUMNS, 'source'] as const;

/**
 * A new payment as it is written. What of it came back is its refund, which the caller records.
 *
 * @throws AppError validation_failed when it does not fit its invoice
 */
export function toNewPayment(
  { cameBack, ...input }: PaymentInput & Refunded,
  invoice: LockedInvoice | undefined,
  writer: Pick<PaymentWriter, 'source' | 'now' | 'timeZone'>,
) {
  const { source } = writer;
  const takes = source === 'import' ? tookPayments : takesPayments;
  const { currency } = checkPayment(input, invoice, true, takes);
  const status = input.status ?? 'completed';
  refuseFuture({ ...input, status }, writer);
  const refunded_amount = String(cameBack ?? (status === 'refunded' ? input.amount : 0));
  return { ...input, amount: String(input.amount), currency, status, refunded_amount, source };
}
