import { eq, sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { payments } from '@/db/schema';
import { AppError } from '../errors';
import { leftOf } from '../invoices/settle';
import { fromThousandths, toAmountText, toJsonAmount, toThousandths } from '../money';
import { idInText } from '../store/commit';
import type { Paid, StoredInvoice, StoredPayment, Table } from '../store/snapshot';
import type { StaffTask } from '../tasks/staff-tasks';

/** Pattern of Stripe's payment intent and charge ids (`py_` for bank debits). Also used in SQL. */
const STRIPE_MONEY = '^(pi|ch|py)_';
const stripeMoney = new RegExp(STRIPE_MONEY);

export const namesStripeMoney = (reference: string): boolean => stripeMoney.test(reference);

export const isIntent = (id: string): boolean => id.startsWith('pi_');

/** Returns whether a payment was recorded here and its reference is not the id of a Stripe payment. */
export const isOffStripe = ({ source, payment_reference }: PaymentOrigin): boolean =>
  source !== 'stripe' && !namesStripeMoney(payment_reference);

type PaymentOrigin = Pick<StoredPayment, 'source' | 'payment_reference'>;

/** Maximum length of a transfer's reference. The references of its payments may be three characters longer. */
export const MAX_REFERENCE = 252;

/** Maximum number of payments of a transfer. The limit keeps their references short. */
export const MAX_SHARES = 99;

/**
 * Returns whether a part of a payment can become credit. This excludes Stripe's payments, and references that are too
 * long to append the number of a share.
 */
export const isReleasable = (payment: PaymentOrigin): boolean =>
  isOffStripe(payment) && payment.payment_reference.length <= MAX_REFERENCE;

export function alreadyCounted(payment: Pick<StoredPayment, 'id' | 'payment_reference'>): AppError {
  const { id, payment_reference } = payment;
  return new AppError(
    'conflict',
    `Payment ${id} (${payment_reference}) already counts this money, as Stripe reported it. For other money, use a reference that is not an id of Stripe.`,
    [{ field: 'payment_reference', message: `names money that payment ${id} already counts` }],
  );
}

/** Refuses a Stripe payment id as a reference if sync recorded that payment, or a payment of the same Stripe invoice. */
export function refuseCounted(
  { payments, invoices }: { payments: Table<number, StoredPayment>; invoices: Table<number, StoredInvoice> },
  { payment_reference: reference, invoice_id }: Pick<StoredPayment, 'payment_reference' | 'invoice_id'>,
  id = 0,
): void {
  if (!namesStripeMoney(reference)) return;
  const stripeInvoice = invoices.get(invoice_id)?.stripe_invoice_id ?? null;
  const isCounted = (row: StoredPayment) =>
    row.source === 'stripe' &&
    row.id !== id &&
    (row.stripe_payment_intent_id === reference ||
      row.stripe_charge_id === reference ||
      (stripeInvoice !== null && (row.invoice_id === invoice_id || row.payment_reference === stripeInvoice)));
  const [counted] = payments
    .all()
    .filter(isCounted)
    .sort((a, b) => a.id - b.id);
  if (counted) throw alreadyCounted(counted);
}

/**
 * Notes that a payment of Stripe gets another reference. Sync finds its payments by reference, and without a tombstone
 * it would record this one a second time. Its invoice keeps the payment's id, by which sync finds it from now on.
 */
export function keepFindable(
  { tombstones, invoices }: { tombstones: string[]; invoices: Table<number, StoredInvoice> },
  { id, payment_reference: reference }: StoredPayment,
): void {
  tombstones.push(reference);
  const invoice = invoices.all().find(({ stripe_invoice_id }) => stripe_invoice_id === reference);
  if (invoice) invoices.put({ ...invoice, collected_by_payment_id: id });
}

/** Returns the Stripe id of a stored payment, as `stripePaymentOf` does. Returns null if the payment does not exist. */
export async function findStripePayment(db: Database, id: number): Promise<string | null> {
  const [found] = await db
    .select({ intent: payments.stripe_payment_intent_id, reference: payments.payment_reference })
    .from(payments)
    .where(eq(payments.id, id));
  return found ? stripePaymentOf(found) : null;
}

/** Returns a payment's payment intent, or its reference if that is an intent or charge id. Otherwise returns null. */
export function stripePaymentOf(payment: { intent: string | null; reference: string }): string | null {
  const { intent, reference } = payment;
  return intent ?? (namesStripeMoney(reference) ? reference : null);
}

type Owed = Pick<
  StoredInvoice,
  'number' | 'currency' | 'amount_due' | 'amount_off_stripe' | 'stripe_invoice_id' | 'collected_by_payment_id'
>;

/**
 * Returns whether a change makes a payment that was recorded here pay more of a Stripe invoice. Returns false for the
 * payment that stands for the amount collected by Stripe, because sync reports a difference from that amount.
 */
export function isMoreAtStripe(
  { stripe_invoice_id, collected_by_payment_id }: Owed,
  before: StoredPayment | null,
  after: StoredPayment,
): boolean {
  if (stripe_invoice_id === null || after.source === 'stripe') return false;
  if (after.id === collected_by_payment_id) return false;
  const was = before?.invoice_id === after.invoice_id ? leftOf(before) : 0;
  return leftOf(after) > was;
}

/**
 * Returns a staff task for a payment of a Stripe invoice if more is recorded than Stripe asks for, or if Stripe does
 * not know the payment and still asks for its amount. Otherwise returns undefined. Staff must act, because only Stripe
 * changes the invoice's status. A payment may replace money that Stripe collected and gave back.
 *
 * @param paid sums of the invoice's payments, including this one
 */
export function toMoneyTask(invoice: Owed, after: StoredPayment, paid: Paid): StaffTask | undefined {
  const { id: entity_id, payment_reference } = after;
  const id = idInText(entity_id);
  const { number, currency, amount_due, amount_off_stripe, stripe_invoice_id } = invoice;
  const known = toThousandths(amount_off_stripe ?? '0') + paid.back;
  const asked = toThousandths(amount_due) + known;
  const isStripes = namesStripeMoney(payment_reference);
  const all = isStripes ? leftOf(after) : paid.offStripe;
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
    entity_id,
  };
}

/** A Stripe invoice, with the amount recorded here that Stripe does not count as paid. */
export interface Uncounted {
  id: number;
  number: string | null;
  currency: string;
  amount: number;
}

/** Maximum number of invoices that `listUncounted` returns. */
const MAX_LISTED = 5;

/** Lists a customer's Stripe invoices, or the one invoice, with payments recorded here that Stripe does not count. */
export async function listUncounted(
  db: Database,
  of: { customer_id: number } | { invoice_id: number },
): Promise<Uncounted[]> {
  const isIts =
    'invoice_id' in of ? sql`i.id = ${of.invoice_id}::int` : sql`i.customer_id = ${of.customer_id}::int`;
  const found = await rows<Omit<Uncounted, 'amount'> & { amount: string }>(
    db,
    sql`select i.id, i.number, i.currency, (sum(p.amount - p.refunded_amount) - known)::text as amount
      from invoices i join payments p on p.invoice_id = i.id
        cross join lateral (select coalesce(i.amount_off_stripe, 0) + given_back(i.id) as known) counted
      where ${isIts} and i.stripe_invoice_id is not null and i.status <> 'cancelled' and p.status = 'completed'
        and p.source <> 'stripe' and p.id is distinct from i.collected_by_payment_id
        and p.payment_reference !~ ${STRIPE_MONEY}
      group by i.id, known having sum(p.amount - p.refunded_amount) > known
      order by i.id desc limit ${sql.raw(String(MAX_LISTED))}`,
  );
  return found.map(({ amount, ...one }) => ({ ...one, amount: toJsonAmount(amount) }));
}
