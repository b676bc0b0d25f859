import { and, count, desc, eq, gte, lte } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { payments } from '@/db/schema';
import { AppError } from '../errors';
import { toJsonAmount } from '../money';
import { MAX_ID, type Page, pageBounds, pageRequest, toPage } from '../page';
import { type PaymentFilters, type PaymentRow, paymentRow } from './schema';

/** Payments, newest first; a page past the end is empty. */
export async function listPayments(db: Database, filters: PaymentFilters): Promise<Page<PaymentRow>> {
  const request = pageRequest(filters);
  const { limit, offset } = pageBounds(request);
  const where = and(
    filters.customer_id === undefined ? undefined : eq(payments.customer_id, filters.customer_id),
    filters.invoice_id === undefined ? undefined : eq(payments.invoice_id, filters.invoice_id),
    filters.status && eq(payments.status, filters.status),
    filters.payment_reference === undefined
      ? undefined
      : eq(payments.payment_reference, filters.payment_reference),
    filters.payment_date_from ? gte(payments.payment_date, filters.payment_date_from) : undefined,
    filters.payment_date_to ? lte(payments.payment_date, filters.payment_date_to) : undefined,
  );
  const [counted] = await db.select({ total: count() }).from(payments).where(where);
  const rows = await db
    .select()
    .from(payments)
    .where(where)
    .orderBy(desc(payments.payment_date), desc(payments.id))
    .limit(limit)
    .offset(offset);
  return toPage(request, counted?.total ?? 0, rows.map(toPaymentRow));
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
