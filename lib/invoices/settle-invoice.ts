import { sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { statement } from '@/db/statement';
import { unpaidStatusSql } from '../overdue';

/**
 * Recomputes a local invoice from what is left of its completed payments; `settled` is the same in TypeScript. An invoice that Stripe manages takes
 * its state from Stripe alone and stays as it is; so does the status of a draft or a cancelled one.
 * The caller holds the invoice's row lock.
 *
 * @param today calendar date in the time zone of the service: past the due date means overdue
 */
export async function settleInvoice(
  tx: Database,
  invoiceId: number,
  { today, now }: { today: string; now: Date },
): Promise<void> {
  await settle(tx, { invoiceId, today, instant: now.toISOString() });
}

const INVOICE = {
  due_date: sql`i.due_date`,
  payment_failed_at: sql`i.payment_failed_at`,
  uncollectible: sql`i.uncollectible`,
};

const settle = statement(
  ['invoiceId', 'today', 'instant'],
  (_, { invoiceId, today, instant }) => sql`
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
      select coalesce(sum(amount - refunded_amount) filter (where status = 'completed'), 0) as paid
      from payments where invoice_id = ${invoiceId}
    ) p
    where i.id = ${invoiceId} and i.stripe_invoice_id is null`,
);
