import { eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { disputes, invoices, payments, refunds } from '@/db/schema';
import { toJsonAmount } from '../money';

export type WithMoneyBack<Row> = Row & {
  /** What came back of its payments. */
  refunded_amount: number;
  /** Of the total, by credit notes. */
  amount_credited: number;
  /** When Stripe last could not collect it. */
  payment_failed_at: Date | null;
};

/** Adds to the invoices of a page what became of their payments, and what was credited. */
export async function addMoneyBack<Row extends { id: number }>(
  db: Database,
  rows: Row[],
): Promise<WithMoneyBack<Row>[]> {
  if (rows.length === 0) return [];
  const found = await db
    .select({
      id: invoices.id,
      credited: invoices.amount_credited,
      failed: invoices.payment_failed_at,
      refunded: sql<string>`coalesce(sum(${payments.refunded_amount}), 0)::text`,
    })
    .from(invoices)
    .leftJoin(payments, eq(payments.invoice_id, invoices.id))
    .where(
      inArray(
        invoices.id,
        rows.map(({ id }) => id),
      ),
    )
    .groupBy(invoices.id);
  const byId = new Map(found.map((one) => [one.id, one]));
  return rows.map((row) => ({
    ...row,
    refunded_amount: toJsonAmount(byId.get(row.id)?.refunded ?? '0'),
    amount_credited: toJsonAmount(byId.get(row.id)?.credited ?? '0'),
    payment_failed_at: byId.get(row.id)?.failed ?? null,
  }));
}

/** Invoices of whose payments some came back, but not all. */
export function isRefundedInPart(): SQL {
  // From the few payments that came back: no index over all of them knows.
  return sql`${invoices.id} in (
    select p.invoice_id from ${payments} p
    where p.status in ('completed', 'refunded') and p.invoice_id in (
      select b.invoice_id from ${payments} b where b.refunded_amount > 0 and b.id in (
        select ${refunds.payment_id} from ${refunds} union select ${disputes.payment_id} from ${disputes}))
    group by p.invoice_id
    having sum(p.refunded_amount) > 0 and sum(p.refunded_amount) < sum(p.amount))`;
}
