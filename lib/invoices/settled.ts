import type { invoices, payments } from '@/db/schema';
import { fromThousandths, toThousandths } from '../money';
import { unpaidStatus } from '../overdue';

type Invoice = typeof invoices.$inferSelect;
type Payment = Pick<typeof payments.$inferSelect, 'amount' | 'refunded_amount' | 'status'>;

/**
 * What its payments make of an invoice of our own: the same as `settleInvoice` writes.
 *
 * @param today calendar date in the time zone of the service
 */
export function settled(
  invoice: Invoice,
  ofInvoice: Payment[],
  { today, now }: { today: string; now: Date },
): Pick<Invoice, 'amount_paid' | 'amount_due' | 'status' | 'paid_at'> {
  const completed = ofInvoice.filter(({ status }) => status === 'completed');
  const paid = completed.reduce(
    (sum, one) => sum + toThousandths(one.amount) - toThousandths(one.refunded_amount),
    0,
  );
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
