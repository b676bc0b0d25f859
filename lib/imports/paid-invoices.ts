import { inArray } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { invoices } from '@/db/schema';

/** The invoice that a payment names, and whose it is. */
export interface PaidInvoice {
  id: number;
  customer_id: number;
  currency: string;
}

/** Invoices by their numbers: of two with one number, which two accounts at Stripe may give, our own. */
export async function findInvoices(db: Database, numbers: string[]): Promise<Map<string, PaidInvoice>> {
  if (numbers.length === 0) return new Map();
  const found = await db
    .select({
      number: invoices.number,
      stripe: invoices.stripe_invoice_id,
      id: invoices.id,
      customer_id: invoices.customer_id,
      currency: invoices.currency,
    })
    .from(invoices)
    .where(inArray(invoices.number, [...new Set(numbers)]));
  const oursLast = found.sort((a, b) => Number(a.stripe === null) - Number(b.stripe === null));
  return new Map(oursLast.map(({ number, stripe, ...invoice }) => [String(number), invoice]));
}
