import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { leftOf } from '../invoices/settled';
import { fromThousandths, toAmountText, toThousandths } from '../money';
import { tellStaff } from '../tasks/staff-tasks';
import type { LockedInvoice } from './check-payment';
import type { StoredPayment } from './lock-payment';
import { namesStripeMoney } from './stripe-payment';

/**
 * Tells staff, and whoever writes the payment, that more is recorded of an invoice of Stripe's than it asks for. The
 * payment is accepted all the same: money that came in is booked.
 *
 * @param before the payment as it was; null: it is new
 * @returns a sentence; undefined: it is not too much, or it is no more than before
 */
export async function warnOfExcess(
  tx: Database,
  invoice: LockedInvoice | undefined,
  before: StoredPayment | null,
  after: StoredPayment,
): Promise<string | undefined> {
  if (!invoice || invoice.stripe_invoice_id === null || after.source === 'stripe') return undefined;
  const isSameInvoice = before?.invoice_id === after.invoice_id;
  const paid = leftOf(after);
  if (paid <= (before && isSameInvoice ? leftOf(before) : 0)) return undefined;
  const asked = toThousandths(invoice.amount_due) + toThousandths(invoice.amount_off_stripe ?? '0');
  const all = paid + (namesStripeMoney(after.payment_reference) ? 0 : await recordedBeside(tx, after));
  if (all <= asked) return undefined;
  const { currency } = invoice;
  const [sum, due] = [all, asked].map((amount) => toAmountText(fromThousandths(amount), currency));
  const warning = `With payment ${after.id}, ${sum} is recorded of invoice ${invoice.number ?? invoice.stripe_invoice_id}, for which Stripe asks ${due}.`;
  await tellStaff(tx, [
    {
      kind: 'payment_exceeds_due',
      subject: `${after.id} ${sum}`,
      message: `${warning} Correct the payment, or refund what is too much.`,
      entity: 'payment',
      entity_id: after.id,
    },
  ]);
  return warning;
}

/** What else was recorded here of the invoice, in thousandths, and is not Stripe's own money. */
async function recordedBeside(tx: Database, { id, invoice_id }: StoredPayment): Promise<number> {
  const [found] = await rows<{ sum: string }>(
    tx,
    sql`select coalesce(sum(amount - refunded_amount), 0)::text as sum from payments
      where invoice_id = ${invoice_id}::int and id <> ${id}::int and status = 'completed' and source <> 'stripe'
        and payment_reference !~ '^(pi|ch|py)_'`,
  );
  return toThousandths(found?.sum ?? '0');
}
