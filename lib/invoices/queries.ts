import { and, count, desc, eq, gte, inArray, lte, type SQL, sql, sum } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, statement } from '@/db/database';
import { customers, invoiceBlocks, invoiceDeltas, invoices } from '@/db/schema';
import { listReader, usedConditions } from '../counted-list/list-reader';
import { matchNumbered, numberFilters, toNumberFilters } from '../customers/match-customer';
import { isOfCustomer } from '../customers/merged-customers';
import { snippetColumns, toCustomerSnippet } from '../customers/queries';
import { AppError } from '../errors';
import { fromThousandths, toJsonAmount, toThousandths } from '../money';
import { UNPAID_STATUSES } from '../overdue';
import { MAX_ID, type Page, type PageRequest, pageRequest, toPage } from '../page';
import { isRefundedInPart, type WithMoneyBack } from './money-back';
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

const newestFirst = [desc(invoices.invoice_date), desc(invoices.id)];

/** Narrows a list further than tools can. */
interface InvoiceConditions extends InvoiceFilters {
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
function matchInvoices({ page: _, per_page: __, ...filters }: InvoiceConditions): SQL | undefined {
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

/** Invoices by `#id` or by number. Two of Stripe's may share one. */
export function matchInvoice(text: string): SQL {
  return matchNumbered(invoices, text);
}

/** One invoice with its customer, and what only staff see of it. @throws AppError not_found */
export async function getInvoice(db: Database, id: number) {
  const [found] = await db
    .select({
      ...invoiceColumns,
      version: invoices.version,
      subscription_id: invoices.subscription_id,
      paid_at: invoices.paid_at,
      payment_failed_at: invoices.payment_failed_at,
      uncollectible: invoices.uncollectible,
      stripe_customer_id: invoices.stripe_customer_id,
      stripe_synced_at: invoices.stripe_synced_at,
      provider_as_of: invoices.provider_as_of,
      provider_gone_at: invoices.provider_gone_at,
    })
    .from(invoices)
    .innerJoin(customers, eq(customers.id, invoices.customer_id))
    .where(eq(invoices.id, Math.min(id, MAX_ID)));
  if (!found) throw new AppError('not_found', `There is no invoice ${id}.`);
  return { ...found, ...toInvoiceRow(found) };
}

export type InvoiceDetails = Awaited<ReturnType<typeof getInvoice>>;

/** The parts of an invoice that payments do not show, in whole units of its currency; 0 if it has no such part. */
export interface BesidePayments {
  /** Paid in cash or by transfer, and only noted at Stripe. Null if Stripe has not told yet. */
  offStripe: number | null;
  /** Settled with the customer's balance at Stripe: credit that was used, or a total too small to be charged. */
  fromBalance: number;
  /** Added to the customer's balance at Stripe, because the total is negative. */
  toBalance: number;
  /** Collected beyond the total, since the customer's balance at Stripe was a debt. */
  earlierDebt: number;
  /** Paid or due beyond the total, as long as Stripe has not told the balance: an earlier debt, or an overpayment. */
  beyondTotal: number;
  /** Paid beyond the total and an earlier debt. */
  overpaid: number;
  /** Still due, although Stripe has given up collecting it. */
  writtenOff: number;
}

type Amounts = Pick<
  WithMoneyBack<InvoiceDetails>,
  | 'status'
  | 'total'
  | 'amount_paid'
  | 'amount_due'
  | 'amount_credited'
  | 'amount_off_stripe'
  | 'balance_applied'
  | 'written_off'
  | 'stripe_invoice_id'
>;

/**
 * Explains an invoice whose payments do not add up to its total. Stripe takes the balance of a customer into account
 * before it collects the rest. If Stripe has not told the balance, it is what is neither paid, due nor credited.
 */
export function besidePayments(invoice: Amounts): BesidePayments {
  const { status, amount_off_stripe, balance_applied } = invoice;
  const total = thousandths(invoice.total);
  const paid = thousandths(invoice.amount_paid);
  const due = thousandths(invoice.amount_due);
  const isStripes = invoice.stripe_invoice_id !== null;
  const isFinal = isStripes && status !== 'draft' && status !== 'cancelled';
  const rest = isFinal ? total - paid - due : 0;
  const balance = isFinal && balance_applied !== null ? thousandths(balance_applied) : null;
  return {
    offStripe: isStripes ? amount_off_stripe : 0,
    fromBalance: positive(balance ?? (total > 0 ? rest - thousandths(invoice.amount_credited) : 0)),
    toBalance: positive(isFinal ? -total : 0),
    earlierDebt: positive(balance !== null && total >= 0 ? -balance : 0),
    beyondTotal: positive(balance === null && total >= 0 ? -rest : 0),
    overpaid: positive(isStripes ? (balance === null || total < 0 ? 0 : balance - rest) : paid - total),
    writtenOff: invoice.written_off,
  };
}

const thousandths = (amount: number) => toThousandths(String(amount));
const positive = (amount: number) => toJsonAmount(fromThousandths(Math.max(0, amount)));

/** Invoices of one currency and status together. */
export const invoiceSums = z.object({
  currency: z.string(),
  status: z.string(),
  count: z.int(),
  total: z.number(),
  amount_paid: z.number(),
  amount_due: z.number(),
  /** Neither paid nor due: by credit notes, or by the customer's balance at Stripe. */
  settled_by_credit: z.number(),
  /** Of `amount_due`: Stripe has given up collecting it. */
  written_off: z.number(),
});

/** Counts and sums of the invoices that the filters find, per currency and status. */
export async function summarizeInvoices(
  db: Database,
  filters: InvoiceFilters,
): Promise<z.infer<typeof invoiceSums>[]> {
  if ((filters.customer_id ?? 0) > MAX_ID) return [];
  const { currency, status, total, amount_paid, amount_due } = invoices;
  const found = await db
    .select({
      currency,
      status,
      count: count(),
      total: sum(total),
      amount_paid: sum(amount_paid),
      amount_due: sum(amount_due),
      // Nothing of a cancelled invoice is settled: its total was never to be paid.
      settled_by_credit: sum(
        sql`case when ${status} <> 'cancelled' then greatest(${total} - ${amount_paid} - ${amount_due}, 0) end`,
      ),
      written_off: sum(sql`case when ${invoices.uncollectible} then ${amount_due} end`),
    })
    .from(invoices)
    .where(matchInvoices(filters))
    .groupBy(currency, status)
    .orderBy(currency, status);
  return found.map((row) => ({
    ...row,
    total: toJsonAmount(row.total ?? '0'),
    amount_paid: toJsonAmount(row.amount_paid ?? '0'),
    amount_due: toJsonAmount(row.amount_due ?? '0'),
    settled_by_credit: toJsonAmount(row.settled_by_credit ?? '0'),
    written_off: toJsonAmount(row.written_off ?? '0'),
  }));
}
