import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, invoices, payments, stripeCustomers, subscriptions } from '@/db/schema';
import { snippetColumns, toCustomerSnippet } from '../../customers/snippet';
import type { StoredEvent } from './inbox-queries';

export async function findRecordsOf(
  db: Database,
  { object_id, stripe_customer_id }: Pick<StoredEvent, 'object_id' | 'stripe_customer_id'>,
) {
  const [customer] = await db
    .select(snippetColumns)
    .from(stripeCustomers)
    .innerJoin(customers, eq(customers.id, stripeCustomers.customer_id))
    .where(eq(stripeCustomers.stripe_customer_id, stripe_customer_id ?? ''));
  const [subscription] = await db
    .select({ id: subscriptions.id })
    .from(subscriptions)
    .where(eq(subscriptions.stripe_subscription_id, object_id ?? ''));
  const [invoice] = await db
    .select({ id: invoices.id, number: invoices.number, subscription_id: invoices.subscription_id })
    .from(invoices)
    .where(eq(invoices.stripe_invoice_id, object_id ?? ''));
  const [payment] = await db
    .select({ id: payments.id })
    .from(payments)
    .where(eq(payments.payment_reference, object_id ?? ''));
  return {
    customer: customer ? toCustomerSnippet(customer) : null,
    subscription_id: subscription?.id ?? invoice?.subscription_id ?? null,
    invoice: invoice ?? null,
    payment_id: payment?.id ?? null,
  };
}
