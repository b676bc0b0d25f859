import type { disputes, payments, refunds } from '@/db/schema';
import { fromThousandths, toThousandths } from '../money';

type Refund = Pick<typeof refunds.$inferSelect, 'amount' | 'currency' | 'status' | 'source'>;
type Dispute = Pick<
  typeof disputes.$inferSelect,
  'amount' | 'currency' | 'status' | 'funds_withdrawn_at' | 'funds_returned_at'
>;
type Payment = Pick<typeof payments.$inferSelect, 'amount' | 'currency' | 'refunded_amount' | 'status'>;

/** All that is known to have been asked or paid back of a payment. */
export interface MoneyBack {
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
