import { and, eq, isNull, ne } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { disputes, type payments, refunds } from '@/db/schema';
import { invalidField } from '../errors';
import { fromThousandths, toAmountText, toThousandths } from '../money';

type RefundedPayment = Pick<typeof payments.$inferSelect, 'id' | 'amount' | 'currency' | 'status'>;

type RefundRow = typeof refunds.$inferSelect;

interface Recorder {
  source: RefundRow['source'];
  now: Date;
}

/**
 * Makes the refunds recorded here fit the new status of a payment: one refund of the rest if it becomes refunded, no own
 * refund if it is refunded no longer. Without a status, a wholly refunded payment stays so. Stripe's refunds stay. The
 * caller holds the payment's row lock.
 *
 * @param payment with its new values
 * @param given the new status, if any
 * @returns the refunded amount afterwards
 */
export async function agreeRefunds(
  tx: Database,
  before: Pick<RefundedPayment, 'status'>,
  payment: RefundedPayment,
  given: RefundedPayment['status'] | undefined,
  recorder: Recorder,
): Promise<string> {
  const wasRefunded = before.status === 'refunded';
  if (wasRefunded && given !== undefined && given !== 'refunded') await withdraw(tx, payment);
  const known = await moneyBackOf(tx, payment.id);
  const { refunded } = cameBack(payment, known);
  const isRefunded =
    given === undefined ? wasRefunded && known.refunds.some(isRecorded) : given === 'refunded';
  if (!isRefunded || Number(refunded) === Number(payment.amount)) return refunded;
  await recordRefund(tx, payment, (Number(payment.amount) - Number(refunded)).toFixed(3), recorder);
  return payment.amount;
}

/**
 * Records the part of a stated refunded amount that is not recorded yet.
 *
 * @returns the refunded amount afterwards
 * @throws AppError validation_failed if more is recorded already
 */
export async function refundUpTo(
  tx: Database,
  payment: Pick<RefundedPayment, 'id' | 'currency'>,
  known: string,
  told: number,
  recorder: Recorder,
): Promise<string> {
  const more = toThousandths(String(told)) - toThousandths(known);
  if (more < 0) {
    const text = toAmountText(known, payment.currency);
    throw invalidField('refunded_amount', `must not be less than what came back already: ${text}`);
  }
  if (more > 0) await recordRefund(tx, payment, fromThousandths(more), recorder);
  return String(told);
}

/** Records that an amount was paid back elsewhere. */
export async function recordRefund(
  tx: Database,
  payment: Pick<RefundedPayment, 'id' | 'currency'>,
  amount: string,
  recorder: Recorder,
): Promise<void> {
  await tx.insert(refunds).values(toRefund(payment, amount, recorder));
}

/** What came back of a payment elsewhere, as it is written. */
export const toRefund = (
  { id, currency }: Pick<RefundedPayment, 'id' | 'currency'>,
  amount: string,
  { source, now }: Recorder,
) => ({ payment_id: id, amount, currency, status: 'succeeded' as const, source, issued_at: now });

/** Forgets what was recorded here, before its payment is deleted; what Stripe told is kept without it. */
export async function forgetRefunds(tx: Database, paymentId: number): Promise<void> {
  await tx.delete(refunds).where(isOurs(paymentId));
  await tx.update(refunds).set({ source: 'stripe' }).where(eq(refunds.payment_id, paymentId));
}

async function withdraw(tx: Database, { id }: Pick<RefundedPayment, 'id'>): Promise<void> {
  await tx
    .update(refunds)
    .set({ status: 'cancelled' })
    .where(and(isOurs(id), ne(refunds.status, 'cancelled')));
  // What is on its way at Stripe counts once it has succeeded.
  await tx
    .update(refunds)
    .set({ source: 'stripe' })
    .where(and(eq(refunds.payment_id, id), eq(refunds.status, 'pending')));
}

const isRecorded = ({ source, status }: RefundRow) =>
  source !== 'stripe' && (status === 'succeeded' || status === 'pending');

const isOurs = (paymentId: number) =>
  and(eq(refunds.payment_id, paymentId), isNull(refunds.stripe_refund_id));

async function moneyBackOf(tx: Database, id: number) {
  const [ofRefunds, ofDisputes] = await Promise.all([
    tx.select().from(refunds).where(eq(refunds.payment_id, id)),
    tx.select().from(disputes).where(eq(disputes.payment_id, id)),
  ]);
  return { refunds: ofRefunds, disputes: ofDisputes };
}

type Refund = Pick<typeof refunds.$inferSelect, 'amount' | 'currency' | 'status' | 'source'>;

type Dispute = Pick<
  typeof disputes.$inferSelect,
  'amount' | 'currency' | 'status' | 'funds_withdrawn_at' | 'funds_returned_at'
>;

type Payment = Pick<typeof payments.$inferSelect, 'amount' | 'currency' | 'refunded_amount' | 'status'>;

/** All that is known to have been asked or paid back of a payment. */
interface MoneyBack {
  refunds: Refund[];
  disputes: Dispute[];
}

/**
 * What came back of a payment: succeeded refunds and lost disputes in its currency, in whole units.
 *
 * @returns `refunded` at most the payment's amount; `excess` what would be more
 */
export function cameBack(payment: Pick<Payment, 'amount' | 'currency'>, { refunds, disputes }: MoneyBack) {
  const isIts = ({ currency }: { currency: string }) => currency === payment.currency;
  const back = [...refunds.filter(isPaidBack), ...disputes.filter(isLost)].filter(isIts);
  const sum = back.reduce((total, { amount }) => total + toThousandths(amount), 0);
  const paid = toThousandths(payment.amount);
  return { refunded: fromThousandths(Math.min(sum, paid)), excess: Math.max(0, sum - paid) / 1000 };
}

/** What staff or the API recorded counts at once, until Stripe tells that it failed. */
function isPaidBack({ status, source }: Refund): boolean {
  return status === 'succeeded' || (status === 'pending' && source !== 'stripe');
}

/** One that was prevented is decided for the customer, too, where it kept the money. */
function isLost({ status, funds_withdrawn_at, funds_returned_at }: Dispute): boolean {
  return status === 'lost' || (status === 'prevented' && funds_withdrawn_at !== null && !funds_returned_at);
}

/**
 * The status of a payment after its refunds have changed: refunded if all of it came back, else completed. A status that
 * did not follow from the refunds before was set by a person, and stays.
 */
export function statusAfter(payment: Payment, after: Pick<Payment, 'amount' | 'refunded_amount'>) {
  return payment.status === statusOf(payment) ? statusOf(after) : payment.status;
}

function statusOf({ amount, refunded_amount }: Pick<Payment, 'amount' | 'refunded_amount'>) {
  return toThousandths(refunded_amount) >= toThousandths(amount) ? 'refunded' : 'completed';
}
