import { and, count, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Database } from '@/db/database';
import { readLimited } from '@/db/transaction';
import { MAX_ID, type Page, type PageRequest } from '../page';
import { type CursorPage, literal, type PageStart, readCursorPage } from '../page-query';

/** So far are rows counted: counting millions would cost more than the page they stand on. */
export const MAX_COUNTED = 10_000;
/** Among so many rows of its order a page of what many have is found. */
const NEAR = 5000;

/** A page of a list in an order of its own, at the same cost however deep it is. */
export interface SortedPage<Row> extends CursorPage<Row> {
  /** Of all pages; `MAX_COUNTED + 1` stands for more than that. */
  count: number;
}

interface Counted {
  table: PgTable & { id: PgColumn };
  where: SQL | undefined;
}

/** Rows that match, in an order that has an index which ends in the id. */
interface SortedRows extends Counted {
  /** Never null. */
  by: SQL;
  descends: boolean;
  /** Few rows match: they are found first and sorted then, where a search along the index would meet all others. */
  few?: boolean;
}

/** What rows are ordered by, where it has a name: `-name` begins with the last or largest. */
export function orderOf<Name extends string>(
  orders: Record<Name, SQL>,
  sort: Name | `-${Name}`,
): Pick<SortedRows, 'by' | 'descends'> {
  return { by: orders[sort.replace(/^-/, '') as Name], descends: sort.startsWith('-') };
}

/**
 * A page and how many rows match; a cursor is the id of a row, and none stands before everything.
 *
 * @param read the rows of these ids, which are some, in any order
 */
export function readSortedPage<Row extends { id: number }>(
  db: Database,
  rows: SortedRows,
  { start, size }: { start: PageStart; size: number },
  read: (tx: Database, ids: number[]) => Promise<Row[]>,
): Promise<SortedPage<Row>> {
  return readLimited(db, async (tx) => {
    const page = await readSortedIds(tx, rows, start, size);
    const ids = page.data.map(({ id }) => id);
    const found = new Map(ids.length > 0 ? (await read(tx, ids)).map((row) => [row.id, row]) : []);
    return { ...page, data: ids.flatMap((id) => found.get(id) ?? []) };
  });
}

async function readSortedIds(
  tx: Database,
  rows: SortedRows,
  start: PageStart,
  size: number,
): Promise<SortedPage<{ id: number }>> {
  const known = { after: idOr(start.after), before: idOr(start.before) };
  // Of a text that few were taken to have, more rows may match than are quickly sorted.
  const isMany = rows.few && (await countSome(tx, rows)) > MAX_COUNTED;
  const page = await readCursorPage(
    known,
    size,
    async (cursor, backwards, limit) => {
      const near = isMany ? await readIds(tx, rows, cursor, backwards, limit, NEAR) : [];
      return near.length > size ? near : readIds(tx, rows, cursor, backwards, limit);
    },
    ({ id }) => String(id),
  );
  return addCount(tx, rows, known, page);
}

/** The page with how many rows match, which one that holds all of them tells itself. */
export async function addCount<Row>(
  tx: Database,
  rows: Counted,
  { after, before }: PageStart,
  page: CursorPage<Row>,
): Promise<SortedPage<Row>> {
  const isWhole = !after && !before && !page.next;
  return { ...page, count: isWhole ? page.data.length : await countSome(tx, rows) };
}

/** @param near the number of rows that are read in the order, whether they match or not */
async function readIds(
  tx: Database,
  { table, where, by, descends, few }: SortedRows,
  cursor: string | null,
  backwards: boolean,
  limit: number,
  near?: number,
): Promise<{ id: number }[]> {
  const order = few && near === undefined ? withoutIndex(by) : by;
  const [direction, beyond] = descends !== backwards ? [sql`desc`, sql`<`] : [sql`asc`, sql`>`];
  const at = sql`(select ${order} from ${table} where ${table.id} = ${cursor}::int)`;
  const rest = cursor === null ? undefined : sql`(${order}, ${table.id}) ${beyond} (${at}, ${cursor}::int)`;
  const inOrder = sql`${order} ${direction}, ${table.id} ${direction}`;
  const isNear =
    near === undefined
      ? rest
      : sql`${table.id} = any(array(select ${table.id} from ${table} where ${rest ?? sql`true`}
          order by ${inOrder} limit ${literal(near)}))`;
  return tx
    .select({ id: sql<number>`${table.id}` })
    .from(table)
    .where(and(where, isNear))
    .orderBy(inOrder)
    .limit(limit);
}

/** The same order, in which no index is. */
export const withoutIndex = (by: SQLWrapper): SQL => sql`coalesce(${by}, ${by})`;

/** How many rows match, up to `MAX_COUNTED + 1`. */
async function countSome(tx: Database, { table, where }: Counted): Promise<number> {
  const some = tx
    .select({ id: table.id })
    .from(table)
    .where(where)
    .limit(literal(MAX_COUNTED + 1));
  const [counted] = await tx.select({ total: count() }).from(some.as('some_rows'));
  return counted?.total ?? 0;
}

function idOr(text: string | undefined): string | undefined {
  return /^\d{1,10}$/.test(text ?? '') && Number(text) <= MAX_ID ? text : undefined;
}

/** Where in a list an address asks to be: by number in a counted one, by cursor in any other. */
export interface ListPlace {
  request: PageRequest;
  start: PageStart;
}

/** A page with cursors. */
export interface CursorList<Row> extends CursorPage<Row> {
  /** Of all pages, up to `MAX_COUNTED + 1`, where it is counted. */
  count?: number;
  /** Why nothing was looked for: no customer has what was typed, or too many have it. */
  refused?: 'unknown_customer' | 'too_many_customers';
}

/** A page of a list: with page numbers, or with cursors. */
export type StaffPage<Row> = Page<Row> | CursorList<Row>;

export const isNumbered = <Row>(page: StaffPage<Row>): page is Page<Row> => 'last_page' in page;

/** The page of a list that cannot be narrowed to a customer; null where it can. */
export function refusalOf(named: { ids: number[]; tooMany: boolean } | null): CursorList<never> | null {
  const none = { data: [], count: 0, previous: null, next: null };
  if (named?.tooMany) return { ...none, refused: 'too_many_customers' };
  return named?.ids.length === 0 ? { ...none, refused: 'unknown_customer' } : null;
}

/** Reads a list from its first row to its last, a batch at a time. */
export async function* allPages<Row>(
  read: (start: PageStart) => Promise<{ data: Row[]; next: string | null }>,
): AsyncGenerator<Row[]> {
  for (let after: string | null | undefined; after !== null; ) {
    const page: { data: Row[]; next: string | null } = await read({ after });
    yield page.data;
    after = page.next;
  }
}
