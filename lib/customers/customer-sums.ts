import { asc, desc, eq, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { customers } from '@/db/schema';
import { type Page, pageBounds, pageRequest, toPage } from '../page';
import { literal } from '../page-query';
import { snippetColumns, toCustomerSnippet } from './queries';
import { customerSnippet } from './schema';

interface CustomerSums<Sums extends z.ZodObject> {
  table: PgTable & { customer_id: PgColumn; currency: PgColumn };
  /** The condition for the rows to sum. Undefined for all rows, null if no row can match. */
  where: SQL | undefined | null;
  /** The SQL of the columns that `schema` adds to those of `customerSums`. */
  of: Record<string, SQL>;
  /** The columns to sort by, in descending order. If `count` is first, groups of different currencies are mixed. */
  largest: (keyof z.output<Sums> & string)[];
  schema: Sums;
}

/** Creates the schema of a group: a customer, a currency, the number of rows, and the given sums. */
export const customerSums = <Shape extends z.ZodRawShape>(sums: Shape) =>
  z.object({ customer: customerSnippet, currency: z.string(), count: z.int(), ...sums });

/**
 * Counts and sums rows per customer and currency, the largest group first. If the groups are sorted by an amount, all
 * groups of the most frequent currency come first, then those of the next currency. The page's total is the number of
 * groups.
 */
export async function sumByCustomer<Sums extends z.ZodObject>(
  db: Database,
  given: Parameters<typeof pageRequest>[0],
  sums: CustomerSums<Sums>,
): Promise<Page<z.output<Sums>>> {
  const request = pageRequest(given);
  const { table, where, of, largest, schema } = sums;
  if (where === null) return toPage(request, 0, []);
  const values: Record<string, SQL> = { currency: sql`${table.currency}`, count: sql`count(*)::int`, ...of };
  const grouped = (name: string) => sql`grouped.${sql.identifier(name)}`;
  const groups = sql`(select ${table.customer_id} as of_customer, ${sql.join(
    Object.entries(values).map(([name, value]) => sql`${value} as ${sql.identifier(name)}`),
    sql`, `,
  )}, sum(count(*)) over (partition by ${table.currency}) as of_currency from ${table} where ${where ?? sql`true`} group by ${table.customer_id}, ${table.currency}) grouped`;
  const { limit, offset } = pageBounds(request);
  const order = [
    // Amounts of several currencies cannot be compared, but counts can.
    ...(largest[0] === 'count' ? [] : [desc(grouped('of_currency')), asc(grouped('currency'))]),
    ...[...new Set([...largest, 'count'])].map((name) => desc(grouped(name))),
    ...[asc(grouped('of_customer')), asc(grouped('currency'))],
  ];
  // Read only the customers of this page, because there can be a million customers.
  const page = sql`(select grouped.*, (count(*) over ())::int as groups from ${groups}
    order by ${sql.join(order, sql`, `)} limit ${literal(limit)} offset ${literal(offset)}) grouped`;
  const columns = Object.fromEntries(Object.keys(values).map((name) => [name, grouped(name)]));
  const found = await db
    .select({ customer: snippetColumns, columns, total: sql<number>`${grouped('groups')}` })
    .from(page)
    .innerJoin(customers, eq(customers.id, grouped('of_customer')))
    .orderBy(...order);
  const data = z
    .array(schema)
    .parse(found.map((row) => ({ customer: toCustomerSnippet(row.customer), ...row.columns })));
  if (data.length > 0 || request.page === 1) return toPage(request, found[0]?.total ?? 0, data);
  const first = await sumByCustomer(db, { page: 1, per_page: 1 }, sums);
  return toPage(request, first.total, []);
}
