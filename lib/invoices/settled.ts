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

/** The amounts and the status of an invoice once `paid` thousandths of it are paid. A cancelled invoice owes nothing. */
export function settledBy(invoice: Owed, paid: number, { today, now }: At): Settled {
  const { status, paid_at } = invoice;
  const due = status === 'cancelled' ? 0 : Math.max(0, toThousandths(invoice.total) - paid);
  const amounts = { amount_paid: fromThousandths(paid), amount_due: fromThousandths(due) };
  if (status === 'draft' || status === 'cancelled') return { ...amounts, status, paid_at };
  if (due === 0) return { ...amounts, status: 'paid', paid_at: paid_at ?? now };
  const { due_date, payment_failed_at, uncollectible } = invoice;
  const unpaid = { due_date, paymentFailed: payment_failed_at !== null, uncollectible };
  return { ...amounts, status: unpaidStatus(unpaid, today), paid_at: null };
}

/** The remaining amount of completed payments, in thousandths. */
function sumOf(ofInvoice: Payment[]): number {
  return ofInvoice.reduce((sum, one) => sum + leftOf(one), 0);
}

/** What a payment counts towards its invoice, in thousandths. */
export function leftOf({ amount, refunded_amount, status }: Payment): number {
  return status === 'completed' ? toThousandths(amount) - toThousandths(refunded_amount) : 0;
}
