import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { leftOf } from '../invoices/settled';
import { fromThousandths, toAmountText, toThousandths } from '../money';
import { type StaffTask, tellStaff } from '../tasks/staff-tasks';
import type { LockedInvoice } from './check-payment';
import type { StoredPayment } from './lock-payment';
import { namesStripeMoney, STRIPE_MONEY } from './stripe-payment';

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
  if (!invoice || !isMoreAtStripe(invoice, before, after)) return undefined;
  const task = toExcessTask(invoice, after, await recordedBeside(tx, after));
  if (!task) return undefined;
  await tellStaff(tx, task);
  return task.message;
}

type Owed = Pick<
  LockedInvoice,
  'number' | 'currency' | 'amount_due' | 'amount_off_stripe' | 'stripe_invoice_id'
>;

/** Whether it makes more of an invoice of Stripe's paid than before. */
export function isMoreAtStripe(
  { stripe_invoice_id }: Owed,
  before: StoredPayment | null,
  after: StoredPayment,
): boolean {
  if (stripe_invoice_id === null || after.source === 'stripe') return false;
  const was = before?.invoice_id === after.invoice_id ? leftOf(before) : 0;
  return leftOf(after) > was;
}

/** @param beside what else was recorded here of the invoice, in thousandths, and is not Stripe's own money */
export function toExcessTask(invoice: Owed, after: StoredPayment, beside: number): StaffTask | undefined {
  const { id, payment_reference } = after;
  const { number, currency, amount_due, amount_off_stripe, stripe_invoice_id } = invoice;
  const asked = toThousandths(amount_due) + toThousandths(amount_off_stripe ?? '0');
  const all = leftOf(after) + (namesStripeMoney(payment_reference) ? 0 : beside);
  if (all <= asked) return undefined;
  const [sum, due] = [all, asked].map((amount) => toAmountText(fromThousandths(amount), currency));
  return {
    kind: 'payment_exceeds_due',
    subject: `${id} ${sum}`,
    message: `With payment ${id}, ${sum} is recorded of invoice ${number ?? stripe_invoice_id}, for which Stripe asks ${due}.`,
    entity: 'payment',
    entity_id: id,
  };
}

async function recordedBeside(tx: Database, { id, invoice_id }: StoredPayment): Promise<number> {
  const [found] = await rows<{ sum: string }>(
    tx,
    sql`select coalesce(sum(amount - refunded_amount), 0)::text as sum from payments
      where invoice_id = ${invoice_id}::int and id <> ${id}::int and status = 'completed' and source <> 'stripe'
        and payment_reference !~ ${STRIPE_MONEY}`,
  );
  return toThousandths(found?.sum ?? '0');
}
