import { and, Column, count, is, SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { readLimited } from '@/db/transaction';
import { toCsv } from '../csv';
import { calendarDate } from '../fields';
import { MAX_ID, type Page } from '../page';
import { type CursorPage, literal, type PageStart, readCursorPage } from '../page-query';

/** The number of rows that one query reads for a CSV file. */
export const BATCH = 1000;
/** Maximum number of rows to count. Counting millions would cost more than reading the page. */
export const MAX_COUNTED = 10_000;
/** If more rows match than can be sorted quickly, this many rows are searched first, in the list's order. */
const NEAR = 5000;

interface Counted {
  table: PgTable & { id: PgColumn };
  where: SQL | undefined;
}

/** The matching rows, with a sort order whose index ends in the id. */
interface SortedRows extends Counted {
  /** The expression to sort by, which is never null. It has the type of the first column in it. */
  by: SQL;
  descends: boolean;
  /**
   * Whether few rows match. In this case the query finds the matching rows and sorts them, because a scan of the
   * order's index would read all rows.
   */
  few?: boolean;
}

/**
 * Reads a page, and counts the matching rows unless `isCounted` is false. If there is no cursor, or an invalid one,
 * returns the first page. A cursor contains a row's id and sort value, so the page still starts at the same place after
 * the row was deleted or its sort value changed.
 *
 * @param read function that returns the rows with these ids in any order; the list of ids is never empty
 */
export function readSortedPage<Row extends { id: number }>(
  db: Database,
  rows: SortedRows,
  at: { start: PageStart; size: number; isCounted?: boolean },
  read: (tx: Database, ids: number[]) => Promise<Row[]>,
): Promise<CursorList<Row>> {
  return readLimited(db, async (tx) => {
    const page = await readSortedIds(tx, rows, at);
    const ids = page.data.map(({ id }) => id);
    const found = new Map(ids.length > 0 ? (await read(tx, ids)).map((row) => [row.id, row]) : []);
    return { ...page, data: ids.flatMap((id) => found.get(id) ?? []) };
  });
}

async function readSortedIds(
  tx: Database,
  rows: SortedRows,
  { start, size, isCounted = true }: Parameters<typeof readSortedPage>[2],
): Promise<CursorList<{ id: number }>> {
  const known = { after: validCursor(start.after, rows.by), before: validCursor(start.before, rows.by) };
  // A filter marked `few` may still match more rows than can be sorted quickly.
  const isMany = rows.few && (await countUpToMax(tx, rows)) > MAX_COUNTED;
  const page = await readCursorPage(
    known,
    size,
    async (cursor, backwards, limit) => {
      const near = isMany ? await readIds(tx, rows, cursor, backwards, limit, NEAR) : [];
      return near.length > size ? near : readIds(tx, rows, cursor, backwards, limit);
    },
    // A page's URL is read without spaces at its ends. The last dot keeps a space at the end of a text.
    ({ id, value }) => `${id}.${value}.`,
  );
  return isCounted ? addCount(tx, rows, known, page) : page;
}

/** Adds the number of matching rows to a page. If the page contains all rows, no query is necessary. */
export async function addCount<Row>(
  tx: Database,
  rows: Counted,
  { after, before }: PageStart,
  page: CursorPage<Row>,
): Promise<CursorList<Row>> {
  const isWhole = !after && !before && !page.next;
  return { ...page, count: isWhole ? page.data.length : await countUpToMax(tx, rows) };
}

/**
 * Reads the ids of a page.
 *
 * @param near maximum number of rows to search from the cursor on, whether or not they match
 */
async function readIds(
  tx: Database,
  { table, where, by, descends, few }: SortedRows,
  cursor: string | null,
  backwards: boolean,
  limit: number,
  near?: number,
): Promise<{ id: number; value: string }[]> {
  const order = few && near === undefined ? withoutIndex(by) : by;
  const [direction, beyond] = descends !== backwards ? [sql`desc`, sql`<`] : [sql`asc`, sql`>`];
  const { id, value } = partsOf(cursor);
  const at = sql`(${value}::${sql.raw(typeOf(by))}, ${id}::int)`;
  const rest = cursor === null ? undefined : sql`(${order}, ${table.id}) ${beyond} ${at}`;
  const inOrder = sql`${order} ${direction}, ${table.id} ${direction}`;
  const isNear =
    near === undefined
      ? rest
      : sql`${table.id} = any(array(select ${table.id} from ${table} where ${rest ?? sql`true`}
          order by ${inOrder} limit ${literal(near)}))`;
  return tx
    .select({ id: sql<number>`${table.id}`, value: sql<string>`to_jsonb(${by}) #>> '{}'` })
    .from(table)
    .where(and(where, isNear))
    .orderBy(inOrder)
    .limit(limit);
}

/** Wraps a sort expression so that PostgreSQL cannot use an index for it. */
export const withoutIndex = (by: SQLWrapper): SQL => sql`coalesce(${by}, ${by})`;

/** Counts the rows that match, up to `MAX_COUNTED + 1`. */
async function countUpToMax(tx: Database, { table, where }: Counted): Promise<number> {
  const some = tx
    .select({ id: table.id })
    .from(table)
    .where(where)
    .limit(literal(MAX_COUNTED + 1));
  const [counted] = await tx.select({ total: count() }).from(some.as('some_rows'));
  return counted?.total ?? 0;
}

/** Returns a text if it can be the id of a row, otherwise undefined. */
export function validId(text: string | undefined): string | undefined {
  return /^\d{1,10}$/.test(text ?? '') && Number(text) <= MAX_ID ? text : undefined;
}

/** For each type of sort value, its schema in a cursor. Lists sort missing dates and times as infinity. */
const VALUES: Record<string, z.ZodType> = {
  integer: z.string().refine(validId),
  numeric: z.string().regex(/^-?\d{1,21}(\.\d{1,3})?$/),
  date: z.union([calendarDate, z.enum(['infinity', '-infinity'])]),
  'timestamp with time zone': z.union([
    z.iso.datetime({ offset: true }).regex(/(Z|[+-](0\d|1[0-4]):\d\d)$/),
    z.enum(['infinity', '-infinity']),
  ]),
  text: z.string().regex(/^[^\0]{0,1000}$/),
};

/** Returns whether a text from a cursor can be a value of a sort expression, so that PostgreSQL can convert it. */
export const isSortValue = (text: string | undefined, by: SQLWrapper): boolean =>
  VALUES[typeOf(by)]?.safeParse(text).success ?? false;

function validCursor(text: string | undefined, by: SQL): string | undefined {
  const { id, value } = partsOf(text);
  return validId(id) && isSortValue(value, by) ? text : undefined;
}

/** Splits a cursor. The last dot is optional, because programs that detect links in a text leave it out. */
function partsOf(cursor: string | null | undefined): { id?: string | undefined; value?: string | undefined } {
  const [, id, value] = /^(\d+)\.(.*?)\.?$/s.exec(cursor ?? '') ?? [];
  return { id, value };
}

/** Returns the type of the first column in an expression, without its precision, such as `numeric`. */
function typeOf(by: SQLWrapper): string {
  const type = firstColumn(by)
    ?.getSQLType()
    .replace(/ ?\(.*\)/, '');
  // Without this check, every page of such an order would be the first page.
  if (type === undefined || !(type in VALUES)) throw new TypeError('no type of sort values');
  return type;
}

function firstColumn(part: unknown): Column | undefined {
  if (is(part, Column)) return part;
  return is(part, SQL) ? part.queryChunks.map(firstColumn).find(Boolean) : undefined;
}

/** A page with cursors, the number of rows, and the reason if the list was not queried. */
export interface CursorList<Row> extends CursorPage<Row> {
  /** The number of rows on all pages, up to `MAX_COUNTED + 1`. Absent if they are not counted. */
  count?: number;
  /** Why no query ran: no customer matches the typed text, or too many do. */
  refused?: 'unknown_customer' | 'too_many_customers';
}

/** A page of a list: with page numbers, or with cursors. */
export type StaffPage<Row> = Page<Row> | CursorList<Row>;

export const isNumbered = <Row>(page: StaffPage<Row>): page is Page<Row> => 'last_page' in page;

/**
 * Returns all rows of a list as CSV, in chunks.
 *
 * @param read function that returns the page after a cursor, also if the cursor's row was deleted in the meantime
 */
export function pagesToCsv<Row>(
  columns: string[],
  read: (start: PageStart) => Promise<CursorPage<Row>>,
  toRecord: (row: Row) => Record<string, unknown> = (row) => row as Record<string, unknown>,
): AsyncGenerator<string> {
  return toCsv(columns, batches());

  async function* batches() {
    for (let after: string | null | undefined; after !== null; ) {
      const page: CursorPage<Row> = await read({ after });
      yield page.data.map(toRecord);
      after = page.next;
    }
  }
}
