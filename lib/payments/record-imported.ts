import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { importedRefunds, payments } from '@/db/schema';
import { transact } from '@/db/transaction';
import { AppError, type FieldError, invalidField } from '../errors';
import { toAmountText, toThousandths } from '../money';
import { amountProblem } from '../records/fields';
import { keyOfReference } from '../store/commit';
import { type StoredPayment, uniteKeys } from '../store/snapshot';
import { databaseStore } from '../store/store';
import {
  decidePayment,
  findChanged,
  keysOfChange,
  type PaymentDecision,
  type PaymentDraft,
  warnOfExcess,
} from './decide-payment';
import {
  isAlready,
  type PaymentChange,
  type PaymentInput,
  type PaymentWriter,
  type Refunded,
} from './schema';
import { namesStripeMoney } from './stripe-payment';
import { decideAndCommit, updatePayment } from './write-payment';

/** A payment from an imported file. It may include a refunded amount and the time of the refund. */
export type GivenPayment = PaymentInput & Refunded;

export type Recorded =
  | { outcome: 'created' | 'unchanged'; id: number }
  | { outcome: 'refused'; problems: FieldError[] }
  /**
   * The caller must write this payment with `recordPayment`, because a stored payment with this reference has other
   * values, or because the reference is a Stripe payment id.
   */
  | { outcome: 'alone'; payment: StoredPayment | undefined };

/**
 * Creates the new payments of a file in one commit, by the rules of `recordPayment`. Does not change existing payments.
 * The given references must be unique.
 *
 * @returns the outcome of each payment, in the same order
 */
export async function recordPayments(
  db: Database,
  given: GivenPayment[],
  writer: PaymentWriter,
): Promise<Recorded[]> {
  if (given.length === 0) return [];
  const changes = given.map((input) => ({ kind: 'record', input }) as const);
  const { result, written } = await decideAndCommit(databaseStore(db), null, writer, {
    keys: () => uniteKeys(changes.map((change) => keysOfChange(change))),
    decide: (draft) => changes.map((change) => decideTogether(draft, change, writer)),
    conclude: (draft, decided) => {
      for (const one of decided) if ('after' in one) warnOfExcess(draft, one);
      return decided;
    },
  });
  return result.map((one) => {
    if (!('after' in one)) return one;
    return { outcome: 'created', id: written?.ids.get(one.after?.id ?? 0) ?? 0 };
  });
}

function decideTogether(
  draft: PaymentDraft,
  change: PaymentChange & { kind: 'record' },
  writer: PaymentWriter,
): Recorded | PaymentDecision {
  const known = findChanged(draft.snapshot, change);
  if (known) {
    return isAlready(known, change.input)
      ? { outcome: 'unchanged', id: known.id }
      : { outcome: 'alone', payment: known };
  }
  if (namesStripeMoney(change.input.payment_reference)) return { outcome: 'alone', payment: undefined };
  try {
    return decidePayment(draft, change, writer);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { outcome: 'refused', problems: error.fields };
  }
}

/** A refund from an imported file, with its own reference. */
interface GivenRefund {
  reference: string;
  /** Reference of the refunded payment. */
  payment_reference: string;
  amount: number;
  currency?: string | undefined;
  /** Day of the refund. */
  date: string;
  /** Time of the refund: the start of its day. */
  refundedAt: Date;
}

/**
 * Records a refund of a payment, unless a refund with the same reference was imported before.
 *
 * @throws AppError validation_failed with the fields, for example if the earlier refund with the same reference has
 *   another payment, amount or date
 */
export async function recordGivenRefund(
  db: Database,
  { reference, amount, currency, date, refundedAt, ...given }: GivenRefund,
  writer: PaymentWriter,
): Promise<{ outcome: 'created' | 'unchanged'; id: number }> {
  return transact(
    db,
    async (tx) => {
      const isRefunded = eq(payments.payment_reference, given.payment_reference);
      const [payment] = await tx.select().from(payments).where(isRefunded);
      if (!payment) throw invalidField('refund_of', 'is not a known payment');
      const [known] = await tx.select().from(importedRefunds).where(eq(importedRefunds.reference, reference));
      if (known) {
        const isSame = known.payment_id === payment.id && Number(known.amount) === amount;
        if (isSame && known.refund_date === date) return { outcome: 'unchanged', id: payment.id };
        throw invalidField('payment_reference', 'is used by another refund');
      }
      if (currency && currency !== payment.currency) {
        throw invalidField('currency', `must be ${payment.currency}, as the payment's`);
      }
      const { id } = await updatePayment(
        tx,
        payment.id,
        (current) => ({
          cameBack: cameBackAfter(current, amount, 'is more than is left of the payment'),
          refundedAt,
        }),
        writer,
      );
      await tx
        .insert(importedRefunds)
        .values({ reference, payment_id: id, amount: String(amount), refund_date: date });
      return { outcome: 'created', id };
    },
    undefined,
    keyOfReference(given.payment_reference),
  );
}

/**
 * Adds a further refund to the refunded amount of a payment, and returns the sum.
 *
 * @param tooMuch the beginning of the error message, before the amount that is left
 * @throws AppError validation_failed at `amount` if the amount is invalid, or more than is left of the payment
 */
export function cameBackAfter(
  { amount, refunded_amount, currency }: StoredPayment,
  more: number,
  tooMuch: string,
): number {
  const problem = amountProblem(more, currency);
  if (problem) throw invalidField('amount', problem);
  const back = toThousandths(refunded_amount) + toThousandths(String(more));
  if (back <= toThousandths(amount)) return back / 1000;
  const left = (toThousandths(amount) - toThousandths(refunded_amount)) / 1000;
  const text = toAmountText(String(left), currency);
  throw invalidField('amount', `${tooMuch}: ${text}`);
}
