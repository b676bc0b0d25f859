import { asc, desc, eq, getTableColumns, inArray } from 'drizzle-orm';
import { type Database, pickColumns } from '@/db/database';
import { customerServices, customers, invoices, subscriptionItems, subscriptions } from '@/db/schema';
import { snippetColumns, toCustomerSnippet } from '../customers/queries';
import { AppError } from '../errors';
import { toJsonAmounts } from '../money';
import { MAX_ID } from '../page';
import { literal } from '../page-query';

const s = subscriptions;
const item = subscriptionItems;

/** Returns a subscription with its customer and items. @throws AppError not_found */
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

const serviceColumns = pickColumns(customerServices, 'service_number', 'name', 'domain', 'status');

export function listItems(db: Database, subscriptionIds: number[]) {
  return db
    .select({
      ...getTableColumns(item),
      service: {
        ...serviceColumns,
        ...pickColumns(customerServices, 'next_billing_date', 'ends_on'),
      },
    })
    .from(item)
    .leftJoin(customerServices, eq(customerServices.id, item.customer_service_id))
    .where(inArray(item.subscription_id, subscriptionIds))
    .orderBy(asc(item.id));
}

export const MAX_INVOICES = 100;

/** Lists the latest 100 invoices of a subscription. */
export async function listInvoicesOf(db: Database, subscriptionId: number) {
  const found = await db
    .select({
      ...pickColumns(invoices, 'id', 'number', 'status', 'invoice_date', 'due_date'),
      ...pickColumns(invoices, 'currency', 'total', 'amount_due'),
    })
    .from(invoices)
    .where(eq(invoices.subscription_id, subscriptionId))
    .orderBy(desc(invoices.invoice_date), desc(invoices.id))
    .limit(literal(MAX_INVOICES));
  return found.map((row) => toJsonAmounts(row, 'total', 'amount_due'));
}

export const MAX_SERVICES = 500;

/** Lists the first 500 services of a customer by number, as choices of a form. */
export async function listServiceChoices(db: Database, customerId: number) {
  return db
    .select(serviceColumns)
    .from(customerServices)
    .where(eq(customerServices.customer_id, customerId))
    .orderBy(asc(customerServices.service_number))
    .limit(literal(MAX_SERVICES));
}

export type ServiceChoice = Awaited<ReturnType<typeof listServiceChoices>>[number];

const MAX_BILLING = 25;

/** Lists the latest 25 subscriptions with an item that pays for a service. */
export async function listSubscriptionsOfService(db: Database, serviceId: number) {
  return db
    .selectDistinct(
      pickColumns(s, 'id', 'status', 'next_billing_date', 'cancel_at', 'stripe_subscription_id'),
    )
    .from(item)
    .innerJoin(s, eq(s.id, item.subscription_id))
    .where(eq(item.customer_service_id, serviceId))
    .orderBy(desc(s.id))
    .limit(literal(MAX_BILLING));
}
