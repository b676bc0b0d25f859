import { and, count, desc, eq, gte, inArray, lte, type SQL, sql, sum } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, invoiceBlocks, invoiceDeltas, invoices } from '@/db/schema';
import { statement } from '@/db/statement';
import { listReader } from '../counted-list/list-reader';
import { usedConditions } from '../counted-list/used-conditions';
import { numberFilters, toNumberFilters } from '../customers/match-customer';
import { isOfCustomer } from '../customers/merged-customers';
import { snippetColumns, toCustomerSnippet } from '../customers/snippet';
import { toJsonAmount } from '../money';
import { UNPAID_STATUSES } from '../overdue';
import { MAX_ID, type Page, type PageRequest, pageRequest, toPage } from '../page';
import { isRefundedInPart } from './money-back';
import {
  type InvoiceFilters,
  type InvoiceRow,
  invoicePage,
  type UnpaidInvoices,
  unpaidInvoices,
} from './schema';

/** Of an invoice in a list. */
export const invoiceColumns = {
  id: invoices.id,
  number: invoices.number,
  status: invoices.status,
  invoice_date: invoices.invoice_date,
  due_date: invoices.due_date,
  currency: invoices.currency,
  subtotal: invoices.subtotal,
  tax: invoices.tax,
  total: invoices.total,
  amount_paid: invoices.amount_paid,
  amount_due: invoices.amount_due,
  stripe_invoice_id: invoices.stripe_invoice_id,
  customer: snippetColumns,
};

export const newestFirst = [desc(invoices.invoice_date), desc(invoices.id)];

/** Narrows a list further than tools can. */
export interface InvoiceConditions extends InvoiceFilters {
  /** A whole number, or `#` and our id. */
  number?: string | undefined;
  isRefundedInPart?: boolean;
}

/** Invoices, newest first; a page past the last is empty. */
export async function listInvoices(
  db: Database,
  { page, per_page, ...filters }: InvoiceConditions,
): Promise<Page<InvoiceRow>> {
  const request = pageRequest({ page, per_page });
  if ((filters.customer_id ?? 0) > MAX_ID) return toPage(request, 0, []);
  const found = await readInvoices(db, request, toValues(filters));
  return invoicePage.parse({ ...found, data: found.data.map(toInvoiceRow) });
}

const FILTERS = {
  customer_id: (id: SQL) => isOfCustomer(invoices.customer_id, id),
  status: (status: SQL) => eq(invoices.status, status),
  invoice_date_from: (from: SQL) => gte(invoices.invoice_date, from),
  invoice_date_to: (to: SQL) => lte(invoices.invoice_date, to),
  ...numberFilters(invoices),
  is_refunded_in_part: isRefundedInPart,
};

const readInvoices = listReader({
  list: {
    table: invoices,
    blocks: invoiceBlocks,
    deltas: invoiceDeltas,
    order: [invoices.invoice_date, invoices.id],
    newestFirst: true,
  },
  filters: FILTERS,
  closed: ['status'],
  days: ['invoice_date_from', 'invoice_date_to'],
  select: (db, found, total) =>
    db
      .select({ ...invoiceColumns, total_rows: total })
      .from(found)
      .innerJoin(invoices, eq(invoices.id, sql`found.id`))
      .innerJoin(customers, eq(customers.id, invoices.customer_id))
      .orderBy(...newestFirst),
});

/** The invoices that pass a list's filters. */
export function matchInvoices({ page: _, per_page: __, ...filters }: InvoiceConditions): SQL | undefined {
  return and(...usedConditions(FILTERS, toValues(filters)));
}

function toValues({
  number,
  isRefundedInPart: isPart,
  ...filters
}: Omit<InvoiceConditions, keyof PageRequest>) {
  return { ...filters, ...toNumberFilters(number), is_refunded_in_part: isPart || undefined };
}

/** What a customer has still to pay; the customer's own currency first where it has unpaid invoices. */
export async function sumUnpaidInvoices(
  db: Database,
  customer: { id: number; currency: string },
): Promise<UnpaidInvoices> {
  const sums = await sumUnpaid(db, { id: customer.id, currency: customer.currency });
  const [first, ...others] = sums.map((row) => ({ ...row, total: toJsonAmount(row.total ?? '0') }));
  return unpaidInvoices.parse({
    ...(first ?? { currency: customer.currency, count: 0, total: 0 }),
    other_currencies: others,
  });
}

const sumUnpaid = statement(['id', 'currency'], (db, { id, currency }) =>
  db
    .select({ currency: invoices.currency, count: count(), total: sum(invoices.amount_due) })
    .from(invoices)
    .where(and(eq(invoices.customer_id, id), inArray(invoices.status, UNPAID_STATUSES)))
    .groupBy(invoices.currency)
    .orderBy(desc(sql`${invoices.currency} = ${currency}`), desc(count()), invoices.currency),
);

type InvoiceRecord = Pick<typeof invoices.$inferSelect, Exclude<keyof typeof invoiceColumns, 'customer'>> & {
  customer: Parameters<typeof toCustomerSnippet>[0];
};

export function toInvoiceRow(record: InvoiceRecord): InvoiceRow {
  return {
    ...record,
    subtotal: toJsonAmount(record.subtotal),
    tax: toJsonAmount(record.tax),
    total: toJsonAmount(record.total),
    amount_paid: toJsonAmount(record.amount_paid),
    amount_due: toJsonAmount(record.amount_due),
    customer: toCustomerSnippet(record.customer),
  };
}
