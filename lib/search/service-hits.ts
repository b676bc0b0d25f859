import { asc, eq, ilike, inArray, like, or, type SQL } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customerServices, customers } from '@/db/schema';
import { idAfterHash, spellings } from '../customers/match-customer';
import { customerName, snippetColumns } from '../customers/snippet';
import { literal } from '../page-query';
import { indexedPatterns, wholePattern } from '../search-text';
import { beginnings, endings } from './beginnings';
import { CANDIDATES, collect, type Found } from './collect';
import type { SearchHit } from './schema';

const s = customerServices;

/** By number or domain; then those whose number starts or ends with the text, or whose domain holds it. */
export function findServiceHits(db: Database, text: string): Promise<Found> {
  const others = or(
    ...beginnings(text).map((start) => like(s.service_number, start)),
    ...endings(s.service_number, text),
    ...indexedPatterns(text, ['.', '-']).map((pattern) => ilike(s.domain, pattern)),
  );
  const some = db.select({ id: s.id }).from(s).where(others).limit(literal(CANDIDATES));
  return collect(
    (limit) => readServices(db, isNamed(text), limit),
    async (limit) => (others ? readServices(db, inArray(s.id, some), limit) : []),
  );
}

function isNamed(text: string): SQL | undefined {
  const id = idAfterHash(text);
  if (id !== null) return eq(s.id, id);
  const domain = text.includes('.') ? ilike(s.domain, wholePattern(text)) : undefined;
  return or(inArray(s.service_number, spellings(text)), domain);
}

async function readServices(db: Database, where: SQL | undefined, limit: number): Promise<SearchHit[]> {
  const rows = await db
    .select({
      id: s.id,
      service_number: s.service_number,
      name: s.name,
      domain: s.domain,
      status: s.status,
      customer: snippetColumns,
    })
    .from(s)
    .innerJoin(customers, eq(customers.id, s.customer_id))
    .where(where)
    .orderBy(asc(s.service_number))
    .limit(literal(limit));
  return rows.map(({ id, service_number, name, domain, status, customer }) => ({
    kind: 'service',
    id,
    title: [service_number, domain].filter(Boolean).join(' · '),
    detail: [name, customerName(customer) || customer.customer_number].join(' · '),
    status,
  }));
}
