import { type SQL, sql } from 'drizzle-orm';
import { type Page, type PageRequest, pageBounds, toPage } from './page';

/** Reads one page, and counts only where the page itself does not tell the total. */
export async function readPage<Row>(
  request: PageRequest,
  read: (bounds: { limit: number; offset: number }) => Promise<Row[]>,
  count: () => Promise<number>,
): Promise<Page<Row>> {
  const { limit, offset } = pageBounds(request);
  const data = await read({ limit: literal(limit), offset: literal(offset) });
  const isLastPage = data.length < limit && (data.length > 0 || offset === 0);
  return toPage(request, isLastPage ? offset + data.length : await count(), data);
}

/**
 * A number as it stands in the statement's text: with a bound LIMIT a generic plan is made for a tenth
 * of the table. Drizzle takes any SQL there, though its type says number.
 */
export function literal(value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError('not a whole number');
  return sql.raw(String(value)) as unknown as number;
}

/** The instant at which a date begins in a time zone, as PostgreSQL computes it: also of the year 10000. */
export const startOfDaySql = (date: string, timeZone: string): SQL =>
  sql`(${date}::date::timestamp at time zone ${timeZone}::text)`;
