import { and, desc, eq, gte, lte } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { payments } from '@/db/schema';
import { AppError } from '../errors';
import { toJsonAmount } from '../money';
import { MAX_ID, type Page, pageRequest } from '../page';
import { readPage } from '../page-query';
import { type PaymentFilters, type PaymentRow, paymentRow } from './schema';

/** Payments, newest first; a page past the end is empty. */
export async function listPayments(db: Database, filters: PaymentFilters): Promise<Page<PaymentRow>> {
  const { customer_id, invoice_id, status, payment_reference, payment_date_from, payment_date_to } = filters;
  const where = and(
    customer_id === undefined ? undefined : eq(payments.customer_id, customer_id),
    invoice_id === undefined ? undefined : eq(payments.invoice_id, invoice_id),
    status === undefined ? undefined : eq(payments.status, status),
    payment_reference === undefined ? undefined : eq(payments.payment_reference, payment_reference),
    payment_date_from === undefined ? undefined : gte(payments.payment_date, payment_date_from),
    payment_date_to === undefined ? undefined : lte(payments.payment_date, payment_date_to),
  );
  const page = await readPage(
    pageRequest(filters),
    ({ limit, offset }) =>
      db
        .select()
        .from(payments)
        .where(where)
        .orderBy(desc(payments.payment_date), desc(payments.id))
        .limit(limit)
        .offset(offset),
    () => db.$count(payments, where),
  );
  return { ...page, data: page.data.map(toPaymentRow) };
}

/** @throws AppError not_found */
export async function getPayment(db: Database, id: number): Promise<PaymentRow> {
  const [row] = id > MAX_ID ? [] : await db.select().from(payments).where(eq(payments.id, id)).limit(1);
  if (!row) throw paymentNotFound(id);
  return toPaymentRow(row);
}

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
