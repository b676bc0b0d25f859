import { eq, sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { invoices, payments, stripeCustomers } from '@/db/schema';
import { AppError } from '../errors';

/** Matches the ids that Stripe gives to money: payment intents and charges (`py_`: by bank debit), in SQL as well. */
export const STRIPE_MONEY = '^(pi|ch|py)_';
const stripeMoney = new RegExp(STRIPE_MONEY);

export const namesStripeMoney = (reference: string): boolean => stripeMoney.test(reference);

export const isIntent = (id: string): boolean => id.startsWith('pi_');

interface Named {
  payment_reference: string;
  invoice_id: number;
}

/** The Stripe customer whose lock a write needs, if it names money of Stripe's for an invoice of that customer. */
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

/** Makes sync decide again if it is just deciding on the same invoice. The caller holds the owner's key. */
export async function interruptSync(tx: Database, owner: string): Promise<void> {
  await tx
    .update(stripeCustomers)
    .set({ version: sql`${stripeCustomers.version} + 1` })
    .where(eq(stripeCustomers.stripe_customer_id, owner));
}

/**
 * Refuses a payment whose reference names Stripe's money that sync has recorded: the money of its invoice, or of the same
 * intent or charge on any invoice.
 *
 * @param id of the payment itself, if it exists
 * @throws AppError conflict naming the payment that counts
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

export function alreadyCounted({
  id,
  payment_reference,
}: {
  id: number;
  payment_reference: string;
}): AppError {
  return new AppError(
    'conflict',
    `Payment ${id} (${payment_reference}) already counts this money, as Stripe reported it. Other money needs a reference that is no id of Stripe's.`,
    [{ field: 'payment_reference', message: `names money that payment ${id} counts` }],
  );
}

/** What Stripe calls a payment: its payment intent, or a charge that is its reference; null where nothing says so. */
export async function findStripePayment(db: Database, id: number): Promise<string | null> {
  const [found] = await db
    .select({ intent: payments.stripe_payment_intent_id, reference: payments.payment_reference })
    .from(payments)
    .where(eq(payments.id, id));
  return found ? stripePaymentOf(found) : null;
}

/** The same, from its own row alone. */
export function stripePaymentOf({
  intent,
  reference,
}: {
  intent: string | null;
  reference: string;
}): string | null {
  return intent ?? (namesStripeMoney(reference) ? reference : null);
}
