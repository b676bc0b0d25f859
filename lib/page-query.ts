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

/** Where a page begins: behind a row or before one, by the cursors of the page that led there. */
export interface PageStart {
  after?: string | undefined;
  before?: string | undefined;
}

/** A page that costs the same however deep it is, because nothing before it is read or counted. */
export interface CursorPage<Row> {
  data: Row[];
  /** Cursors of the neighbouring pages. Null if that page does not exist. */
  previous: string | null;
  next: string | null;
}

/**
 * Reads the page behind or before a cursor.
 *
 * @param read at most `limit` rows beyond a cursor (null: from the start); `backwards` in the opposite order
 */
export async function readCursorPage<Row>(
  { after, before }: PageStart,
  size: number,
  read: (cursor: string | null, backwards: boolean, limit: number) => Promise<Row[]>,
  cursorOf: (row: Row) => string,
): Promise<CursorPage<Row>> {
  const cursor = after ?? before ?? null;
  const backwards = after === undefined && before !== undefined;
  const found = await read(cursor, backwards, literal(size + 1));
  const more = found.length > size;
  const data = backwards ? found.slice(0, size).reverse() : found.slice(0, size);
  const [first, last] = [data.at(0), data.at(-1)];
  return {
    data,
    previous: first && (backwards ? more : cursor !== null) ? cursorOf(first) : null,
    next: last && (backwards || more) ? cursorOf(last) : null,
  };
}

/**
 * One of our own words as it stands in the statement's text: how many rows it has differs a millionfold from
 * one to the next, which a generic plan for a bound one cannot know.
 */
export function constant(word: string): SQL {
  if (!/^[\w.]+$/.test(word)) throw new RangeError('not a word of the schema');
  return sql.raw(`'${word}'`);
}
