import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { importedRefunds } from '@/db/schema';
import { transact } from '@/db/transaction';
import { invalidField } from '../errors';
import { toAmountText, toThousandths } from '../money';
import { amountProblem } from '../records/fields';
import { keyOfReference, lockByReference } from './lock-payment';
import { changePayment, type PaymentWriter } from './write-payment';

/** A refund as a file tells it, with a reference of its own. */
export interface GivenRefund {
  reference: string;
  /** Of the payment that came back. */
  payment_reference: string;
  amount: number;
  currency?: string | undefined;
  /** The day on which it came back. */
  date: string;
}

/**
 * Records a refund of a part of a payment once. Its reference identifies it, even if it changes here.
 *
 * @throws AppError validation_failed naming the fields
 */
export async function recordGivenRefund(
  db: Database,
  { reference, amount, currency, date, ...given }: GivenRefund,
  writer: PaymentWriter,
): Promise<{ outcome: 'created' | 'unchanged'; id: number }> {
  return transact(
    db,
    async (tx) => {
      const { payment, invoices } = await lockByReference(tx, given.payment_reference, 0);
      if (!payment) throw invalidField('refund_of', 'is not a known payment');
      const [known] = await tx.select().from(importedRefunds).where(eq(importedRefunds.reference, reference));
      if (known) {
        const isSame = known.payment_id === payment.id && Number(known.amount) === amount;
        if (isSame && known.refund_date === date) return { outcome: 'unchanged', id: payment.id };
        throw invalidField('payment_reference', 'is that of another refund');
      }
      if (currency && currency !== payment.currency) {
        throw invalidField('currency', `must be ${payment.currency}, as the payment's`);
      }
      const left = (toThousandths(payment.amount) - toThousandths(payment.refunded_amount)) / 1000;
      const problem =
        amountProblem(amount, payment.currency) ??
        (amount > left
          ? `is more than is left of the payment: ${toAmountText(String(left), payment.currency)}`
          : undefined);
      if (problem) throw invalidField('amount', problem);
      const cameBack = (toThousandths(payment.refunded_amount) + toThousandths(String(amount))) / 1000;
      const { id } = await changePayment(tx, { payment, invoices }, { cameBack }, writer);
      await tx
        .insert(importedRefunds)
        .values({ reference, payment_id: id, amount: String(amount), refund_date: date });
      return { outcome: 'created', id };
    },
    undefined,
    keyOfReference(given.payment_reference),
  );
}
