import { and, eq, inArray, notExists, sql } from 'drizzle-orm';
import {
  customerServices,
  customers,
  invoices,
  payments,
  salesDocuments,
  stripeCustomers,
  subscriptions,
} from '@/db/schema';
import { isSure } from '../customers/sure-link';
import type { NumberOrigin } from '../stripe/provider';
import type { SyncContext } from './context';
import { completeCreated, detailsOfCreated } from './created-customers';

export type LinkedBy = (typeof stripeCustomers.$inferSelect)['linked_by'];
/** To which customer, and how surely. */
export interface Link {
  customerId: number;
  linkedBy: LinkedBy;
  /** Of the number it is linked by; null: by none, or nobody noted where that stands. */
  origin: NumberOrigin | null;
}

/** A link as it is stored. */
export function toColumns({ customerId, linkedBy, origin }: Link) {
  return {
    customer_id: customerId,
    linked_by: linkedBy,
    number_source: origin?.source ?? null,
    number_told_at: origin?.at ?? null,
    number_told_by: origin?.by ?? null,
  };
}

export function toLink(stored: ReturnType<typeof toColumns>): Link {
  const { number_source: source, number_told_at: at, number_told_by: by } = stored;
  return {
    customerId: stored.customer_id,
    linkedBy: stored.linked_by,
    origin: source && { source, at, by },
  };
}

/**
 * Moves what a Stripe customer has here to another of our customers, and removes the customer that was
 * created for it once that is empty.
 */
export async function moveStripeCustomer(
  ctx: SyncContext,
  stripeCustomerId: string,
  from: Link,
  to: Link,
): Promise<void> {
  const { tx } = ctx;
  const customer_id = to.customerId;
  const concerned = [from, to].filter((link) => !isSure(link)).map((link) => link.customerId);
  const before = await Promise.all(concerned.map((id) => detailsOfCreated(tx, id)));
  await tx
    .update(stripeCustomers)
    .set(toColumns(to))
    .where(eq(stripeCustomers.stripe_customer_id, stripeCustomerId));
  if (customer_id !== from.customerId || (isSure(to) && !isSure(from))) ctx.moved.push(stripeCustomerId);
  if (customer_id === from.customerId) return; // the same one, known more surely
  await tx
    .update(subscriptions)
    .set({ customer_id })
    .where(eq(subscriptions.stripe_customer_id, stripeCustomerId));
  await tx.update(invoices).set({ customer_id }).where(eq(invoices.stripe_customer_id, stripeCustomerId));
  const moved = tx
    .select({ id: invoices.id })
    .from(invoices)
    .where(eq(invoices.stripe_customer_id, stripeCustomerId));
  await tx.update(payments).set({ customer_id }).where(inArray(payments.invoice_id, moved));
  ctx.changes.push({
    entity: 'customer',
    entity_id: customer_id,
    stripe_id: stripeCustomerId,
    field: 'linked_customer_id',
    before: String(from.customerId),
    after: String(customer_id),
    outcome: 'fixed',
  });
  if (from.linkedBy === 'created') await leaveToOthers(ctx, from.customerId);
  for (const [i, id] of concerned.entries()) await completeCreated(tx, id, before[i] ?? []);
  if (from.linkedBy === 'created') await removeIfEmpty(ctx, from.customerId);
}

/** A customer that was created for it is left to those who came to it by its e-mail. */
async function leaveToOthers({ tx }: SyncContext, id: number): Promise<void> {
  await tx
    .update(stripeCustomers)
    .set({ linked_by: 'created' })
    .where(and(eq(stripeCustomers.customer_id, id), eq(stripeCustomers.linked_by, 'email')));
}

async function removeIfEmpty({ tx }: SyncContext, id: number): Promise<void> {
  const owned = [customerServices, invoices, salesDocuments, subscriptions, payments, stripeCustomers].map(
    (table) => notExists(tx.select({ one: sql`1` }).from(table).where(eq(table.customer_id, id))),
  );
  // Waits for whoever is about to give it something; the delete then sees it.
  await tx.select({ id: customers.id }).from(customers).where(eq(customers.id, id)).for('update');
  // Nobody has edited it since sync created it.
  const untouched = sql`${customers.updated_at} = ${customers.created_at}`;
  await tx.delete(customers).where(and(eq(customers.id, id), untouched, ...owned));
}
