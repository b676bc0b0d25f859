import { desc, eq, inArray, like, or, type SQL } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, invoices } from '@/db/schema';
import { customerName, snippetColumns } from '../customers/snippet';
import { matchInvoice } from '../invoices/match-invoice';
import { toJsonAmount } from '../money';
import { literal } from '../page-query';
import { typedAmounts } from '../typed-amount';
import { beginnings, endings } from './beginnings';
import { CANDIDATES, collect, type Found } from './collect';
import type { SearchHit } from './schema';

/** By number or Stripe's id; then those whose number starts or ends with the text, or whose total it is. */
export function findInvoiceHits(db: Database, text: string): Promise<Found> {
  const isNamed = text.startsWith('in_') ? eq(invoices.stripe_invoice_id, text) : matchInvoice(text);
  const amounts = typedAmounts(text);
  const starts = beginnings(text).map((start) => like(invoices.number, start));
  const readSome = async (where: SQL | undefined, limit: number) => {
    const some = db.select({ id: invoices.id }).from(invoices).where(where).limit(literal(CANDIDATES));
    return where ? readInvoices(db, inArray(invoices.id, some), limit) : [];
  };
  return collect(
    (limit) => readInvoices(db, isNamed, limit),
    (limit) => readSome(amounts.length === 0 ? undefined : inArray(invoices.total, amounts), limit),
    (limit) => readSome(or(...starts), limit),
    (limit) => readSome(or(...endings(invoices.number, text)), limit),
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
