import type { InvoiceDetails } from '@/lib/invoices/queries';
import { formatDate, formatDay } from '../../../_components/format';

/** Why an overdue invoice is overdue; null for any other. */
export function overdueReason(invoice: InvoiceDetails, timeZone: string): string | null {
  const { status, payment_failed_at: failed, uncollectible, due_date } = invoice;
  if (status !== 'overdue') return null;
  const reasons: string[] = [];
  if (failed) reasons.push(`A payment failed on ${formatDay(failed, timeZone)}.`);
  if (uncollectible) reasons.push('Stripe has stopped trying to collect it. It can still be paid.');
  if (reasons.length === 0 && due_date) reasons.push(`It was due on ${formatDate(due_date)}.`);
  return reasons.join(' ');
}
