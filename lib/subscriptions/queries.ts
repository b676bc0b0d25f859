import { asc, desc, eq, getTableColumns, inArray } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customerServices, customers, invoices, subscriptionItems, subscriptions } from '@/db/schema';
import { snippetColumns, toCustomerSnippet } from '../customers/queries';
import { AppError } from '../errors';
import { toJsonAmounts } from '../money';
import { MAX_ID } from '../page';
import { literal } from '../page-query';

const s = subscriptions;
const item = subscriptionItems;

/** One subscription with its customer and items. @throws AppError not_found */
export async function getSubscription(db: Database, id: number) {
  const [found] = await db
    .select({ ...getTableColumns(s), customer: snippetColumns })
    .from(s)
    .innerJoin(customers, eq(customers.id, s.customer_id))
    .where(eq(s.id, Math.min(id, MAX_ID)));
  if (!found) throw new AppError('not_found', `There is no subscription ${id}.`);
  return { ...found, customer: toCustomerSnippet(found.customer), items: await listItems(db, [id]) };
}

export type SubscriptionDetails = Awaited<ReturnType<typeof getSubscription>>;
export type SubscriptionItem = SubscriptionDetails['items'][number];

export function listItems(db: Database, subscriptionIds: number[]) {
  return db
    .select({
      ...getTableColumns(item),
      service: {
        service_number: customerServices.service_number,
        name: customerServices.name,
        domain: customerServices.domain,
        status: customerServices.status,
        next_billing_date: customerServices.next_billing_date,
        ends_on: customerServices.ends_on,
      },
    })
    .from(item)
    .leftJoin(customerServices, eq(customerServices.id, item.customer_service_id))
    .where(inArray(item.subscription_id, subscriptionIds))
    .orderBy(asc(item.id));
}

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
  return found.map((row) => toJsonAmounts(row, 'total', 'amount_due'));
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

const MAX_BILLING = 25;

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
