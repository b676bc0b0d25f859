import { and, asc, eq, getTableColumns, inArray, isNull, ne, type SQL, sql, sum } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customerServices, customers, invoices, subscriptionItems, subscriptions } from '@/db/schema';
import { orderOf, readSortedPage } from '../counted-list/sorted-page';
import { type CursorList, refusalOf } from '../counted-list/staff-list';
import { constant, type PageStart } from '../cursor-page';
import { findNamedCustomers, isOfAny } from '../customers/named-customers';
import { snippetColumns, toCustomerSnippet } from '../customers/snippet';
import { isOfSureCustomer } from '../customers/sure-link';
import { AppError } from '../errors';
import { toJsonAmount } from '../money';
import { UNPAID_STATUSES } from '../overdue';
import { MAX_ID } from '../page';
import type { SubscriptionFilters } from './filters';

const s = subscriptions;
const item = subscriptionItems;

/** Subscriptions that are not billed again come last. */
const ORDERS = {
  created: sql`${s.id}`,
  'next-billing': sql`coalesce(${s.next_billing_date}, 'infinity')`,
};

/** One page of subscriptions with their customers, their items, and what is unpaid of their invoices. */
export async function listSubscriptions(
  db: Database,
  filters: Partial<SubscriptionFilters>,
  { limit, ...start }: PageStart & { limit?: number } = {},
): Promise<CursorList<ListedSubscription>> {
  const { sort = '-created', per_page = 25, customer, id, items, checkout } = filters;
  const named = customer === undefined ? null : await findNamedCustomers(db, customer);
  const refused = refusalOf(named);
  if (refused) return refused;
  const rows = {
    table: s,
    where: and(named ? isOfAny(s.customer_id, named.ids) : undefined, conditions(db, filters)),
    ...orderOf(ORDERS, sort),
    few: [named, id, items, checkout].some((one) => one !== null && one !== undefined),
  };
  return readSortedPage(db, rows, { start, size: limit ?? per_page }, readSubscriptions);
}

export type ListedSubscription = Awaited<ReturnType<typeof readSubscriptions>>[number];

/** Subscriptions by their ids, in any order. */
export async function readSubscriptions(tx: Database, ids: number[]) {
  const found = await tx
    .select({ ...getTableColumns(s), customer: snippetColumns })
    .from(s)
    .innerJoin(customers, eq(customers.id, s.customer_id))
    .where(inArray(s.id, ids));
  const items = await listItems(tx, ids);
  const unpaid = await sumUnpaidOf(tx, ids);
  return found.map((row) => ({
    ...row,
    customer: toCustomerSnippet(row.customer),
    items: items.filter(({ subscription_id }) => subscription_id === row.id),
    unpaid: unpaid.filter(({ subscription_id }) => subscription_id === row.id),
  }));
}

/** What is still due of the sent and overdue invoices of subscriptions, by currency. */
async function sumUnpaidOf(tx: Database, ids: number[]) {
  const sums = await tx
    .select({
      subscription_id: invoices.subscription_id,
      currency: invoices.currency,
      due: sum(invoices.amount_due),
    })
    .from(invoices)
    .where(and(inArray(invoices.subscription_id, ids), inArray(invoices.status, UNPAID_STATUSES)))
    .groupBy(invoices.subscription_id, invoices.currency)
    .orderBy(invoices.currency);
  return sums.map((row) => ({ ...row, due: toJsonAmount(row.due ?? '0') }));
}

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

function listItems(db: Database, subscriptionIds: number[]) {
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

function conditions(
  db: Database,
  { status, id, items, checkout }: Partial<SubscriptionFilters>,
): SQL | undefined {
  const unlinked = db.select({ id: item.subscription_id }).from(item).where(isNull(item.customer_service_id));
  return and(
    status && sql`${s.status} = ${constant(status)}`,
    id === undefined ? undefined : hasStripeId(db, id),
    items && and(inArray(s.id, unlinked), ne(s.status, 'cancelled'), isOfSureCustomer(s)),
    checkout && isWaitingForStaff(),
  );
}

/** Its checkout names a sold subscription that it has not become, although its customer's link is sure. */
export function isWaitingForStaff(): SQL | undefined {
  return and(
    sql`${s.checkout_reference} is not null`, // as its partial index says
    eq(s.reference_declined, false),
    ne(s.status, 'cancelled'),
    isOfSureCustomer(s),
  );
}

function hasStripeId(db: Database, id: string): SQL {
  if (id.startsWith('cus_')) return eq(s.stripe_customer_id, id);
  if (!id.startsWith('si_')) return eq(s.stripe_subscription_id, id);
  const holding = db
    .select({ id: item.subscription_id })
    .from(item)
    .where(eq(item.stripe_subscription_item_id, id));
  return inArray(s.id, holding);
}
