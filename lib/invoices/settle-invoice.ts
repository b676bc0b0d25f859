import { sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { statement } from '@/db/statement';
import { unpaidStatusSql } from '../overdue';

/**
 * Recomputes a local invoice from what is left of its completed payments; `settled` is the same in TypeScript. An invoice that Stripe manages takes
 * its state from Stripe alone and stays as it is; so does the status of a draft or a cancelled one. What was imported
 * as paid stays paid, until payments come to as much (`paidWithout`). The caller holds the invoice's row lock.
 *
 * @param today calendar date in the time zone of the service: past the due date means overdue
 * @param change by how much its payments are more than before, as a decimal text
 */
export async function settleInvoice(
  tx: Database,
  invoiceId: number,
  { today, now, change = '0' }: { today: string; now: Date; change?: string },
): Promise<void> {
  await settle(tx, { invoiceId, today, instant: now.toISOString(), change });
}

const INVOICE = {
  due_date: sql`i.due_date`,
  payment_failed_at: sql`i.payment_failed_at`,
  uncollectible: sql`i.uncollectible`,
};

const settle = statement(
  ['invoiceId', 'today', 'instant', 'change'],
  (_, { invoiceId, today, instant, change }) => sql`
    update invoices i set
      amount_paid = p.paid,
      amount_due = greatest(i.total - p.paid, 0),
      status = case
        when i.status in ('draft', 'cancelled') then i.status
        when p.paid >= i.total then 'paid'
        else ${unpaidStatusSql(INVOICE, sql`${today}::date`)} end,
      paid_at = case
        when i.status in ('draft', 'cancelled') then i.paid_at
        when p.paid >= i.total then coalesce(i.paid_at, ${instant}::timestamptz) end,
      updated_at = now(),
      version = i.version + 1
    from (
      select greatest(s.sum, case when o.amount_paid > s.sum - ${change}::numeric then o.amount_paid end) as paid
      from invoices o, (
        select coalesce(sum(amount - refunded_amount) filter (where status = 'completed'), 0) as sum
        from payments where invoice_id = ${invoiceId}
      ) s
      where o.id = ${invoiceId}
    ) p
    where i.id = ${invoiceId} and i.stripe_invoice_id is null`,
);
