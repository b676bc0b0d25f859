import { and, eq, gte, ilike, inArray, lte, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { disputes, invoices, payments } from '@/db/schema';
import { isOfAny, type NamedCustomers } from '../customers/named-customers';
import { matchInvoice } from '../invoices/match-invoice';
import { containsPattern } from '../search-text';
import { isOpenDispute } from './counted-back';
import type { StaffFilters } from './staff-filters';

/** The payments that pass the staff's filters; undefined: all. */
export function matchFilters(
  db: Database,
  filters: StaffFilters,
  named: NamedCustomers | null,
): SQL | undefined {
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
export function matchesFew({ invoice, customer, status, reference }: StaffFilters): boolean {
  return (
    [invoice, customer, reference].some((text) => text !== undefined) ||
    status === 'refunded_in_part' ||
    status === 'disputed'
  );
}
