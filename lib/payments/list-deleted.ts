import { and, desc, eq, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { auditedCustomer, auditLog } from '@/db/schema';
import { literal } from '../page-query';
import { type DeletedPayment, toDeletedPayment } from './deleted-payment';

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
