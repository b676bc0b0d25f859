import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { leftOf } from '../invoices/settled';
import { fromThousandths, toAmountText, toThousandths } from '../money';
import { type StaffTask, tellStaff } from '../tasks/staff-tasks';
import type { LockedInvoice } from './check-payment';
import type { StoredPayment } from './lock-payment';
import { namesStripeMoney, STRIPE_MONEY } from './stripe-payment';

/**
 * Tells staff that a payment of an invoice of Stripe's does not count there, and also the writer if more is recorded
 * than Stripe asks for. The payment is accepted all the same: money that came in is booked.
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
  const task = toMoneyTask(invoice, after, await recordedBeside(tx, after));
  if (!task) return undefined;
  await tellStaff(tx, task);
  return task.kind === 'payment_exceeds_due' ? task.message : undefined;
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

/**
 * The task that a payment of an invoice of Stripe's leaves, whose state only Stripe decides: more is recorded than
 * Stripe asks for, or Stripe does not know of the payment and still asks for its money.
 *
 * @param beside what else was recorded here of the invoice, in thousandths, and is not Stripe's own money
 */
export function toMoneyTask(invoice: Owed, after: StoredPayment, beside: number): StaffTask | undefined {
  const { id, payment_reference } = after;
  const { number, currency, amount_due, amount_off_stripe, stripe_invoice_id } = invoice;
  const known = toThousandths(amount_off_stripe ?? '0');
  const asked = toThousandths(amount_due) + known;
  const isStripes = namesStripeMoney(payment_reference);
  const all = leftOf(after) + (isStripes ? 0 : beside);
  const isTooMuch = all > asked;
  if (!isTooMuch && (isStripes || all <= known)) return undefined;
  const text = (amount: number) => toAmountText(fromThousandths(amount), currency);
  const name = number ?? stripe_invoice_id;
  return {
    kind: isTooMuch ? 'payment_exceeds_due' : 'payment_not_counted',
    subject: `${id} ${text(all)}`,
    message: isTooMuch
      ? `With payment ${id}, ${text(all)} is recorded of invoice ${name}, for which Stripe asks ${text(asked)}.`
      : `Payment ${id} of ${text(leftOf(after))} does not count: Stripe manages invoice ${name} and still asks for ${text(toThousandths(amount_due))}. Mark the invoice as paid in Stripe, or delete the payment.`,
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
