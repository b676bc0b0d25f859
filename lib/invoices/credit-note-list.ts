import { eq, inArray, sql } from 'drizzle-orm';
import { type Database, pickColumns } from '@/db/database';
import { creditNotes, customers, invoices } from '@/db/schema';
import { dayFilters, defineList, wordFilter } from '../counted-list/define-list';
import { customerFilter, numberFilter } from '../customers/match-customer';
import { CUSTOMER_COLUMNS, inColumns, snippetColumns, toCustomerSnippet } from '../customers/queries';
import { toJsonAmounts } from '../money';
import { CREDIT_NOTE_COLUMNS } from './credit-notes';

const c = creditNotes;

export const CREDIT_NOTE_KINDS = c.kind.enumValues;

/** The list of credit notes and cancellations on staff pages. */
export const creditNoteList = defineList({
  table: c,
  filters: {
    customer: customerFilter(c.customer_id),
    number: numberFilter(c),
    kind: wordFilter(CREDIT_NOTE_KINDS, c.kind),
    ...dayFilters(c.date),
  },
  orders: { date: sql`${c.date}` },
  sort: '-date',
  rows: readRows,
  columns: [...Object.keys(CREDIT_NOTE_COLUMNS), 'invoice_id', 'invoice_number', ...CUSTOMER_COLUMNS],
  toRecord: inColumns,
});

export type ListedCreditNote = Awaited<ReturnType<typeof readRows>>[number];

async function readRows(db: Database, ids: number[]) {
  const rows = await db
    .select({
      ...CREDIT_NOTE_COLUMNS,
      ...{ invoice_id: c.invoice_id, invoice_number: invoices.number, customer: snippetColumns },
    })
    .from(c)
    .innerJoin(invoices, eq(invoices.id, c.invoice_id))
    .innerJoin(customers, eq(customers.id, c.customer_id))
    .where(inArray(c.id, ids));
  return rows.map((row) => ({
    ...toJsonAmounts(row, 'subtotal', 'tax', 'total'),
    customer: toCustomerSnippet(row.customer),
  }));
}

/** Returns the id of the invoice that a credit note credits. Returns undefined if the credit note does not exist. */
export async function findCreditedInvoice(db: Database, id: number): Promise<number | undefined> {
  const [found] = await db.select(pickColumns(c, 'invoice_id')).from(c).where(eq(c.id, id));
  return found?.invoice_id;
}
