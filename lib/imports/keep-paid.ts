import { and, eq, isNull, ne, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { invoices } from '@/db/schema';

/** What says of an invoice that it is paid. */
type Paid = Pick<typeof invoices.$inferSelect, 'id' | 'amount_paid' | 'amount_due' | 'paid_at'>;

/**
 * An invoice of ours that is paid though its payments are fewer, as one is that came as paid; null of any other.
 * The old books do not always have every payment.
 */
export async function readPaidBefore(tx: Database, id: number): Promise<Paid | null> {
  const [found] = await tx
    .select({
      id: invoices.id,
      amount_paid: invoices.amount_paid,
      amount_due: invoices.amount_due,
      paid_at: invoices.paid_at,
    })
    .from(invoices)
    .where(
      and(
        eq(invoices.id, id),
        eq(invoices.status, 'paid'),
        isNull(invoices.stripe_invoice_id),
        sql`${invoices.total} > (select coalesce(sum(p.amount - p.refunded_amount), 0) from payments p
          where p.invoice_id = ${id} and p.status = 'completed')`,
      ),
    );
  return found ?? null;
}

/** Leaves it paid where settling it by its payments alone has opened it again. */
export async function keepPaid(tx: Database, { id, ...paid }: Paid): Promise<void> {
  await tx
    .update(invoices)
    .set({ ...paid, status: 'paid' })
    .where(and(eq(invoices.id, id), ne(invoices.status, 'paid')));
}
