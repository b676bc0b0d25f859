import { asc, desc, eq, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Database } from '@/db/database';
import { customers } from '@/db/schema';
import { type Page, type PageRequest, pageBounds, toPage } from '../page';
import { literal } from '../page-query';
import { snippetColumns, toCustomerSnippet } from './queries';

interface CustomerSums {
  table: PgTable & { customer_id: PgColumn; currency: PgColumn };
  /** Null if no row can match. */
  where: SQL | undefined | null;
  /** Further columns of a group, and those by which the largest group comes first. */
  of: Record<string, SQL>;
  largest: string[];
}

/**
 * Counts and sums rows per customer and currency, the largest first. Sums come in the order of their currencies, the
 * most frequent first. The total is the number of such groups.
 */
export async function sumByCustomer(
  db: Database,
  request: PageRequest,
  { table, where, of, largest }: CustomerSums,
): Promise<Page<Record<string, unknown>>> {
  if (where === null) return toPage(request, 0, []);
  const values: Record<string, SQL> = { currency: sql`${table.currency}`, count: sql`count(*)::int`, ...of };
  const grouped = (name: string) => sql`grouped.${sql.identifier(name)}`;
  const groups = sql`(select ${table.customer_id} as of_customer, ${sql.join(
    Object.entries(values).map(([name, value]) => sql`${value} as ${sql.identifier(name)}`),
    sql`, `,
  )} from ${table} where ${where ?? sql`true`} group by ${table.customer_id}, ${table.currency}) grouped`;
  const mostFrequent = desc(sql`sum(grouped.count) over (partition by grouped.currency)`);
  const { limit, offset } = pageBounds(request);
  const columns = Object.fromEntries(Object.keys(values).map((name) => [name, grouped(name)]));
  const found = await db
    .select({ customer: snippetColumns, columns, total: sql<number>`(count(*) over ())::int` })
    .from(groups)
    .innerJoin(customers, eq(customers.id, grouped('of_customer')))
    .orderBy(
      // Amounts of several currencies cannot be compared, but counts can.
      ...(largest[0] === 'count' ? [] : [mostFrequent, asc(grouped('currency'))]),
      ...[...largest, 'count'].map((name) => desc(grouped(name))),
      ...[asc(grouped('of_customer')), asc(grouped('currency'))],
    )
    .limit(literal(limit))
    .offset(literal(offset));
  const data = found.map((row) => ({ customer: toCustomerSnippet(row.customer), ...row.columns }));
  if (data.length > 0 || request.page === 1) return toPage(request, found[0]?.total ?? 0, data);
  const first = await sumByCustomer(db, { page: 1, per_page: 1 }, { table, where, of, largest });
  return toPage(request, first.total, []);
}
