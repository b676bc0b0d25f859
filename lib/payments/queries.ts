import { and, desc, eq, getTableColumns, gte, lte, sql } from 'drizzle-orm';
import { type Database, statement } from '@/db/database';
import { auditedCustomer, auditLog, paymentBlocks, paymentDeltas, payments } from '@/db/schema';
import type { AuditRow } from '../audit/audit-log';
import { countedList } from '../counted-list/list-reader';
import { isOfCustomer } from '../customers/merged-customers';
import { toJsonAmount } from '../money';
import { MAX_ID } from '../page';
import { literal } from '../page-query';
import { type PaymentFilters, type PaymentRow, paymentNotFound, paymentRow, toPaymentRow } from './schema';

/** Lists payments, newest first. A page past the end is empty. */
export const listPayments = (db: Database, given: PaymentFilters) => counted.list(db, given);

const counted = countedList({
  table: payments,
  blocks: paymentBlocks,
  deltas: paymentDeltas,
  order: [payments.payment_date, payments.id],
  newestFirst: true,
  more: {
    customer_id: { matches: (id) => isOfCustomer(payments.customer_id, id) },
    invoice_id: { matches: (id) => eq(payments.invoice_id, id) },
    status: { matches: (status) => eq(payments.status, status), isClosed: true },
    payment_reference: { matches: (reference) => eq(payments.payment_reference, reference) },
    payment_date_from: { matches: (day) => gte(payments.payment_date, day), end: 'from' },
    payment_date_to: { matches: (day) => lte(payments.payment_date, day), end: 'to' },
  },
  columns: getTableColumns(payments),
  toRow: toPaymentRow,
});

/** Returns a payment in its public form. @throws AppError not_found */
export async function getPayment(db: Database, id: number): Promise<PaymentRow> {
  const [row] = id > MAX_ID ? [] : await findPayment(db, { id });
  if (!row) throw paymentNotFound(id);
  return toPaymentRow(row);
}

const findPayment = statement(['id'], (db, { id }) => db.select().from(payments).where(eq(payments.id, id)));

const MAX_LISTED = 20;

/** Lists the deleted payments of an invoice, the latest first, at most 20. */
export async function listDeletedPayments(
  db: Database,
  { id, customer_id }: { id: number; customer_id: number },
): Promise<DeletedPayment[]> {
  const rows = await db
    .select()
    .from(auditLog)
    .where(
      and(
        eq(auditLog.entity, 'payment'),
        eq(auditLog.action, 'payment.delete'),
        sql`${auditLog.action} <> 'payment.create'`, // must match the condition of the partial index
        sql`${auditedCustomer(auditLog)} = ${String(customer_id)}`,
        sql`${auditLog.before} ->> 'invoice_id' = ${String(id)}`,
      ),
    )
    .orderBy(desc(auditLog.id))
    .limit(literal(MAX_LISTED));
  return rows.flatMap((row) => toDeletedPayment([row]) ?? []);
}

export interface DeletedPayment {
  payment: PaymentRow;
  deleted_by: string;
  deleted_at: Date;
}

/** Returns a deleted payment with its last values. Null if its history does not end with a deletion. */
export function toDeletedPayment([last]: AuditRow[]): DeletedPayment | null {
  if (last?.action !== 'payment.delete' || !last.before) return null;
  const { amount, refunded_amount = '0' } = last.before;
  return {
    payment: paymentRow.parse({
      ...last.before,
      amount: toJsonAmount(String(amount)),
      refunded_amount: toJsonAmount(String(refunded_amount)),
    }),
    deleted_by: last.actor_name,
    deleted_at: last.created_at,
  };
}
