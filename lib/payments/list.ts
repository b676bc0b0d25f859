import { and, asc, desc, eq, ilike, inArray, like, type SQL, sql } from 'drizzle-orm';
import { type Database, pickColumns } from '@/db/database';
import { customers, disputes, invoices, paymentStatus, payments } from '@/db/schema';
import { dayFilters, defineList, filter } from '../counted-list/define-list';
import { readSortedPage } from '../counted-list/sorted-page';
import { findCustomers } from '../customers/find-customers';
import { customerFilter, spellings } from '../customers/match-customer';
import { snippetColumns, toCustomerSnippet } from '../customers/queries';
import { type CustomerSnippet, customerQuery } from '../customers/schema';
import { AppError, invalidField } from '../errors';
import { oneOf, searchLine, textLine } from '../fields';
import { matchInvoice } from '../invoices/queries';
import { takesPayments } from '../invoices/settle';
import { toJsonAmounts } from '../money';
import { literal } from '../page-query';
import { typedAmounts } from '../read-amount';
import { containsPattern, prefixPattern } from '../search-text';
import { isOpenDispute } from './money-back';
import { normalReference, type PaymentRow, paymentRow, toPaymentRow } from './schema';

/** Values of the status filter: the payment statuses, partly refunded, and disputed. */
export const PAYMENT_STATES = [...paymentStatus.enumValues, 'refunded_in_part', 'disputed'] as const;

const p = payments;

const filters = {
  /** The invoice's number, or `#` and its id in our database. */
  invoice: filter(searchLine(100), (text, db) => {
    const named = db.select({ id: invoices.id }).from(invoices).where(matchInvoice(text));
    return { where: inArray(p.invoice_id, named), few: true };
  }),
  customer: customerFilter(p.customer_id),
  status: {
    schema: oneOf(PAYMENT_STATES),
    means(state: (typeof PAYMENT_STATES)[number], db: Database) {
      // PostgreSQL uses the partial index only if this condition is the same as the index's.
      const isPart = sql`${p.refunded_amount} > 0 and ${p.refunded_amount} < ${p.amount}`;
      if (state === 'refunded_in_part') return { where: isPart, few: true };
      if (state !== 'disputed') return { where: eq(p.status, state) };
      const open = db.select({ id: disputes.payment_id }).from(disputes).where(isOpenDispute);
      return { where: inArray(p.id, open), few: true };
    },
  },
  /** Part of the reference, case-insensitive. */
  reference: filter(textLine(255, normalReference), (text) => ({
    where: ilike(p.payment_reference, containsPattern(text)),
    few: true,
  })),
  ...dayFilters(p.payment_date),
};

/** The list of payments on staff pages. */
export const paymentList = defineList({
  table: p,
  filters,
  orders: { date: p.payment_date, amount: p.amount, reference: p.payment_reference },
  sort: '-date',
  // No index sorts the payments of a date range by reference. Unless a filter by invoice, customer or reference leaves
  // few payments, sorting could scan all of them.
  lacks: ({ from, to, invoice, customer, reference }) =>
    (from || to) && [invoice, customer, reference].every((text) => text === undefined) ? ['reference'] : [],
  rows: readPayments,
  columns: [
    ...Object.keys(paymentRow.shape).filter((name) => name !== 'transfer'),
    // Newer columns come last, so that older columns keep their positions for programs that read the file.
    ...['disputed', 'invoice_number', 'customer_number', 'customer_name', 'transfer'],
  ],
  toRecord: ({ customer, ...payment }) => ({
    ...payment,
    customer_number: customer?.customer_number,
    customer_name: customer?.name,
  }),
});

/** Returns the latest payments, without the total number of payments. */
export async function listLatestPayments(db: Database, limit: number): Promise<NamedPayment[]> {
  const rows = { table: p, where: undefined, by: sql`${p.payment_date}`, descends: true };
  return (await readSortedPage(db, rows, { start: {}, size: limit, isCounted: false }, readPayments)).data;
}

/** Reads payments with what a list shows of them, in no particular order. */
async function readPayments(db: Database, ids: number[]): Promise<NamedPayment[]> {
  const found = await db.select().from(p).where(inArray(p.id, ids));
  return namePayments(db, found.map(toPaymentRow));
}

/** A listed payment with its customer, its invoice number and its open dispute. */
export interface NamedPayment extends PaymentRow {
  customer: CustomerSnippet | null;
  invoice_number: string | null;
  /** Status of the open dispute. Null if there is no open dispute. */
  disputed: (typeof disputes.$inferSelect)['status'] | null;
}

/** Adds the customers, the invoice numbers and the open disputes to the payments of one page. */
export async function namePayments(db: Database, payments: PaymentRow[]): Promise<NamedPayment[]> {
  if (payments.length === 0) return [];
  const customerIds = [...new Set(payments.map((payment) => payment.customer_id))];
  const invoiceIds = [...new Set(payments.map((payment) => payment.invoice_id))];
  const people = await db.select(snippetColumns).from(customers).where(inArray(customers.id, customerIds));
  const numbers = await db
    .select({ id: invoices.id, number: invoices.number })
    .from(invoices)
    .where(inArray(invoices.id, invoiceIds));
  const open = await db
    .select({ id: disputes.payment_id, status: disputes.status })
    .from(disputes)
    .where(
      and(
        inArray(
          disputes.payment_id,
          payments.map(({ id }) => id),
        ),
        isOpenDispute,
      ),
    );
  const customerById = new Map(people.map((record) => [record.id, toCustomerSnippet(record)]));
  const numberById = new Map(numbers.map((invoice) => [invoice.id, invoice.number]));
  const disputeById = new Map(open.map(({ id, status }) => [id, status]));
  return payments.map((payment) => ({
    ...payment,
    customer: customerById.get(payment.customer_id) ?? null,
    invoice_number: numberById.get(payment.invoice_id) ?? null,
    disputed: disputeById.get(payment.id) ?? null,
  }));
}

type Keys = Pick<PaymentRow, 'customer_id' | 'invoice_id'>;

/** Returns the customer and the invoice of a payment. @throws AppError not_found if one of them is missing */
export async function getPaymentContext(db: Database, payment: Keys) {
  const [found] = await db
    .select({
      invoice: {
        ...pickColumns(invoices, 'id', 'number', 'status', 'invoice_date', 'due_date', 'currency'),
        ...pickColumns(
          invoices,
          'total',
          'amount_paid',
          'amount_due',
          'amount_credited',
          'stripe_invoice_id',
        ),
        /** Sum of the invoice's completed payments, minus refunds. */
        recorded: sql<string>`(select coalesce(sum(p.amount - p.refunded_amount), 0)::text from payments p
          where p.invoice_id = invoices.id and p.status = 'completed')`,
      },
    })
    .from(invoices)
    .where(eq(invoices.id, payment.invoice_id));
  const [customer] = await db
    .select(snippetColumns)
    .from(customers)
    .where(eq(customers.id, payment.customer_id));
  // Foreign keys guarantee that both rows of a stored payment exist. If one is missing, the payment was deleted, or
  // moved to another customer, after it was read.
  if (!found || !customer) throw new AppError('not_found', 'The payment was deleted meanwhile.');
  return {
    customer: toCustomerSnippet(customer),
    invoice: toJsonAmounts(
      found.invoice,
      'total',
      'amount_paid',
      'amount_due',
      'amount_credited',
      'recorded',
    ),
  };
}

export type PaymentContext = Awaited<ReturnType<typeof getPaymentContext>>;

/** Maximum number of invoices that a search returns, which keeps the list readable. */
const MAX_FOUND = 20;
/** Condition for unpaid invoices. PostgreSQL uses the partial indexes only if the literals are the same as theirs. */
const isUnpaid = sql`${invoices.status} in ('sent', 'overdue')`;

/**
 * Finds invoices that a payment may belong to by their customer, part of their number, amount due or total.
 *
 * @param text text that staff typed, such as a customer's name, a part of a number, or an amount
 * @returns at most 20 invoices: unpaid ones first, then paid ones that match by customer or by the start of a number
 */
export async function findPayableInvoices(db: Database, text: string) {
  const query = customerQuery.safeParse(text);
  if (!query.success) return [];
  const people = (await findCustomers(db, query.data)).matches.map(({ id }) => id);
  const ofPeople = people.length > 0 ? [inArray(invoices.customer_id, people)] : [];
  const starts = spellings(text)
    .filter(Boolean)
    .map((start) => like(invoices.number, prefixPattern(start)));
  const unpaid = [
    ...typedAmounts(text).flatMap((amount) => [eq(invoices.amount_due, amount), eq(invoices.total, amount)]),
    ...spellings(text)
      .filter(Boolean)
      .map((part) => like(invoices.number, containsPattern(part))),
    ...ofPeople,
  ];
  const found = [];
  for (const matches of unpaid)
    found.push(...(await read(db, and(isUnpaid, matches), asc(invoices.due_date))));
  for (const matches of [...starts, ...ofPeople]) {
    if (distinct(found).length < MAX_FOUND) {
      found.push(...(await read(db, and(eq(invoices.status, 'paid'), matches), desc(invoices.invoice_date))));
    }
  }
  return distinct(found).slice(0, MAX_FOUND);
}

async function read(db: Database, where: SQL | undefined, order: SQL) {
  const rows = await db
    .select({
      ...pickColumns(invoices, 'id', 'number', 'status', 'invoice_date', 'due_date', 'currency'),
      ...pickColumns(invoices, 'total', 'amount_due'),
      customer: snippetColumns,
    })
    .from(invoices)
    .innerJoin(customers, eq(customers.id, invoices.customer_id))
    .where(where)
    .orderBy(order, asc(invoices.id))
    .limit(literal(MAX_FOUND));
  return rows.map((invoice) => ({
    ...toJsonAmounts(invoice, 'total', 'amount_due'),
    customer: toCustomerSnippet(invoice.customer),
  }));
}

function distinct<Row extends { id: number }>(rows: Row[]): Row[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

const MAX_NAMED = 5;

/**
 * Finds the invoice that staff entered, with its customer, and checks that it takes payments.
 *
 * @param text the invoice's number, or `#` and its id
 * @throws AppError validation_failed at the field `invoice`
 */
export async function findPayableInvoice(db: Database, text: string) {
  const named = textLine(100).safeParse(text);
  if (!named.success) throw invalidField('invoice', named.error.issues[0]?.message ?? '');
  const found = await db
    .select({ id: invoices.id, customer_id: invoices.customer_id, status: invoices.status })
    .from(invoices)
    .where(matchInvoice(text))
    .orderBy(invoices.id)
    .limit(literal(MAX_NAMED));
  const [invoice, another] = found;
  if (!invoice) throw invalidField('invoice', 'there is no such invoice');
  if (another) {
    const ids = found.map(({ id }) => `#${id}`).join(', ');
    throw invalidField('invoice', `is the number of several invoices: enter one of ${ids}`);
  }
  if (!takesPayments(invoice)) throw invalidField('invoice', `is ${invoice.status} and cannot be paid`);
  return getPaymentContext(db, { invoice_id: invoice.id, customer_id: invoice.customer_id });
}
