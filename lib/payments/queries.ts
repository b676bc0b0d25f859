import { and, desc, eq, getTableColumns, gte, lte, type Placeholder, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { payments } from '@/db/schema';
import { statement } from '@/db/statement';
import { AppError } from '../errors';
import { toJsonAmount } from '../money';
import { MAX_ID, type Page, pageBounds, pageRequest, toPage } from '../page';
import { type PaymentFilters, type PaymentRow, paymentRow } from './schema';

/** Payments, newest first; a page past the end is empty. */
export async function listPayments(db: Database, filters: PaymentFilters): Promise<Page<PaymentRow>> {
  const request = pageRequest(filters);
  const values = filters as Record<Filter, unknown>;
  const { readPage, readTotal } = queriesWith(FILTERS.filter((name) => filters[name] !== undefined));
  const rows = await readPage(db, { ...values, ...pageBounds(request) });
  const counted = rows.length > 0 || request.page === 1 ? rows : await readTotal(db, values);
  return toPage(request, counted[0]?.total ?? 0, rows.map(toPaymentRow));
}

const CONDITIONS = {
  customer_id: (value: SQL) => eq(payments.customer_id, value),
  invoice_id: (value: SQL) => eq(payments.invoice_id, value),
  status: (value: SQL) => eq(payments.status, value),
  payment_reference: (value: SQL) => eq(payments.payment_reference, value),
  payment_date_from: (value: SQL) => gte(payments.payment_date, value),
  payment_date_to: (value: SQL) => lte(payments.payment_date, value),
};
type Filter = keyof typeof CONDITIONS;
const FILTERS = Object.keys(CONDITIONS) as Filter[];

const queries = new Map<string, ReturnType<typeof buildQueries>>();

/** The two queries of one choice of filters, of which there are 64. */
function queriesWith(filters: Filter[]) {
  const key = filters.join();
  const known = queries.get(key) ?? buildQueries(filters);
  queries.set(key, known);
  return known;
}

function buildQueries(filters: Filter[]) {
  const whereOf = (values: Record<Filter, SQL>) =>
    and(...filters.map((name) => CONDITIONS[name](values[name])));
  const selectTotal = (db: Database, values: Record<Filter, SQL>) =>
    db.select({ total: sql<number>`count(*)::int` }).from(payments).where(whereOf(values));
  return {
    // A bound limit costs nothing here: each filter has an index in the order of the list.
    readPage: statement([...FILTERS, 'limit', 'offset'], (db, values) =>
      db
        .select({ ...getTableColumns(payments), total: sql<number>`${selectTotal(db, values)}` })
        .from(payments)
        .where(whereOf(values))
        .orderBy(desc(payments.payment_date), desc(payments.id))
        .limit(hidden(values.limit))
        .offset(hidden(values.offset)),
    ),
    readTotal: statement(FILTERS, selectTotal),
  };
}

const hidden = (value: SQL) => sql`(select ${value}::int)` as unknown as Placeholder;

/** @throws AppError not_found */
export async function getPayment(db: Database, id: number): Promise<PaymentRow> {
  const [row] = id > MAX_ID ? [] : await findPayment(db, { id });
  if (!row) throw paymentNotFound(id);
  return toPaymentRow(row);
}

const findPayment = statement(['id'], (db, { id }) => db.select().from(payments).where(eq(payments.id, id)));

export function paymentNotFound(id: number): AppError {
  return new AppError('not_found', `There is no payment ${id}.`);
}

/** Parsed, so that a new column shows nowhere by itself. */
export function toPaymentRow(row: typeof payments.$inferSelect): PaymentRow {
  return paymentRow.parse({
    ...row,
    amount: toJsonAmount(row.amount),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  });
}
