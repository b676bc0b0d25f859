import { and, asc, count, desc, eq, getTableColumns, inArray, ne, sql } from 'drizzle-orm';
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
import { snippetColumns, toCustomerSnippet } from '../../customers/queries';
import type { LinkedBy } from '../../customers/sure-link';
import { AppError } from '../../errors';
import { literal, type PageStart, readCursorPage } from '../../page-query';

/** @throws AppError not_found */
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

export async function listCreatedForStripe(db: Database, page: PageStart & { limit: number }) {
  const { customer_id, stripe_customer_id } = stripeCustomers;
  return readCursorPage(
    page,
    page.limit,
    async (cursor, backwards, limit) => {
      const [id = '', stripeId] = cursor?.split('.') ?? [];
      const beyond = backwards ? sql`>` : sql`<`;
      const found = await db
        .select({
          stripe_customer_id,
          created_at: stripeCustomers.created_at,
          customer: snippetColumns,
          // The first customer with the same e-mail address.
          same: sql<string | null>`(select s.customer_number from customers s
            where lower(s.email) = lower(${customers.email}) and s.id <> ${customers.id} order by s.id limit 1)`,
        })
        .from(stripeCustomers)
        .innerJoin(customers, eq(customers.id, customer_id))
        .where(
          and(
            sql`${stripeCustomers.linked_by} = 'created'`, // as its partial index says
            /^\d{1,9}$/.test(id) && stripeId !== undefined
              ? sql`(${customer_id}, ${stripe_customer_id}) ${beyond} (${id}::int, ${stripeId})`
              : undefined,
          ),
        )
        .orderBy(...[customer_id, stripe_customer_id].map((column) => (backwards ? asc : desc)(column)))
        .limit(limit);
      return found.map((row) => ({ ...row, customer: toCustomerSnippet(row.customer) }));
    },
    (row) => `${row.customer.id}.${row.stripe_customer_id}`,
  );
}

export async function countLinks(db: Database): Promise<Record<LinkedBy, number>> {
  const { linked_by } = stripeCustomers;
  const found = await db.select({ linked_by, n: count() }).from(stripeCustomers).groupBy(linked_by);
  const none = { staff: 0, number: 0, email: 0, created: 0 };
  return { ...none, ...Object.fromEntries(found.map((row) => [row.linked_by, row.n])) };
}

export async function listStripeCustomersOf(db: Database, customerId: number) {
  return db
    .select({ id: stripeCustomers.stripe_customer_id, linked_by: stripeCustomers.linked_by })
    .from(stripeCustomers)
    .where(eq(stripeCustomers.customer_id, customerId))
    .orderBy(asc(stripeCustomers.created_at), asc(stripeCustomers.stripe_customer_id))
    .limit(literal(MAX_STRIPE_CUSTOMERS));
}

const MAX_STRIPE_CUSTOMERS = 25;

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
