import { eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { disputes, invoices, payments, refunds } from '@/db/schema';
import { toJsonAmount } from '../money';

export type WithMoneyBack<Row> = Row & {
  /** What came back of its payments. */
  refunded_amount: number;
  /** Of the total, by credit notes. */
  amount_credited: number;
  /** Paid in cash or by transfer, and only noted at Stripe; null if Stripe has not told. */
  amount_off_stripe: number | null;
  /** Of the total, paid from the customer's balance at Stripe; null: no part of it, or not known. */
  balance_applied: number | null;
  /** Still due, although Stripe has given up collecting it. */
  written_off: number;
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
      offStripe: invoices.amount_off_stripe,
      balance: invoices.balance_applied,
      isWrittenOff: sql<boolean>`${invoices.uncollectible} and ${invoices.status} = 'overdue'`,
      due: invoices.amount_due,
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
  return rows.map((row) => {
    const more = byId.get(row.id);
    return {
      ...row,
      refunded_amount: toJsonAmount(more?.refunded ?? '0'),
      amount_credited: toJsonAmount(more?.credited ?? '0'),
      amount_off_stripe: amountOrNull(more?.offStripe),
      balance_applied: amountOrNull(more?.balance),
      written_off: toJsonAmount(more?.isWrittenOff ? more.due : '0'),
      payment_failed_at: more?.failed ?? null,
    };
  });
}

const amountOrNull = (amount: string | null | undefined) => (amount == null ? null : toJsonAmount(amount));

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
