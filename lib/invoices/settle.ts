import type { invoices, payments } from '@/db/schema';
import { AppError, type FieldError } from '../errors';
import { currencyDecimals, fromThousandths, hasCurrencyPrecision, toThousandths } from '../money';
import { unpaidStatus } from '../overdue';

type Invoice = typeof invoices.$inferSelect;
type Payment = Pick<typeof payments.$inferSelect, 'amount' | 'refunded_amount' | 'status'>;
type Settled = Pick<Invoice, 'amount_paid' | 'amount_due' | 'status' | 'paid_at'>;
type Owed = Pick<
  Invoice,
  'total' | 'amount_credited' | 'status' | 'paid_at' | 'due_date' | 'payment_failed_at' | 'uncollectible'
>;

/** The current time. `today` is the calendar date in the configured time zone. */
interface At {
  today: string;
  now: Date;
}

/**
 * Returns the amounts and status of an invoice outside Stripe after its payments changed. Drafts and cancelled invoices
 * keep their status. A cancelled invoice has no amount due. An imported paid amount stays until the payments exceed it.
 *
 * @param invoice the invoice before the change
 * @param paid the sums of its completed payments before and after the change, in thousandths
 */
export function settledAfter(
  invoice: Owed & Pick<Invoice, 'amount_paid'>,
  paid: { before: number; after: number },
  at: At,
): Settled {
  const imported = toThousandths(invoice.amount_paid);
  return settledBy(invoice, Math.max(paid.after, imported > paid.before ? imported : 0), at);
}

/** Returns what an invoice claims, in thousandths: its total minus credit notes, or 0 if it is cancelled. */
export function claimedOf(invoice: Pick<Invoice, 'status' | 'total' | 'amount_credited'>): number {
  const { status, total, amount_credited } = invoice;
  return status === 'cancelled' ? 0 : toThousandths(total) - toThousandths(amount_credited);
}

/**
 * Returns the amounts and status of an invoice after `paid` thousandths have been paid. The amount due is what it claims
 * minus payments, and at least 0.
 */
export function settledBy(invoice: Owed, paid: number, { today, now }: At): Settled {
  const { status, paid_at } = invoice;
  const due = Math.max(0, claimedOf(invoice) - paid);
  const amounts = { amount_paid: fromThousandths(paid), amount_due: fromThousandths(due) };
  if (status === 'draft' || status === 'cancelled') return { ...amounts, status, paid_at };
  if (due === 0) return { ...amounts, status: 'paid', paid_at: paid_at ?? now };
  const { due_date, payment_failed_at, uncollectible } = invoice;
  const unpaid = { due_date, paymentFailed: payment_failed_at !== null, uncollectible };
  return { ...amounts, status: unpaidStatus(unpaid, today), paid_at: null };
}

/** Returns the part of a payment that pays its invoice, in thousandths. Returns 0 unless the payment is completed. */
export function leftOf({ amount, refunded_amount, status }: Payment): number {
  return status === 'completed' ? toThousandths(amount) - toThousandths(refunded_amount) : 0;
}

/** Returns whether an invoice accepts new payments. Drafts and cancelled invoices do not. */
export function takesPayments({ status }: Pick<typeof invoices.$inferSelect, 'status'>): boolean {
  return status !== 'draft' && status !== 'cancelled';
}

/**
 * Checks a payment against its invoice.
 *
 * @param isNew true if the invoice does not have the payment yet. Only then is the status of the invoice checked, so
 *   that a payment of a cancelled invoice can still be refunded.
 * @param takes function that returns whether an invoice takes a new payment
 * @throws AppError validation_failed naming the invalid fields
 */
export function checkPayment<Stored extends Pick<Invoice, 'id' | 'customer_id' | 'status' | 'currency'>>(
  payment: { invoice_id: number; customer_id: number; amount: number },
  invoice: Stored | undefined,
  isNew: boolean,
  takes: (invoice: Stored) => boolean = takesPayments,
): Stored {
  const problems: FieldError[] = [];
  const add = (field: string, message: string) => problems.push({ field, message });
  if (!invoice) {
    add('invoice_id', `there is no invoice ${payment.invoice_id}`);
  } else {
    if (isNew && !takes(invoice)) {
      add('invoice_id', `invoice ${invoice.id} is ${invoice.status} and cannot be paid`);
    }
    if (invoice.customer_id !== payment.customer_id) {
      add('customer_id', `invoice ${invoice.id} does not belong to customer ${payment.customer_id}`);
    }
    if (!hasCurrencyPrecision(payment.amount, invoice.currency)) {
      const decimals = currencyDecimals(invoice.currency);
      add('amount', `must have at most ${decimals} decimals in ${invoice.currency.toUpperCase()}`);
    }
  }
  if (!invoice || problems.length > 0) {
    throw new AppError('validation_failed', 'The payment does not fit its invoice.', problems);
  }
  return invoice;
}
