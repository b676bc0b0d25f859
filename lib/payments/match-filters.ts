import { and, eq, gte, ilike, inArray, lte, type SQL } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, invoices, payments } from '@/db/schema';
import { literal } from '../page-query';
import { containsPattern } from '../search-text';
import { matchCustomer, matchInvoice } from './match-number';
import type { StaffFilters } from './staff-filters';

/** The payments that pass the staff's filters; undefined: all. */
export async function matchFilters(db: Database, filters: StaffFilters): Promise<SQL | undefined> {
  const { invoice, customer, status, reference, from, to } = filters;
  return and(
    invoice === undefined ? undefined : ofInvoices(db, matchInvoice(invoice)),
    customer === undefined ? undefined : await ofCustomers(db, customer),
    status && eq(payments.status, status),
    reference === undefined ? undefined : ilike(payments.payment_reference, containsPattern(reference)),
    from === undefined ? undefined : gte(payments.payment_date, from),
    to === undefined ? undefined : lte(payments.payment_date, to),
  );
}

function ofInvoices(db: Database, condition: SQL): SQL {
  return inArray(payments.invoice_id, db.select({ id: invoices.id }).from(invoices).where(condition));
}

/** A whole number means its customer alone, whoever else's data contains it. */
async function ofCustomers(db: Database, text: string): Promise<SQL> {
  const select = () => db.select({ id: customers.id }).from(customers);
  const [exact] = await select().where(matchCustomer(text)).limit(literal(1));
  if (exact) return eq(payments.customer_id, exact.id);
  const alike = ilike(customers.search_text, containsPattern(text));
  return inArray(payments.customer_id, select().where(alike));
}
