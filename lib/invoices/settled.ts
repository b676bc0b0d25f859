import type { invoices, payments } from '@/db/schema';
import { fromThousandths, toThousandths } from '../money';
import { unpaidStatus } from '../overdue';

type Invoice = typeof invoices.$inferSelect;
type Payment = Pick<typeof payments.$inferSelect, 'amount' | 'refunded_amount' | 'status'>;
type Settled = Pick<Invoice, 'amount_paid' | 'amount_due' | 'status' | 'paid_at'>;
type Owed = Pick<
  Invoice,
  'total' | 'status' | 'paid_at' | 'due_date' | 'payment_failed_at' | 'uncollectible'
>;

/** @param today calendar date in the time zone of the service */
interface At {
  today: string;
  now: Date;
}

/**
 * What its payments make of an invoice of our own: the same as `settleInvoice` writes.
 *
 * @param without what counts as paid though no payment tells it, see `paidWithout`
 */
export function settled(invoice: Owed, ofInvoice: Payment[], at: At, without = 0): Settled {
  return settledBy(invoice, Math.max(sumOf(ofInvoice), without), at);
}

/**
 * What was imported as paid, where there are not as many payments; else none.
 *
 * @param ofInvoice its payments before anything was written
 * @returns thousandths
 */
export function paidWithout({ amount_paid }: Pick<Invoice, 'amount_paid'>, ofInvoice: Payment[]): number {
  const paid = toThousandths(amount_paid);
  return paid > sumOf(ofInvoice) ? paid : 0;
}

/** How an invoice stands of which so many thousandths are paid. */
export function settledBy(invoice: Owed, paid: number, { today, now }: At): Settled {
  const due = Math.max(0, toThousandths(invoice.total) - paid);
  const amounts = { amount_paid: fromThousandths(paid), amount_due: fromThousandths(due) };
  if (invoice.status === 'draft' || invoice.status === 'cancelled') {
    return { ...amounts, status: invoice.status, paid_at: invoice.paid_at };
  }
  if (due === 0) return { ...amounts, status: 'paid', paid_at: invoice.paid_at ?? now };
  const { due_date, payment_failed_at, uncollectible } = invoice;
  const status = unpaidStatus({ due_date, paymentFailed: payment_failed_at !== null, uncollectible }, today);
  return { ...amounts, status, paid_at: null };
}

/** What is left of completed payments, in thousandths. */
function sumOf(ofInvoice: Payment[]): number {
  return ofInvoice.reduce((sum, one) => sum + leftOf(one), 0);
}

/** What a payment counts towards its invoice, in thousandths. */
export function leftOf({ amount, refunded_amount, status }: Payment): number {
  return status === 'completed' ? toThousandths(amount) - toThousandths(refunded_amount) : 0;
}
