import { type SQL, sql } from 'drizzle-orm';
import { type Page, type PageRequest, pageBounds, toPage } from './page';

/** Reads one page. Calls `count` only if the page is full or past the end. Otherwise the page is the last one. */
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
 * Returns a number for LIMIT or OFFSET that becomes a literal in the statement's text. With a bound LIMIT, PostgreSQL's
 * generic plan would assume a tenth of the table. Drizzle accepts SQL there, although the type is a number.
 */
export function literal(value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError('not a whole number');
  return sql.raw(String(value)) as unknown as number;
}

/** SQL for the start of a date in a time zone. PostgreSQL can parse dates after the year 9999; JavaScript cannot. */
export const startOfDaySql = (date: string, timeZone: string): SQL =>
  sql`(${date}::date::timestamp at time zone ${timeZone}::text)`;

/** Selects the page after or before a cursor. If there is no cursor, selects the first page. */
export interface PageStart {
  after?: string | undefined;
  before?: string | undefined;
}

/** A page whose cost does not grow with its depth, because the rows before it are neither read nor counted. */
export interface CursorPage<Row> {
  data: Row[];
  /** Cursors of the neighbouring pages. Null if that page does not exist, or if this page is empty. */
  previous: string | null;
  next: string | null;
}

/**
 * Reads the page after or before a cursor.
 *
 * @param read function that reads up to `limit` rows beyond the cursor, or from the start if the cursor is null; in
 *   reverse order if `backwards` is true
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
 * Returns a word, such as an enum value, as a literal in the statement's text. With a bound parameter, PostgreSQL
 * may use a generic plan, which ignores that one value has a million times as many rows as another.
 */
export function constant(word: string): SQL {
  if (!/^[\w.]+$/.test(word)) throw new RangeError('not a word of the schema');
  return sql.raw(`'${word}'`);
}
