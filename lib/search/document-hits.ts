import { desc, eq, inArray, like, or, type SQL } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, salesDocuments } from '@/db/schema';
import { matchNumbered } from '../customers/match-customer';
import { customerName, snippetColumns } from '../customers/snippet';
import { toJsonAmount } from '../money';
import { literal } from '../page-query';
import { beginnings, endings } from './beginnings';
import { CANDIDATES, collect, type Found } from './collect';
import type { SearchHit } from './schema';

const d = salesDocuments;

/** Offers and order confirmations by number; then those whose number starts or ends with the text. */
export function findDocumentHits(db: Database, text: string): Promise<Found> {
  const others = or(
    ...beginnings(text).map((start) => like(d.document_number, start)),
    ...endings(d.document_number, text),
  );
  const some = db.select({ id: d.id }).from(d).where(others).limit(literal(CANDIDATES));
  return collect(
    (limit) => readDocuments(db, matchNumbered({ id: d.id, number: d.document_number }, text), limit),
    async (limit) => (others ? readDocuments(db, inArray(d.id, some), limit) : []),
  );
}

async function readDocuments(db: Database, where: SQL, limit: number): Promise<SearchHit[]> {
  const rows = await db
    .select({
      id: d.id,
      number: d.document_number,
      type: d.type,
      status: d.status,
      total: d.total,
      currency: d.currency,
      customer: snippetColumns,
    })
    .from(d)
    .innerJoin(customers, eq(customers.id, d.customer_id))
    .where(where)
    .orderBy(desc(d.document_date), desc(d.id))
    .limit(literal(limit));
  return rows.map(({ id, number, type, status, total, currency, customer }) => ({
    kind: 'sales_document',
    id,
    title: number,
    detail: [type.replace('_', ' '), customerName(customer) || customer.customer_number].join(' · '),
    status,
    figure: { amount: toJsonAmount(total), currency },
  }));
}
