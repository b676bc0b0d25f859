import { and, eq, gte, inArray, lte, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, invoices } from '@/db/schema';
import { orderOf, readSortedPage, type SortedPage } from '../counted-list/sorted-page';
import { type ListPlace, refusalOf, type StaffPage } from '../counted-list/staff-list';
import { constant, type PageStart } from '../cursor-page';
import { matchNumbered } from '../customers/match-customer';
import { findNamedCustomers, isOfAny, type NamedCustomers } from '../customers/named-customers';
import { addMoneyBack, isRefundedInPart, type WithMoneyBack } from './money-back';
import { invoiceColumns, listInvoices, toInvoiceRow } from './queries';
import type { InvoiceRow } from './schema';
import type { InvoiceStaffFilters } from './staff-filters';

export type ListedInvoice = WithMoneyBack<InvoiceRow>;

/** When an invoice falls due; one without a date, on its own. */
export const dueOn = sql`coalesce(${invoices.due_date}, ${invoices.invoice_date})`;

const ORDERS = { date: sql`${invoices.invoice_date}`, amount: sql`${invoices.total}` };

/** One page of the invoices that match: counted in the usual order, by cursor in any other. */
export async function listInvoicesForStaff(
  db: Database,
  filters: InvoiceStaffFilters,
  { request, start }: ListPlace,
): Promise<StaffPage<ListedInvoice>> {
  const named = filters.customer === undefined ? null : await findNamedCustomers(db, filters.customer);
  const refused = refusalOf(named);
  if (refused) return refused;
  if (!isCounted(filters, named)) return readSortedInvoices(db, filters, named, start, filters.per_page);
  const { status: state, from, to, number } = filters;
  const isPart = state === 'refunded_in_part';
  const found = await listInvoices(db, {
    ...request,
    ...(named && { customer_id: named.ids[0] }),
    ...(isPart ? { isRefundedInPart: true } : state !== 'open' && { status: state }),
    number,
    invoice_date_from: from,
    invoice_date_to: to,
  });
  return { ...found, data: await addMoneyBack(db, found.data) };
}

/** The kinds of rows that are counted as they are written, in the order of their blocks. */
function isCounted({ sort, status }: InvoiceStaffFilters, named: NamedCustomers | null): boolean {
  return sort === '-date' && status !== 'open' && named?.exact !== false;
}

/** The invoices that match, in batches. */
export async function readSortedInvoices(
  db: Database,
  filters: InvoiceStaffFilters,
  named: NamedCustomers | null,
  start: PageStart,
  size: number,
): Promise<SortedPage<ListedInvoice>> {
  const { sort, number, status } = filters;
  const rows = {
    table: invoices,
    where: matchFilters(filters, named),
    ...orderOf(ORDERS, sort),
    few: named !== null || number !== undefined || status === 'refunded_in_part',
  };
  return readSortedPage(db, rows, { start, size }, readInvoices);
}

function matchFilters(filters: InvoiceStaffFilters, named: NamedCustomers | null): SQL | undefined {
  const { number, status, from, to } = filters;
  return and(
    named ? isOfAny(invoices.customer_id, named.ids) : undefined,
    number === undefined ? undefined : matchNumbered(invoices, number),
    status && ofState(status),
    from === undefined ? undefined : gte(invoices.invoice_date, from),
    to === undefined ? undefined : lte(invoices.invoice_date, to),
  );
}

/** As literals, so that the partial indexes over them are used. */
function ofState(state: NonNullable<InvoiceStaffFilters['status']>): SQL {
  if (state === 'open') return sql`${invoices.status} in ('sent', 'overdue')`;
  return state === 'refunded_in_part' ? isRefundedInPart() : sql`${invoices.status} = ${constant(state)}`;
}

async function readInvoices(tx: Database, ids: number[]): Promise<ListedInvoice[]> {
  const found = await tx
    .select(invoiceColumns)
    .from(invoices)
    .innerJoin(customers, eq(customers.id, invoices.customer_id))
    .where(inArray(invoices.id, ids));
  return addMoneyBack(tx, found.map(toInvoiceRow));
}
