import { z } from 'zod';
import type { Database } from '@/db/database';
import { transact } from '@/db/transaction';
import { startOfDay, toCalendarDate } from '../dates';
import { AppError, invalidField } from '../errors';
import { toAmountText, toThousandths } from '../money';
import { amountProblem } from '../records/fields';
import { lockPayment, type Precondition, readPayment, type StoredPayment } from './lock-payment';
import { toPaymentRow } from './queries';
import type { PaymentRow } from './schema';
import { amountField, parseTyped, typedDate } from './typed-payment';
import { changePayment, type PaymentWriter } from './write-payment';

const typedRefund = z.object({ amount: amountField, date: typedDate });

/** Names of the fields of a refund. */
export const REFUND_FIELDS = typedRefund.keyof().options;

/**
 * Records that a completed payment, or a part of it, was paid back. It is refunded once all of it was. Nothing is
 * moved, and Stripe is not told.
 *
 * @param typed `REFUND_FIELDS` as they were typed
 * @throws AppError validation_failed naming the fields; not_found; precondition_failed; conflict where it is not completed
 */
export async function recordTypedRefund(
  db: Database,
  id: number,
  typed: Record<string, string>,
  writer: PaymentWriter,
  precondition?: Precondition,
): Promise<PaymentRow> {
  const { amount, date } = parseTyped(typedRefund, typed, 'The refund is not complete.');
  return transact(
    db,
    async (tx) => {
      const seen = await readPayment(tx, id);
      const locked = await lockPayment(tx, seen, seen.invoice_id, precondition);
      const { payment } = locked;
      if (payment.status !== 'completed')
        throw new AppError('conflict', 'Only completed payments are refunded.');
      const cameBack = cameBackAfter(payment, amount);
      const refundedAt = instantOf(date, payment, writer);
      return toPaymentRow(await changePayment(tx, locked, { cameBack }, { ...writer, refundedAt }));
    },
    `payment ${id}`,
  );
}

function cameBackAfter({ amount, refunded_amount, currency }: StoredPayment, more: number): number {
  const problem = amountProblem(more, currency);
  if (problem) throw invalidField('amount', problem);
  const back = toThousandths(refunded_amount) + toThousandths(String(more));
  if (back <= toThousandths(amount)) return back / 1000;
  const left = (toThousandths(amount) - toThousandths(refunded_amount)) / 1000;
  const text = toAmountText(String(left), currency);
  throw invalidField('amount', `must be at most what is left of the payment: ${text}`);
}

/** Today it was now; of another day its beginning is all that is known. */
function instantOf(date: string, { payment_date }: StoredPayment, { now, timeZone }: PaymentWriter): Date {
  const today = toCalendarDate(now, timeZone);
  if (date > today) throw invalidField('date', 'must not be in the future');
  if (date < payment_date) throw invalidField('date', 'must not be before the payment');
  return date === today ? now : startOfDay(date, timeZone);
}
