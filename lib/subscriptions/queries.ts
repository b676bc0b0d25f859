import { and, asc, desc, eq, getTableColumns, inArray, isNull, ne, type SQL, sql, sum } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import {
  customerServices,
  customers,
  invoices,
  subscriptionItems,
  subscriptionStatus,
  subscriptions,
} from '@/db/schema';
import { allPages, type CursorList, orderOf, readSortedPage, refusalOf } from '../counted-list/sorted-page';
import { toCsv } from '../csv';
import { findNamedCustomers, isOfAny } from '../customers/match-customer';
import { CUSTOMER_COLUMNS, inColumns, snippetColumns, toCustomerSnippet } from '../customers/queries';
import { isOfSureCustomer } from '../customers/sure-link';
import { toIso } from '../dates';
import { AppError } from '../errors';
import { oneOf, textLine } from '../fields';
import { toJsonAmount } from '../money';
import { UNPAID_STATUSES } from '../overdue';
import { MAX_ID, perPageParam } from '../page';
import { constant, literal, type PageStart } from '../page-query';

export const SUBSCRIPTION_STATUSES = subscriptionStatus.enumValues;

/** Orders of the staff's list; a minus stands for the last or latest first. */
const SORTS = ['-created', 'created', 'next-billing', '-next-billing'] as const;

/** What staff narrow a list of subscriptions to. */
export const subscriptionFilters = z.object({
  status: oneOf(SUBSCRIPTION_STATUSES).optional(),
  /** A whole number, `#` and our id, or part of a number, name, company or e-mail address. */
  customer: textLine(200).optional(),
  /** Stripe's id of a subscription, an item or a customer. */
  id: textLine(255).optional(),
  /** Live ones with an item that pays for none of our services. */
  items: oneOf(['unlinked']).optional(),
  /** Live subscriptions whose checkout names a sold subscription that they have not become. */
  checkout: oneOf(['waiting']).optional(),
  sort: z.enum(SORTS).catch('-created'),
  per_page: perPageParam,
});
export type SubscriptionFilters = z.infer<typeof subscriptionFilters>;

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

const BATCH = 1000;
const COLUMNS = [
  'id',
  'status',
  'next_billing_date',
  'cancel_at',
  'stripe_subscription_id',
  'stripe_customer_id',
  'services',
  'unpaid',
  ...CUSTOMER_COLUMNS,
];

/** The subscriptions that match as CSV, piece by piece, in the order of the list. */
export function subscriptionsCsv(db: Database, filters: SubscriptionFilters): AsyncGenerator<string> {
  return toCsv(COLUMNS, readRecords(db, filters));
}

async function* readRecords(db: Database, filters: SubscriptionFilters) {
  const read = (start: PageStart) => listSubscriptions(db, filters, { ...start, limit: BATCH });
  for await (const batch of allPages(read)) yield batch.map(toRecord);
}

function toRecord({ items, unpaid, ...row }: ListedSubscription) {
  return {
    ...inColumns(row),
    cancel_at: toIso(row.cancel_at),
    services: items.flatMap(({ service }) => service?.service_number ?? []).join(' '),
    unpaid: unpaid.map(({ due, currency }) => `${due} ${currency}`).join(' '),
  };
}
