import { and, count, desc, eq, gte, inArray, lte, type SQL, sql, sum } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, invoices } from '@/db/schema';
import { snippetColumns, toCustomerSnippet } from '../customers/snippet';
import { toJsonAmount } from '../money';
import { UNPAID_STATUSES } from '../overdue';
import { MAX_ID, type Page, pageRequest, toPage } from '../page';
import { readPage } from '../page-query';
import { matchInvoice } from './match-invoice';
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
}

/** Invoices, newest first; a page past the last is empty. */
export async function listInvoices(db: Database, filters: InvoiceConditions): Promise<Page<InvoiceRow>> {
  const request = pageRequest(filters);
  if ((filters.customer_id ?? 0) > MAX_ID) return toPage(request, 0, []);
  const where = matchInvoices(filters);
  const page = await readPage(
    request,
    ({ limit, offset }) => {
      // The ids first, from an index alone: the rows of the pages before are never joined.
      const ids = db.select({ id: invoices.id }).from(invoices).where(where);
      const found = ids
        .orderBy(...newestFirst)
        .limit(limit)
        .offset(offset)
        .as('found');
      return db
        .select(invoiceColumns)
        .from(found)
        .innerJoin(invoices, eq(invoices.id, found.id))
        .innerJoin(customers, eq(customers.id, invoices.customer_id))
        .orderBy(...newestFirst);
    },
    async () => (await db.select({ total: count() }).from(invoices).where(where))[0]?.total ?? 0,
  );
  return invoicePage.parse({ ...page, data: page.data.map(toInvoiceRow) });
}

/** The invoices that pass a list's filters. */
export function matchInvoices(filters: InvoiceConditions): SQL | undefined {
  const { customer_id, number, status, invoice_date_from: from, invoice_date_to: to } = filters;
  return and(
    customer_id === undefined ? undefined : eq(invoices.customer_id, customer_id),
    number === undefined ? undefined : matchInvoice(number),
    status && eq(invoices.status, status),
    from === undefined ? undefined : gte(invoices.invoice_date, from),
    to === undefined ? undefined : lte(invoices.invoice_date, to),
  );
}

/** What a customer has still to pay; the customer's own currency first where it has unpaid invoices. */
export async function sumUnpaidInvoices(
  db: Database,
  customer: { id: number; currency: string },
): Promise<UnpaidInvoices> {
  const sums = await db
    .select({ currency: invoices.currency, count: count(), total: sum(invoices.amount_due) })
    .from(invoices)
    .where(and(eq(invoices.customer_id, customer.id), inArray(invoices.status, UNPAID_STATUSES)))
    .groupBy(invoices.currency)
    .orderBy(desc(sql`${invoices.currency} = ${customer.currency}`), desc(count()), invoices.currency);
  const [first, ...others] = sums.map((row) => ({ ...row, total: toJsonAmount(row.total ?? '0') }));
  return unpaidInvoices.parse({
    ...(first ?? { currency: customer.currency, count: 0, total: 0 }),
    other_currencies: others,
  });
}

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
