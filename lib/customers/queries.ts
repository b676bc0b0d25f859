import { eq, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers } from '@/db/schema';
import { statement } from '@/db/statement';
import { MAX_ID } from '../page';
import { prefixPattern } from '../search-text';
import { hasNumber } from './match-customer';
import { findMergedInto } from './merged-customers';
import { type CustomerRow, customerRow } from './schema';
import { customerName } from './snippet';

/** One customer by id or number, or the customer it was merged into. Null if it does not exist. */
export async function getCustomer(
  db: Database,
  by: { id: number } | { customer_number: string },
): Promise<CustomerRow | null> {
  if ('id' in by && by.id > MAX_ID) return null;
  const [record] = await ('id' in by ? findById(db, by) : findByNumber(db, by));
  if (record) return toCustomerRow(record);
  const survivor = 'id' in by ? await findMergedInto(db, by.id) : null;
  return survivor === null ? null : getCustomer(db, { id: survivor });
}

const findById = statement(['id'], (db, { id }) => db.select().from(customers).where(eq(customers.id, id)));

const findByNumber = statement(['customer_number'], (db, { customer_number }) =>
  db
    .select()
    .from(customers)
    .where(hasNumber([customer_number])),
);

/** Parsed, so that a new column shows nowhere by itself. */
export function toCustomerRow(record: typeof customers.$inferSelect): CustomerRow {
  return customerRow.parse({ ...record, name: customerName(record) });
}

/** When a customer was erased; null: it was not. */
export async function findErasedAt(db: Database, id: number): Promise<Date | null> {
  const [found] = await db
    .select({ erased_at: customers.erased_at })
    .from(customers)
    .where(eq(customers.id, Math.min(id, MAX_ID)));
  return found?.erased_at ?? null;
}

/** Where a match belongs: 0 whole number or e-mail, 1 something starts with the text, 2 the rest. */
export function matchRank(query: string): SQL {
  const prefix = prefixPattern(query);
  const c = customers;
  return sql`case
    when lower(${c.customer_number}) = lower(${query}) or lower(${c.email}) = lower(${query}) then 0
    when ${c.customer_number} ilike ${prefix} or ${c.email} ilike ${prefix} or ${c.company} ilike ${prefix}
      or ${c.first_name} || ' ' || ${c.last_name} ilike ${prefix}
      or ${c.first_name} ilike ${prefix} or ${c.last_name} ilike ${prefix} then 1
    else 2 end`;
}
