import { asc, desc, eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customerServices, invoices, subscriptionItems, subscriptions } from '@/db/schema';
import { toJsonAmount } from '../money';
import { literal } from '../page-query';

export const MAX_INVOICES = 100;

/** The latest 100 invoices of a subscription. */
export async function listInvoicesOf(db: Database, subscriptionId: number) {
  const found = await db
    .select({
      id: invoices.id,
      number: invoices.number,
      status: invoices.status,
      invoice_date: invoices.invoice_date,
      due_date: invoices.due_date,
      currency: invoices.currency,
      total: invoices.total,
      amount_due: invoices.amount_due,
    })
    .from(invoices)
    .where(eq(invoices.subscription_id, subscriptionId))
    .orderBy(desc(invoices.invoice_date), desc(invoices.id))
    .limit(literal(MAX_INVOICES));
  return found.map((row) => ({
    ...row,
    total: toJsonAmount(row.total),
    amount_due: toJsonAmount(row.amount_due),
  }));
}

export const MAX_SERVICES = 500;

/** The first 500 services of a customer by number, to choose from. */
export async function listServiceChoices(db: Database, customerId: number) {
  return db
    .select({
      service_number: customerServices.service_number,
      name: customerServices.name,
      domain: customerServices.domain,
      status: customerServices.status,
    })
    .from(customerServices)
    .where(eq(customerServices.customer_id, customerId))
    .orderBy(asc(customerServices.service_number))
    .limit(literal(MAX_SERVICES));
}

export type ServiceChoice = Awaited<ReturnType<typeof listServiceChoices>>[number];

export const MAX_BILLING = 25;

/** The latest 25 subscriptions with an item that pays for a service. */
export async function listSubscriptionsOfService(db: Database, serviceId: number) {
  return db
    .selectDistinct({
      id: subscriptions.id,
      status: subscriptions.status,
      next_billing_date: subscriptions.next_billing_date,
      cancel_at: subscriptions.cancel_at,
      stripe_subscription_id: subscriptions.stripe_subscription_id,
    })
    .from(subscriptionItems)
    .innerJoin(subscriptions, eq(subscriptions.id, subscriptionItems.subscription_id))
    .where(eq(subscriptionItems.customer_service_id, serviceId))
    .orderBy(desc(subscriptions.id))
    .limit(literal(MAX_BILLING));
}
