import { and, eq, gte, ilike, inArray, lte, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { customers, disputes, invoices, paymentStatus, payments } from '@/db/schema';
import { readLimited } from '@/db/transaction';
import { addCount, type CursorList, refusalOf, withoutIndex } from '../counted-list/sorted-page';
import { toCsv } from '../csv';
import { findNamedCustomers, isOfAny, type NamedCustomers } from '../customers/match-customer';
import { snippetColumns, toCustomerSnippet } from '../customers/queries';
import type { CustomerSnippet } from '../customers/schema';
import { AppError } from '../errors';
import { calendarDate, dateRange, isInOrder, oneOf, textLine, WRONG_ORDER } from '../fields';
import { matchInvoice } from '../invoices/queries';
import { toJsonAmount } from '../money';
import { MAX_ID, perPageParam } from '../page';
import { literal, type PageStart, readCursorPage } from '../page-query';
import { containsPattern } from '../search-text';
import { isOpenDispute } from './money-back';
import { normalReference, type PaymentRow, paymentRow, toPaymentRow } from './schema';

/** Orders of the staff's list; a minus stands for the latest or largest first. */
const SORTS = ['-date', 'date', '-amount', 'amount', '-reference', 'reference'] as const;
type PaymentSort = (typeof SORTS)[number];

type Narrowing = Partial<Record<'invoice' | 'customer' | 'reference' | 'from' | 'to', string | undefined>>;

/** No index has the payments of some days by reference: unless few match, all others could stand before them. */
export function hasReferenceOrder({ from, to, invoice, customer, reference }: Narrowing): boolean {
  return !(from || to) || [invoice, customer, reference].some((text) => text !== undefined);
}

/** The states a payment can be filtered by: its own, and those of its refunds and disputes. */
export const PAYMENT_STATES = [...paymentStatus.enumValues, 'refunded_in_part', 'disputed'] as const;

/** What staff narrow a list of payments to, as they type it, and its form. */
export const staffFilters = z
  .object({
    /** A number, or `#` and our id. */
    invoice: textLine(100).optional(),
    /** A number, `#` and our id, or part of a number, name, company or e-mail address. */
    customer: textLine(200).optional(),
    status: oneOf(PAYMENT_STATES).optional(),
    /** Part of it; case does not matter. */
    reference: textLine(255, normalReference).optional(),
    ...dateRange,
    sort: z.enum(SORTS).catch('-date'),
    per_page: perPageParam,
  })
  .refine(isInOrder, WRONG_ORDER)
  .overwrite((filters) =>
    filters.sort.endsWith('reference') && !hasReferenceOrder(filters)
      ? { ...filters, sort: '-date' as const }
      : filters,
  );
type StaffFilters = z.infer<typeof staffFilters>;

/** One page of matching payments, at a constant cost. An invalid cursor returns the first page. */
export async function listPaymentsForStaff(
  db: Database,
  filters: StaffFilters,
  { after, before }: PageStart,
): Promise<CursorList<NamedPayment>> {
  const { sort, per_page } = filters;
  const named = await namedBy(db, filters);
  const refused = refusalOf(named);
  if (refused) return refused;
  const few = matchesFew(filters);
  return readLimited(db, async (tx) => {
    const where = matchFilters(tx, filters, named);
    const start = { after: cursorOr(after, sort), before: cursorOr(before, sort) };
    const page = await readCursorPage(
      start,
      per_page,
      (cursor, backwards, rows) =>
        readPayments(tx, and(where, beyond(cursor, sort, backwards)), orderOf(sort, backwards, few), rows),
      (payment) => cursorOf(payment, sort),
    );
    const data = await namePayments(tx, page.data);
    return addCount(tx, { table: payments, where }, start, { ...page, data });
  });
}

/** The latest payments, neither filtered nor counted. */
export async function listLatestPayments(db: Database, limit: number): Promise<NamedPayment[]> {
  return namePayments(db, await readPayments(db, undefined, orderOf('-date', false), literal(limit)));
}

/** The payments that match, in batches from the first on: memory holds one batch, however many there are. */
async function* readPaymentsForStaff(
  db: Database,
  filters: StaffFilters,
  batch: number,
): AsyncGenerator<NamedPayment[]> {
  const { sort } = filters;
  const named = await namedBy(db, filters);
  const order = orderOf(sort, false, matchesFew(filters));
  for (let cursor: string | null = null, more = true; more; ) {
    const found: NamedPayment[] = await readLimited(db, async (tx) => {
      const where = and(matchFilters(tx, filters, named), beyond(cursor, sort, false));
      return namePayments(tx, await readPayments(tx, where, order, literal(batch)));
    });
    yield found;
    const last = found.at(-1);
    more = found.length === batch;
    if (last) cursor = cursorOf(last, sort);
  }
}

const namedBy = async (db: Database, { customer }: StaffFilters) =>
  customer === undefined ? null : findNamedCustomers(db, customer);

async function readPayments(tx: Database, where: SQL | undefined, order: SQL[], limit: number) {
  const found = await tx
    .select()
    .from(payments)
    .where(where)
    .orderBy(...order)
    .limit(limit);
  return found.map(toPaymentRow);
}

/** The payments that pass the staff's filters; undefined: all. */
function matchFilters(db: Database, filters: StaffFilters, named: NamedCustomers | null): SQL | undefined {
  const { invoice, status, reference, from, to } = filters;
  return and(
    invoice === undefined ? undefined : ofInvoices(db, matchInvoice(invoice)),
    named ? isOfAny(payments.customer_id, named.ids) : undefined,
    status && ofState(db, status),
    reference === undefined ? undefined : ilike(payments.payment_reference, containsPattern(reference)),
    from === undefined ? undefined : gte(payments.payment_date, from),
    to === undefined ? undefined : lte(payments.payment_date, to),
  );
}

function ofInvoices(db: Database, condition: SQL): SQL {
  return inArray(payments.invoice_id, db.select({ id: invoices.id }).from(invoices).where(condition));
}

function ofState(db: Database, state: NonNullable<StaffFilters['status']>): SQL | undefined {
  if (state === 'refunded_in_part') {
    // As in the partial index.
    return sql`${payments.refunded_amount} > 0 and ${payments.refunded_amount} < ${payments.amount}`;
  }
  if (state === 'disputed') {
    const open = db.select({ id: disputes.payment_id }).from(disputes).where(isOpenDispute);
    return inArray(payments.id, open);
  }
  return eq(payments.status, state);
}

/** Whether few payments match, which are then found first and sorted. */
function matchesFew({ invoice, customer, status, reference }: StaffFilters): boolean {
  return (
    [invoice, customer, reference].some((text) => text !== undefined) ||
    status === 'refunded_in_part' ||
    status === 'disputed'
  );
}

/** Each has an index that ends in the id, or is unique, so that a page costs the same at any depth. */
const COLUMNS = {
  date: payments.payment_date,
  amount: payments.amount,
  reference: payments.payment_reference,
};

/** Where a payment stands in an order, as text for an address. */
function cursorOf(payment: PaymentRow, sort: PaymentSort): string {
  const { payment_date: date, amount, payment_reference: reference } = payment;
  return `${payment.id}.${{ date, amount, reference }[keyOf(sort)]}`;
}

/** A text where it is a cursor of this order. */
function cursorOr(text: string | undefined, sort: PaymentSort): string | undefined {
  const { id, value } = partsOf(text ?? '');
  return id <= MAX_ID && VALUES[keyOf(sort)].safeParse(value).success ? text : undefined;
}

/**
 * The columns to order by.
 *
 * @param few see `SortedRows`
 */
function orderOf(sort: PaymentSort, backwards: boolean, few = false): SQL[] {
  const direction = descends(sort, backwards) ? sql`desc` : sql`asc`;
  const by = COLUMNS[keyOf(sort)];
  return [few ? withoutIndex(by) : by, payments.id].map((column) => sql`${column} ${direction}`);
}

/** The payments behind a cursor in that order; null: all. */
function beyond(cursor: string | null, sort: PaymentSort, backwards: boolean): SQL | undefined {
  if (cursor === null) return undefined;
  const { id, value } = partsOf(cursor);
  const column = COLUMNS[keyOf(sort)];
  const operator = descends(sort, backwards) ? sql`<` : sql`>`;
  return sql`(${column}, ${payments.id}) ${operator} (${sql.param(value, column)}, ${id})`;
}

const VALUES = {
  date: calendarDate,
  amount: z.string().regex(/^\d{1,12}(\.\d{1,3})?$/),
  reference: textLine(255),
};

function partsOf(cursor: string): { id: number; value: string } {
  const [, id = '', value = ''] = /^(\d{1,10})\.(.+)$/.exec(cursor) ?? [];
  return { id: Number(id), value };
}

function descends(sort: PaymentSort, backwards: boolean): boolean {
  return sort.startsWith('-') !== backwards;
}

function keyOf(sort: PaymentSort): keyof typeof COLUMNS {
  return sort.replace('-', '') as keyof typeof COLUMNS;
}

type Keys = Pick<PaymentRow, 'customer_id' | 'invoice_id'>;

/** What a page says of the invoice and the customer of a payment. */
export async function getPaymentContext(db: Database, payment: Keys) {
  const [found] = await db
    .select({
      invoice: {
        id: invoices.id,
        number: invoices.number,
        status: invoices.status,
        invoice_date: invoices.invoice_date,
        due_date: invoices.due_date,
        currency: invoices.currency,
        total: invoices.total,
        amount_paid: invoices.amount_paid,
        amount_due: invoices.amount_due,
        stripe_invoice_id: invoices.stripe_invoice_id,
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
  // Deleted between two reads; the tables' foreign keys allow nothing else.
  if (!found || !customer) throw new AppError('not_found', 'The payment was deleted meanwhile.');
  const { total, amount_paid, amount_due, recorded, ...invoice } = found.invoice;
  return {
    customer: toCustomerSnippet(customer),
    invoice: {
      ...invoice,
      total: toJsonAmount(total),
      amount_paid: toJsonAmount(amount_paid),
      amount_due: toJsonAmount(amount_due),
      /** The remaining amount of its completed payments. */
      recorded: toJsonAmount(recorded),
    },
  };
}

export type PaymentContext = Awaited<ReturnType<typeof getPaymentContext>>;

/** A payment of a list together with whom and what it is for. */
export interface NamedPayment extends PaymentRow {
  customer: CustomerSnippet | null;
  invoice_number: string | null;
  /** The status of its open dispute; null without one. */
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

const BATCH = 1000;
const CSV_COLUMNS = [
  ...Object.keys(paymentRow.shape),
  'disputed',
  'invoice_number',
  'customer_number',
  'customer_name',
];

/** The payments that match as CSV, piece by piece. */
export function paymentsCsv(db: Database, filters: StaffFilters): AsyncGenerator<string> {
  return toCsv(CSV_COLUMNS, readRecords(db, filters));
}

async function* readRecords(db: Database, filters: StaffFilters) {
  for await (const batch of readPaymentsForStaff(db, filters, BATCH)) {
    yield batch.map(({ customer, ...payment }) => ({
      ...payment,
      customer_number: customer?.customer_number,
      customer_name: customer?.name,
    }));
  }
}
