import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { invoices } from '@/db/schema';
import { toJsonAmount } from '../money';

/** What a customer paid too much on our own invoices, by currency; Stripe keeps its customers' credit itself. */
export async function listCustomerCredits(
  db: Database,
  customerId: number,
): Promise<{ currency: string; amount: number }[]> {
  const { customer_id, status, stripe_invoice_id, amount_paid, total, currency } = invoices;
  const rows = await db
    .select({ currency, amount: sql<string>`sum(${amount_paid} - ${total})::text` })
    .from(invoices)
    .where(
      and(
        eq(customer_id, customerId),
        eq(status, 'paid'),
        isNull(stripe_invoice_id),
        sql`${amount_paid} > ${total}`,
      ),
    )
    .groupBy(currency)
    .orderBy(currency);
  return rows.map(({ amount, ...rest }) => ({ ...rest, amount: toJsonAmount(amount) }));
}
