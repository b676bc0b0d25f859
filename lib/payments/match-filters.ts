import { and, eq, gte, ilike, inArray, lte, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, disputes, invoices, payments } from '@/db/schema';
import { findCustomerId } from '../customers/match-customer';
import { hasAlike } from '../customers/match-mention';
import { matchInvoice } from '../invoices/match-invoice';
import { containsPattern } from '../search-text';
import { isOpenDispute } from './counted-back';
import type { StaffFilters } from './staff-filters';

/** The payments that pass the staff's filters; undefined: all. */
export async function matchFilters(db: Database, filters: StaffFilters): Promise<SQL | undefined> {
  const { invoice, customer, status, reference, from, to } = filters;
  return and(
    invoice === undefined ? undefined : ofInvoices(db, matchInvoice(invoice)),
    customer === undefined ? undefined : await ofCustomers(db, customer),
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

/** A whole number means its customer alone, whoever else's data contains it. */
async function ofCustomers(db: Database, text: string): Promise<SQL> {
  const exact = await findCustomerId(db, text);
  if (exact !== null) return eq(payments.customer_id, exact);
  const alike = hasAlike(containsPattern(text));
  return inArray(payments.customer_id, db.select({ id: customers.id }).from(customers).where(alike));
}
