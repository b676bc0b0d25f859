import { and, asc, eq, getTableColumns, inArray, ne } from 'drizzle-orm';
import type { Database } from '@/db/database';
import {
  customerServices,
  customers,
  invoices,
  payments,
  stripeCustomers,
  subscriptionItems,
  subscriptions,
} from '@/db/schema';
import { snippetColumns, toCustomerSnippet } from '../customers/snippet';
import { AppError } from '../errors';

/** Which of our customers a Stripe customer is, and how much of it is here. @throws AppError not_found */
export async function getStripeCustomer(db: Database, id: string) {
  const [found] = await db
    .select({ link: getTableColumns(stripeCustomers), customer: snippetColumns })
    .from(stripeCustomers)
    .innerJoin(customers, eq(customers.id, stripeCustomers.customer_id))
    .where(eq(stripeCustomers.stripe_customer_id, id));
  if (!found) throw new AppError('not_found', `There is no Stripe customer ${id}.`);
  const ofIt = eq(invoices.stripe_customer_id, id);
  const itsInvoices = db.select({ id: invoices.id }).from(invoices).where(ofIt);
  return {
    ...found.link,
    customer: toCustomerSnippet(found.customer),
    subscriptions: await db.$count(subscriptions, eq(subscriptions.stripe_customer_id, id)),
    invoices: await db.$count(invoices, ofIt),
    payments: await db.$count(payments, inArray(payments.invoice_id, itsInvoices)),
  };
}

/** Items of a Stripe customer's subscriptions that pay for services of others than this customer. */
export async function listItemsOfOthers(db: Database, stripeCustomerId: string, customerId: number) {
  return db
    .select({ item: getTableColumns(subscriptionItems), service_number: customerServices.service_number })
    .from(subscriptionItems)
    .innerJoin(subscriptions, eq(subscriptions.id, subscriptionItems.subscription_id))
    .innerJoin(customerServices, eq(customerServices.id, subscriptionItems.customer_service_id))
    .where(
      and(
        eq(subscriptions.stripe_customer_id, stripeCustomerId),
        ne(customerServices.customer_id, customerId),
      ),
    )
    .orderBy(asc(subscriptionItems.id));
}
