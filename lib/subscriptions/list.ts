import { and, eq, getTableColumns, inArray, isNull, ne, type SQL, sql, sum } from 'drizzle-orm';
import { type Database, pickColumns } from '@/db/database';
import {
  customerServices,
  customers,
  invoices,
  itemRenewals,
  subscriptionItems,
  subscriptionStatus,
  subscriptions,
} from '@/db/schema';
import { defineList, filter, wordFilter } from '../counted-list/define-list';
import { BATCH, pagesToCsv, readSortedPage } from '../counted-list/sorted-page';
import { customerFilter } from '../customers/match-customer';
import { CUSTOMER_COLUMNS, inColumns, snippetColumns, toCustomerSnippet } from '../customers/queries';
import { isOfSureCustomer } from '../customers/sure-link';
import { toIso } from '../dates';
import { oneOf, searchLine } from '../fields';
import { toJsonAmount, toJsonAmounts } from '../money';
import { UNPAID_STATUSES } from '../overdue';
import type { PageStart } from '../page-query';
import { type Days, isWithin, listServiceRenewals } from '../services/renewals';
import { listItems } from './queries';

export const SUBSCRIPTION_STATUSES = subscriptionStatus.enumValues;

const s = subscriptions;
const item = subscriptionItems;
const r = itemRenewals;

/** Sort expression, which has an index. A missing next billing date sorts after every date. */
const NEXT_BILLING = sql`coalesce(${s.next_billing_date}, 'infinity')`;

/** The list of subscriptions for staff, with their customers, items and unpaid amounts. */
export const subscriptionList = defineList({
  table: s,
  filters: {
    customer: customerFilter(s.customer_id),
    status: wordFilter(SUBSCRIPTION_STATUSES, s.status),
    /** The Stripe id of a subscription, an item or a customer. */
    id: filter(searchLine(255), (id, db) => ({ where: hasStripeId(db, id), few: true })),
    /**
     * Finds subscriptions with an item that is not linked to a service. Leaves out cancelled subscriptions, and those
     * whose Stripe customer is not reliably linked to a customer.
     */
    items: filter(oneOf(['unlinked']), (_, db) => {
      const holding = db.select({ id: item.subscription_id }).from(item);
      const unlinked = inArray(s.id, holding.where(isNull(item.customer_service_id)));
      return { where: and(unlinked, ne(s.status, 'cancelled'), isOfSureCustomer(s)), few: true };
    }),
    /**
     * Finds subscriptions that wait for staff to decide on a merge into a sold subscription, see `isWaitingForStaff`.
     */
    checkout: filter(oneOf(['waiting']), () => ({ where: isWaitingForStaff(), few: true })),
  },
  orders: { created: s.id, 'next-billing': NEXT_BILLING },
  sort: '-created',
  rows: readSubscriptions,
  columns: [
    ...['id', 'status', 'next_billing_date', 'cancel_at', 'stripe_subscription_id', 'stripe_customer_id'],
    ...['services', 'unpaid', ...CUSTOMER_COLUMNS],
  ],
  toRecord: ({ unpaid, ...row }) => ({
    ...toRecord(row),
    cancel_at: toIso(row.cancel_at),
    unpaid: unpaid.map(({ due, currency }) => `${due} ${currency}`).join(' '),
  }),
});

function hasStripeId(db: Database, id: string): SQL {
  if (id.startsWith('cus_')) return eq(s.stripe_customer_id, id);
  if (!id.startsWith('si_')) return eq(s.stripe_subscription_id, id);
  const holding = db.select({ id: item.subscription_id }).from(item);
  return inArray(s.id, holding.where(eq(item.stripe_subscription_item_id, id)));
}

/**
 * Returns the condition for subscriptions for which staff must decide whether to merge them into the sold subscription
 * of their checkout. They are not cancelled, their Stripe customer is reliably linked to a customer, and staff have not
 * declined the merge.
 */
export function isWaitingForStaff(): SQL | undefined {
  return and(
    sql`${s.checkout_reference} is not null`, // Must equal the partial index's condition, so that the index is used.
    eq(s.reference_declined, false),
    ne(s.status, 'cancelled'),
    isOfSureCustomer(s),
  );
}

export type ListedSubscription = Awaited<ReturnType<typeof readSubscriptions>>[number];

/** Reads subscriptions with their customers, items and unpaid amounts, in no particular order. */
async function readSubscriptions(tx: Database, ids: number[]) {
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

/** Sums the amounts due on sent and overdue invoices, by subscription and currency. */
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
  return sums.map((row) => toJsonAmounts(row, 'due'));
}

/** Converts a subscription to a CSV row. Adds the numbers of the services that its items pay for. */
const toRecord = ({ items, ...row }: Omit<ListedSubscription, 'unpaid'>) => ({
  ...inColumns(row),
  services: items.flatMap(({ service }) => service?.service_number ?? []).join(' '),
});

/** A subscription item and the date on which it renews, with its subscription, service and customer. */
export type ItemRenewal = Awaited<ReturnType<typeof readItemRenewals>>[number];

/**
 * Lists a page of the subscription items that renew in a range of days, the earliest day first. Per currency, the
 * amounts on all pages add up to the sums of `sumRenewals`. An item without a fixed amount is listed but does not count
 * in the sums.
 */
export function listItemRenewals(db: Database, days: Days, start: PageStart, size: number) {
  const sorted = { table: r, where: isWithin(sql`${r.day}`, days), by: sql`${r.day}`, descends: false };
  return readSortedPage(db, sorted, { start, size }, readItemRenewals);
}

/** Reads the renewals of the given subscription items, in no particular order. */
async function readItemRenewals(tx: Database, ids: number[]) {
  const found = await tx
    .select({
      ...pickColumns(item, 'id', 'amount', 'currency', 'interval', 'interval_count'),
      day: r.day,
      subscription: pickColumns(s, 'id', 'status', 'stripe_subscription_id'),
      service: pickColumns(customerServices, 'service_number'),
      customer: snippetColumns,
    })
    .from(r)
    .innerJoin(item, eq(item.id, r.id))
    .innerJoin(s, eq(s.id, item.subscription_id))
    .innerJoin(customers, eq(customers.id, s.customer_id))
    .leftJoin(customerServices, eq(customerServices.id, item.customer_service_id))
    .where(inArray(r.id, ids));
  return found.map((row) => ({ ...row, customer: toCustomerSnippet(row.customer) }));
}

const RENEWAL_COLUMNS = {
  services: ['next_billing_date', 'service_number', 'name', 'domain', 'price', 'currency'],
  subscriptions: [
    ...['next_billing_date', 'id', 'stripe_subscription_id', 'status', 'services'],
    ...['amount', 'currency'],
  ],
};

/** Returns the renewals in a range of days as CSV, in chunks. */
export function renewalsCsv(db: Database, days: Days, of: keyof typeof RENEWAL_COLUMNS) {
  const columns = [...RENEWAL_COLUMNS[of], 'customer_number', 'customer_name'];
  return of === 'services'
    ? pagesToCsv(columns, (start) => listServiceRenewals(db, days, start, BATCH), inColumns)
    : pagesToCsv(columns, (start) => listItemRenewals(db, days, start, BATCH), toRenewalRecord);
}

const toRenewalRecord = ({ day, subscription, service, amount, ...row }: ItemRenewal) => ({
  ...inColumns(row),
  ...subscription,
  next_billing_date: day,
  services: service?.service_number,
  amount: amount === null ? null : toJsonAmount(amount),
});
