import { desc, eq, inArray, like, or, type SQL } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, invoices } from '@/db/schema';
import { customerName, snippetColumns } from '../customers/snippet';
import { matchInvoice } from '../invoices/match-invoice';
import { toJsonAmount } from '../money';
import { literal } from '../page-query';
import { beginnings } from './beginnings';
import { CANDIDATES, collect, type Found } from './collect';
import type { SearchHit } from './schema';

/** By number or Stripe's id; then those whose number starts with the text. */
export function findInvoiceHits(db: Database, text: string): Promise<Found> {
  const isNamed = text.startsWith('in_') ? eq(invoices.stripe_invoice_id, text) : matchInvoice(text);
  const starts = or(...beginnings(text).map((start) => like(invoices.number, start)));
  const some = db.select({ id: invoices.id }).from(invoices).where(starts).limit(literal(CANDIDATES));
  return collect(
    (limit) => readInvoices(db, isNamed, limit),
    async (limit) => (starts ? readInvoices(db, inArray(invoices.id, some), limit) : []),
  );
}

async function readInvoices(db: Database, where: SQL, limit: number): Promise<SearchHit[]> {
  const rows = await db
    .select({
      id: invoices.id,
      number: invoices.number,
      status: invoices.status,
      total: invoices.total,
      currency: invoices.currency,
      customer: snippetColumns,
    })
    .from(invoices)
    .innerJoin(customers, eq(customers.id, invoices.customer_id))
    .where(where)
    .orderBy(desc(invoices.invoice_date), desc(invoices.id))
    .limit(literal(limit));
  return rows.map(({ id, number, status, total, currency, customer }) => ({
    kind: 'invoice',
    id,
    title: number ?? `#${id}`,
    detail: customerName(customer) || customer.customer_number,
    status,
    figure: { amount: toJsonAmount(total), currency },
  }));
}
