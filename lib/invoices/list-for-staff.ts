import { and, eq, gte, inArray, lte, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { customers, invoiceStatus, invoices } from '@/db/schema';
import {
  allPages,
  type ListPlace,
  orderOf,
  readSortedPage,
  refusalOf,
  type SortedPage,
  type StaffPage,
} from '../counted-list/sorted-page';
import { toCsv } from '../csv';
import { findNamedCustomers, isOfAny, matchNumbered, type NamedCustomers } from '../customers/match-customer';
import { CUSTOMER_COLUMNS, inColumns } from '../customers/queries';
import { dateRange, isInOrder, oneOf, textLine, WRONG_ORDER } from '../fields';
import { perPageParam } from '../page';
import { constant, type PageStart } from '../page-query';
import { addMoneyBack, isRefundedInPart, type WithMoneyBack } from './money-back';
import { invoiceColumns, listInvoices, toInvoiceRow } from './queries';
import { type InvoiceRow, invoiceRow } from './schema';

/** The states an invoice can be filtered by: its own status, waiting for money, and what happened to its payments since. */
export const INVOICE_STATES = [...invoiceStatus.enumValues, 'open', 'refunded_in_part'] as const;

/** Orders of the staff's list; a minus stands for the latest or largest first. */
const SORTS = ['-date', 'date', '-amount', 'amount'] as const;

/** What staff narrow a list of invoices to, as they type it. */
export const invoiceStaffFilters = z
  .object({
    /** A whole number, `#` and our id, or part of a number, name, company or e-mail address. */
    customer: textLine(200).optional(),
    number: textLine(100).optional(),
    status: oneOf(INVOICE_STATES).optional(),
    ...dateRange,
    sort: z.enum(SORTS).catch('-date'),
    per_page: perPageParam,
  })
  .refine(isInOrder, WRONG_ORDER);
type InvoiceStaffFilters = z.infer<typeof invoiceStaffFilters>;

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

/**
 * Whether the rows are counted as they are written, in the order of their blocks. A filter that `listInvoices` does not
 * take must make this false: the list would ignore it in its usual order.
 */
function isCounted({ sort, status }: InvoiceStaffFilters, named: NamedCustomers | null): boolean {
  return sort === '-date' && status !== 'open' && named?.exact !== false;
}

/** The invoices that match, in batches. */
async function readSortedInvoices(
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

const BATCH = 1000;
const COLUMNS = [
  ...Object.keys(invoiceRow.shape).filter((column) => column !== 'customer'),
  'refunded_amount',
  'amount_credited',
  'amount_off_stripe',
  'balance_applied',
  'written_off',
  ...CUSTOMER_COLUMNS,
];

/** The invoices that match as CSV, piece by piece, in the order of the list. */
export function invoicesCsv(db: Database, filters: InvoiceStaffFilters): AsyncGenerator<string> {
  return toCsv(COLUMNS, readRecords(db, filters));
}

async function* readRecords(db: Database, filters: InvoiceStaffFilters) {
  const named = filters.customer === undefined ? null : await findNamedCustomers(db, filters.customer);
  for await (const batch of allPages((start) => readSortedInvoices(db, filters, named, start, BATCH))) {
    yield batch.map(inColumns);
  }
}
