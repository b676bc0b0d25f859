import { type SQL, sql } from 'drizzle-orm';
import { type Database, statement } from '@/db/database';
import type { invoices, payments } from '@/db/schema';
import { fromThousandths, toThousandths } from '../money';
import { unpaidStatus, unpaidStatusSql } from '../overdue';

/**
 * Recomputes our own invoice from the remaining amounts of its completed payments. `settled` is the same in TypeScript.
 * An invoice that Stripe manages is not changed. A draft or a cancelled invoice keeps its status, and a cancelled one
 * owes nothing. An invoice imported as paid stays paid until its payments add up to as much (`paidWithout`). The caller
 * holds the invoice's row lock.
 *
 * @param today calendar date in the time zone of the service, to find out whether the invoice is overdue
 * @param change increase of the sum of its payments since the last settlement, as decimal text
 */
export async function settleInvoice(
  tx: Database,
  invoiceId: number,
  { today, now, change = '0' }: { today: string; now: Date; change?: string },
): Promise<void> {
  await settle(tx, { invoiceId, today, instant: now.toISOString(), change });
}

/**
 * Recomputes many invoices at once, as `settleInvoice` does.
 *
 * @param changes increase of the sum of each invoice's payments, as decimal text by the invoice's id
 */
export async function settleInvoices(
  tx: Database,
  changes: Map<number, string>,
  { today, now }: { today: string; now: Date },
): Promise<void> {
  const given = JSON.stringify([...changes].map(([id, change]) => ({ id, change })));
  const touched = sql`select * from jsonb_to_recordset(${given}::jsonb) as touched (id int, change numeric)`;
  await tx.execute(settlement(touched, { today: sql`${today}`, instant: sql`${now.toISOString()}` }));
}

const INVOICE = {
  due_date: sql`i.due_date`,
  payment_failed_at: sql`i.payment_failed_at`,
  uncollectible: sql`i.uncollectible`,
};

const settle = statement(['invoiceId', 'today', 'instant', 'change'], (_, { invoiceId, change, ...at }) =>
  settlement(sql`select ${invoiceId}::int as id, ${change}::numeric as change`, at),
);

/** Builds the statement of a settlement. @param touched a query for rows of `id` and `change` */
function settlement(touched: SQL, { today, instant }: { today: SQL; instant: SQL }): SQL {
  return sql`
    update invoices i set
      amount_paid = p.paid,
      amount_due = case when i.status = 'cancelled' then 0 else greatest(i.total - p.paid, 0) end,
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
      select o.id, greatest(s.sum, case when o.amount_paid > s.sum - t.change then o.amount_paid end) as paid
      from (${touched}) t
      join invoices o on o.id = t.id
      cross join lateral (
        select coalesce(sum(amount - refunded_amount) filter (where status = 'completed'), 0) as sum
        from payments where invoice_id = t.id
      ) s
    ) p
    where i.id = p.id and i.stripe_invoice_id is null`;
}

type Invoice = typeof invoices.$inferSelect;
type Payment = Pick<typeof payments.$inferSelect, 'amount' | 'refunded_amount' | 'status'>;
type Settled = Pick<Invoice, 'amount_paid' | 'amount_due' | 'status' | 'paid_at'>;
type Owed = Pick<
  Invoice,
  'total' | 'status' | 'paid_at' | 'due_date' | 'payment_failed_at' | 'uncollectible'
>;

/** @param today calendar date in the time zone of the service */
interface At {
  today: string;
  now: Date;
}

/**
 * Returns the state of our own invoice from its payments, the same as `settleInvoice` writes.
 *
 * @param without the amount that counts as paid without payments, in thousandths: see `paidWithout`
 */
export function settled(invoice: Owed, ofInvoice: Payment[], at: At, without = 0): Settled {
  return settledBy(invoice, Math.max(sumOf(ofInvoice), without), at);
}

/**
 * Returns the amount imported as paid if the payments do not add up to it, and else 0.
 *
 * @param ofInvoice the invoice's payments before the write
 * @returns thousandths
 */
export function paidWithout({ amount_paid }: Pick<Invoice, 'amount_paid'>, ofInvoice: Payment[]): number {
  const paid = toThousandths(amount_paid);
  return paid > sumOf(ofInvoice) ? paid : 0;
}

/** Returns an invoice's amounts and status with `paid` thousandths paid. A cancelled invoice owes nothing. */
export function settledBy(invoice: Owed, paid: number, { today, now }: At): Settled {
  const { status, paid_at } = invoice;
  const due = status === 'cancelled' ? 0 : Math.max(0, toThousandths(invoice.total) - paid);
  const amounts = { amount_paid: fromThousandths(paid), amount_due: fromThousandths(due) };
  if (status === 'draft' || status === 'cancelled') return { ...amounts, status, paid_at };
  if (due === 0) return { ...amounts, status: 'paid', paid_at: paid_at ?? now };
  const { due_date, payment_failed_at, uncollectible } = invoice;
  const unpaid = { due_date, paymentFailed: payment_failed_at !== null, uncollectible };
  return { ...amounts, status: unpaidStatus(unpaid, today), paid_at: null };
}

/** Returns the remaining amount of completed payments, in thousandths. */
function sumOf(ofInvoice: Payment[]): number {
  return ofInvoice.reduce((sum, one) => sum + leftOf(one), 0);
}

/** Returns the part of a payment that counts towards its invoice, in thousandths. */
export function leftOf({ amount, refunded_amount, status }: Payment): number {
  return status === 'completed' ? toThousandths(amount) - toThousandths(refunded_amount) : 0;
}

/** True if an invoice takes payments. */
export function takesPayments({ status }: Pick<typeof invoices.$inferSelect, 'status'>): boolean {
  return status !== 'draft' && status !== 'cancelled';
}
