import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { toJsonAmount } from '../money';
import { STRIPE_MONEY } from './stripe-payment';

/** An invoice of Stripe's, and how much of what is recorded here Stripe does not count as paid. */
export interface Uncounted {
  id: number;
  number: string | null;
  currency: string;
  amount: number;
}

/** So many are listed. */
const MAX_LISTED = 5;

/** The invoices of Stripe's with payments recorded here that Stripe does not count, of one customer or one invoice. */
export async function listUncounted(
  db: Database,
  of: { customer_id: number } | { invoice_id: number },
): Promise<Uncounted[]> {
  const isIts =
    'invoice_id' in of ? sql`i.id = ${of.invoice_id}::int` : sql`i.customer_id = ${of.customer_id}::int`;
  const found = await rows<Omit<Uncounted, 'amount'> & { amount: string }>(
    db,
    sql`select i.id, i.number, i.currency, (sum(p.amount - p.refunded_amount) - coalesce(i.amount_off_stripe, 0))::text as amount
      from invoices i join payments p on p.invoice_id = i.id
      where ${isIts} and i.stripe_invoice_id is not null and i.status <> 'cancelled' and p.status = 'completed'
        and p.source <> 'stripe' and p.id is distinct from i.collected_by_payment_id
        and p.payment_reference !~ ${STRIPE_MONEY}
      group by i.id having sum(p.amount - p.refunded_amount) > coalesce(i.amount_off_stripe, 0)
      order by i.id desc limit ${sql.raw(String(MAX_LISTED))}`,
  );
  return found.map(({ amount, ...one }) => ({ ...one, amount: toJsonAmount(amount) }));
}
