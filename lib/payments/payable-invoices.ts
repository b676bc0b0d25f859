import { and, asc, desc, eq, inArray, like, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, invoices } from '@/db/schema';
import { findCustomers } from '../customers/find-customers';
import { spellings } from '../customers/match-customer';
import { snippetColumns, toCustomerSnippet } from '../customers/queries';
import { customerQuery } from '../customers/schema';
import { invalidField } from '../errors';
import { textLine } from '../fields';
import { matchInvoice } from '../invoices/queries';
import { takesPayments } from '../invoices/settle';
import { toJsonAmounts } from '../money';
import { literal } from '../page-query';
import { typedAmounts } from '../read-amount';
import { containsPattern, prefixPattern } from '../search-text';
import { getPaymentContext } from './queries';

/** The length of a list that a person reads through. */
const MAX_FOUND = 20;
/** In literals, as in the partial indexes over the unpaid ones. */
const isUnpaid = sql`${invoices.status} in ('sent', 'overdue')`;

/**
 * Invoices that a payment may be for: of a customer, with a part of a number, or with an amount, open or in all.
 *
 * @param text such as a line of a bank statement
 * @returns at most 20: unpaid ones first, those that are due first before others
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
      id: invoices.id,
      number: invoices.number,
      status: invoices.status,
      invoice_date: invoices.invoice_date,
      due_date: invoices.due_date,
      currency: invoices.currency,
      total: invoices.total,
      amount_due: invoices.amount_due,
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
 * The invoice that staff name, with its customer, when it can be paid.
 *
 * @param text its number, or `#` and its id
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
    throw invalidField('invoice', `is a number of several invoices: enter one of ${ids}`);
  }
  if (!takesPayments(invoice)) throw invalidField('invoice', `is ${invoice.status} and takes no payment`);
  return getPaymentContext(db, { invoice_id: invoice.id, customer_id: invoice.customer_id });
}
