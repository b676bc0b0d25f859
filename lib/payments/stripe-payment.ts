import { eq, sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { invoices, payments, stripeCustomers } from '@/db/schema';
import { AppError } from '../errors';
import { leftOf } from '../invoices/settle';
import { fromThousandths, toAmountText, toJsonAmount, toThousandths } from '../money';
import { type StaffTask, tellStaff } from '../tasks/staff-tasks';
import type { LockedInvoice } from './lock-payment';
import type { StoredPayment } from './schema';

/** Pattern of Stripe's ids of payment intents and charges (`py_` for bank debits). Also used in SQL. */
const STRIPE_MONEY = '^(pi|ch|py)_';
const stripeMoney = new RegExp(STRIPE_MONEY);

export const namesStripeMoney = (reference: string): boolean => stripeMoney.test(reference);

export const isIntent = (id: string): boolean => id.startsWith('pi_');

type Named = Pick<StoredPayment, 'payment_reference' | 'invoice_id'>;

/** Returns the Stripe customer to lock for a write whose reference names Stripe's money. */
export async function ownerOfMoney(
  db: Database,
  { payment_reference, invoice_id }: Named,
): Promise<string | undefined> {
  if (!namesStripeMoney(payment_reference)) return undefined;
  const [found] = await db
    .select({ owner: invoices.stripe_customer_id })
    .from(invoices)
    .where(eq(invoices.id, invoice_id));
  return found?.owner ?? undefined;
}

/** Makes sync decide again if it is now deciding on an invoice of this owner. The caller holds the owner's key. */
export async function interruptSync(tx: Database, owner: string): Promise<void> {
  await tx
    .update(stripeCustomers)
    .set({ version: sql`${stripeCustomers.version} + 1` })
    .where(eq(stripeCustomers.stripe_customer_id, owner));
}

/**
 * Refuses a payment whose reference names Stripe's money if sync has already recorded it: as a payment of the same
 * invoice, or with the same payment intent or charge on any invoice.
 *
 * @param id id of the payment itself, if it exists
 * @throws AppError conflict with the payment that counts
 */
export async function refuseCounted(
  tx: Database,
  { payment_reference: reference, invoice_id }: Named,
  id = 0,
): Promise<void> {
  if (!namesStripeMoney(reference)) return;
  const [counted] = await rows<{ id: number; payment_reference: string }>(
    tx,
    sql`select p.id, p.payment_reference from payments p where p.source = 'stripe' and p.id <> ${id}::int and (
        p.stripe_payment_intent_id = ${reference} or p.stripe_charge_id = ${reference}
        or p.payment_reference = (select i.stripe_invoice_id from invoices i where i.id = ${invoice_id}::int)
        or p.invoice_id = (select i.id from invoices i where i.id = ${invoice_id}::int and i.stripe_invoice_id is not null))
      order by p.id limit 1`,
  );
  if (counted) throw alreadyCounted(counted);
}

export function alreadyCounted(payment: Pick<StoredPayment, 'id' | 'payment_reference'>): AppError {
  const { id, payment_reference } = payment;
  return new AppError(
    'conflict',
    `Payment ${id} (${payment_reference}) already counts this money, as Stripe reported it. Other money needs a reference that is no id of Stripe's.`,
    [{ field: 'payment_reference', message: `names money that payment ${id} counts` }],
  );
}

/** Returns Stripe's id of a payment: its payment intent, or a charge that is its reference. Null if it has neither. */
export async function findStripePayment(db: Database, id: number): Promise<string | null> {
  const [found] = await db
    .select({ intent: payments.stripe_payment_intent_id, reference: payments.payment_reference })
    .from(payments)
    .where(eq(payments.id, id));
  return found ? stripePaymentOf(found) : null;
}

/** Returns Stripe's id of a payment from the payment's own row. */
export function stripePaymentOf(payment: { intent: string | null; reference: string }): string | null {
  const { intent, reference } = payment;
  return intent ?? (namesStripeMoney(reference) ? reference : null);
}

/**
 * Creates a staff task if a payment on one of Stripe's invoices does not count at Stripe. Also warns the writer if more
 * is recorded than Stripe asks for. The payment is still accepted, because received money is always booked.
 *
 * @param before the previous payment; null for a new one
 * @returns a warning; undefined if the amount is not too much, or not more than before
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

/** Returns whether the payment pays more of one of Stripe's invoices than before. */
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
 * Returns the staff task for a payment on one of Stripe's invoices, whose state only Stripe decides: either more is
 * recorded than Stripe asks for, or Stripe does not know the payment and still asks for the money.
 *
 * @param beside the invoice's other payments recorded here that are not Stripe's money, in thousandths
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

/** One of Stripe's invoices, with the amount recorded here that Stripe does not count as paid. */
export interface Uncounted {
  id: number;
  number: string | null;
  currency: string;
  amount: number;
}

/** Maximum invoices listed. */
const MAX_LISTED = 5;

/** Lists Stripe's invoices of one customer, or one invoice, with payments recorded here that Stripe does not count. */
export async function listUncounted(
  db: Database,
  of: { customer_id: number } | { invoice_id: number },
): Promise<Uncounted[]> {
  const isIts =
    'invoice_id' in of ? sql`i.id = ${of.invoice_id}::int` : sql`i.customer_id = ${of.customer_id}::int`;
  const found = await rows<Omit<Uncounted, 'amount'> & { amount: string }>(
    db,
    sql`select i.id, i.number, i.currency, (sum(p.amount - p.refunded_amount) - coalesce(i.amount_off_stripe, 0))::text as amount
      from invoices i join payments p on p.invoice_id = i.id
      where ${isIts} and i.stripe_invoice_id is not null and i.status <> 'cancelled' and p.status = 'completed'
        and p.source <> 'stripe' and p.id is distinct from i.collected_by_payment_id
        and p.payment_reference !~ ${STRIPE_MONEY}
      group by i.id having sum(p.amount - p.refunded_amount) > coalesce(i.amount_off_stripe, 0)
      order by i.id desc limit ${sql.raw(String(MAX_LISTED))}`,
  );
  return found.map(({ amount, ...one }) => ({ ...one, amount: toJsonAmount(amount) }));
}
