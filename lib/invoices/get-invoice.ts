import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, invoices } from '@/db/schema';
import { AppError } from '../errors';
import { MAX_ID } from '../page';
import { invoiceColumns, toInvoiceRow } from './queries';

/** One invoice with its customer, and what only staff see of it. @throws AppError not_found */
export async function getInvoice(db: Database, id: number) {
  const [found] = await db
    .select({
      ...invoiceColumns,
      version: invoices.version,
      subscription_id: invoices.subscription_id,
      paid_at: invoices.paid_at,
      payment_failed_at: invoices.payment_failed_at,
      uncollectible: invoices.uncollectible,
      stripe_customer_id: invoices.stripe_customer_id,
      stripe_synced_at: invoices.stripe_synced_at,
      provider_as_of: invoices.provider_as_of,
      provider_gone_at: invoices.provider_gone_at,
    })
    .from(invoices)
    .innerJoin(customers, eq(customers.id, invoices.customer_id))
    .where(eq(invoices.id, Math.min(id, MAX_ID)));
  if (!found) throw new AppError('not_found', `There is no invoice ${id}.`);
  return { ...found, ...toInvoiceRow(found) };
}

export type InvoiceDetails = Awaited<ReturnType<typeof getInvoice>>;
