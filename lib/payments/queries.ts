import { and, desc, eq, sql } from 'drizzle-orm';
import { type Database, statement } from '@/db/database';
import { auditedCustomer, auditLog, customers, invoices, payments } from '@/db/schema';
import type { AuditRow } from '../audit/audit-log';
import { snippetColumns, toCustomerSnippet } from '../customers/queries';
import { AppError } from '../errors';
import { toJsonAmount, toJsonAmounts } from '../money';
import { MAX_ID } from '../page';
import { literal } from '../page-query';
import { type PaymentRow, paymentNotFound, paymentRow, toPaymentRow } from './schema';

/** @throws AppError not_found */
export async function getPayment(db: Database, id: number): Promise<PaymentRow> {
  const [row] = id > MAX_ID ? [] : await findPayment(db, { id });
  if (!row) throw paymentNotFound(id);
  return toPaymentRow(row);
}

const findPayment = statement(['id'], (db, { id }) => db.select().from(payments).where(eq(payments.id, id)));

type Keys = Pick<PaymentRow, 'customer_id' | 'invoice_id'>;

/** What a page says of the invoice and the customer of a payment. */
export async function getPaymentContext(db: Database, payment: Keys) {
  const [found] = await db
    .select({
      invoice: {
        id: invoices.id,
        number: invoices.number,
        status: invoices.status,
        invoice_date: invoices.invoice_date,
        due_date: invoices.due_date,
        currency: invoices.currency,
        total: invoices.total,
        amount_paid: invoices.amount_paid,
        amount_due: invoices.amount_due,
        stripe_invoice_id: invoices.stripe_invoice_id,
        /** The remaining amount of its completed payments. */
        recorded: sql<string>`(select coalesce(sum(p.amount - p.refunded_amount), 0)::text from payments p
          where p.invoice_id = invoices.id and p.status = 'completed')`,
      },
    })
    .from(invoices)
    .where(eq(invoices.id, payment.invoice_id));
  const [customer] = await db
    .select(snippetColumns)
    .from(customers)
    .where(eq(customers.id, payment.customer_id));
  // Deleted between two reads; the tables' foreign keys allow nothing else.
  if (!found || !customer) throw new AppError('not_found', 'The payment was deleted meanwhile.');
  return {
    customer: toCustomerSnippet(customer),
    invoice: toJsonAmounts(found.invoice, 'total', 'amount_paid', 'amount_due', 'recorded'),
  };
}

export type PaymentContext = Awaited<ReturnType<typeof getPaymentContext>>;

const MAX_LISTED = 20;

/** The payments of an invoice that were deleted, the latest first, at most 20. */
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
        sql`${auditLog.action} <> 'payment.create'`, // as the index has it
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

/** A payment as it was when it was deleted; null where its history does not end so. */
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
