import { eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { disputes, invoiceLines, invoices, payments, refunds } from '@/db/schema';
import { toJsonAmount } from '../money';

export type WithMoneyBack<Row extends { id: number }> = Awaited<ReturnType<typeof addMoneyBack<Row>>>[number];

/** Adds details to the invoices of a page, such as refunds, credits and failed payments. */
export async function addMoneyBack<Row extends { id: number }>(db: Database, rows: Row[]) {
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
      isPrinted: sql<boolean>`case when ${invoices.stripe_invoice_id} is null
        then ${invoices.status} <> 'draft'
          and exists (select 1 from ${invoiceLines} where ${invoiceLines.invoice_id} = ${invoices.id})
        else ${invoices.lines_complete} and ${invoices.status} not in ('draft', 'cancelled') end`,
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
      /** Sum of the refunded amounts of the invoice's payments. */
      refunded_amount: toJsonAmount(more?.refunded ?? '0'),
      /** Sum of the amounts that credit notes credited, before and after payment. */
      amount_credited: toJsonAmount(more?.credited ?? '0'),
      /**
       * Amount that was paid in cash or by transfer and only recorded at Stripe. Null for our own invoices, and if
       * Stripe has not reported it.
       */
      amount_off_stripe: amountOrNull(more?.offStripe),
      /**
       * Amount settled with the customer's balance at Stripe. Negative if the balance increased the amount due, or if a
       * negative total was added to the balance. Null if the balance was not used, or if that is unknown.
       */
      balance_applied: amountOrNull(more?.balance),
      /** Amount still due, although Stripe no longer collects it. */
      written_off: toJsonAmount(more?.isWrittenOff ? more.due : '0'),
      /**
       * Whether the invoice is issued and its lines are known. False for an invoice that Stripe voided. The document
       * can still lack required fields.
       */
      is_printed: more?.isPrinted ?? false,
      /** Time when a payment first failed. Null if no payment has failed. */
      payment_failed_at: more?.failed ?? null,
    };
  });
}

const amountOrNull = (amount: string | null | undefined) => (amount == null ? null : toJsonAmount(amount));

/** SQL condition for invoices for which a part of the sum of their payments was refunded. */
export function isRefundedInPart(): SQL {
  // Start from the few refunds and disputes, because no index on payments serves this condition.
  return sql`${invoices.id} in (
    select p.invoice_id from ${payments} p
    where p.status in ('completed', 'refunded') and p.invoice_id in (
      select b.invoice_id from ${payments} b where b.refunded_amount > 0 and b.id in (
        select ${refunds.payment_id} from ${refunds} union select ${disputes.payment_id} from ${disputes}))
    group by p.invoice_id
    having sum(p.refunded_amount) > 0 and sum(p.refunded_amount) < sum(p.amount))`;
}
