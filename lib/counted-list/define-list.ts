import { and, eq, gte, lte, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { calendarDate, isInOrder, oneOf, WRONG_ORDER } from '../fields';
import { type Page, type PageRequest, perPageParam } from '../page';
import { constant, type PageStart } from '../page-query';
import type { CountedFilter } from './list-reader';
import { BATCH, type CursorList, pagesToCsv, readSortedPage, type StaffPage } from './sorted-page';

/** The condition that a filter's value sets for the rows of a list. */
interface FilterCondition {
  where?: SQL | undefined;
  /** Whether few rows match. In this case the query finds them first and sorts them afterwards, see `SortedRows`. */
  few?: boolean;
  /** The same condition as values of the counted list's filters. Absent if the counted list has no such filter. */
  counted?: Record<string, unknown> | undefined;
  /** The reason why the list is not queried. Absent if it is queried. */
  refused?: CursorList<never>['refused'];
}

/** A filter of a list. Its key in `defineList` is also its parameter name in the page's URL. */
export interface ListFilter<Schema extends z.ZodType = z.ZodType> {
  schema: Schema;
  means(value: z.output<Schema>, db: Database): FilterCondition | Promise<FilterCondition>;
  /** The counted list's filters that express this filter, by name. */
  counted?: Record<string, CountedFilter>;
}

type Filters = Record<string, ListFilter>;
type Sort<Name extends string> = Name | `-${Name}`;
type Values<F extends Filters> = { [name in keyof F]?: z.output<F[name]['schema']> | undefined };
type ListSchema<F extends Filters, Name extends string> = z.ZodObject<
  { [name in keyof F]: z.ZodOptional<F[name]['schema']> } & {
    sort: z.ZodCatch<z.ZodEnum<{ [sort in Sort<Name>]: sort }>>;
    per_page: typeof perPageParam;
  }
>;

/** The rows to read, and their order. */
export interface Selection<Name extends string> {
  where: SQL | undefined;
  few: boolean;
  by: Name;
  descends: boolean;
}

/** The start and the size of a page with cursors. */
export interface PageAt {
  start: PageStart;
  size: number;
  /** Whether to count the rows of all pages. */
  isCounted: boolean;
}

/** How to read a page with cursors: by row ids, or by a function with its own cursors. */
type Reading<Name extends string, Row> =
  | {
      table: PgTable & { id: PgColumn };
      /** Returns the rows with these ids, in any order. */
      rows(db: Database, ids: number[]): Promise<Row[]>;
      page?: never;
    }
  | { page(db: Database, selection: Selection<NoInfer<Name>>, at: PageAt): Promise<CursorList<Row>> };

type ListOptions<F extends Filters, Name extends string, Row> = Reading<Name, Row> & {
  filters: F;
  /**
   * The orders that the list offers. Each needs a unique index, or an index whose last column is the id, so that every
   * page has the same cost. Sorted values must not be null.
   */
  orders: Record<Name, SQLWrapper>;
  /** The default order. A minus before the name sorts in descending order. */
  sort: NoInfer<Sort<Name>>;
  /** Returns the orders that the list does not offer with these filters. */
  lacks?(values: Values<F>): NoInfer<Name>[];
  /** Reads a numbered page in the default order. If absent, every page has cursors. */
  counted?(db: Database, request: PageRequest, values: Record<string, unknown>): Promise<Page<Row>>;
  columns: string[];
  /** Converts a row to a record of the CSV file. If absent, the row itself is the record. */
  toRecord?(row: Row): Record<string, unknown>;
};

/** Declares a list of records for both the staff pages and CSV files. */
export function defineList<F extends Filters, Name extends string, Row extends { id: number }>(
  options: ListOptions<F, Name, Row>,
) {
  const { filters, orders, lacks, counted, columns, toRecord } = options;
  type GivenFilters = Values<F> & { sort?: Sort<Name>; per_page?: number };

  async function conditionsOf(db: Database, given: GivenFilters): Promise<FilterCondition[]> {
    const conditions: FilterCondition[] = [];
    for (const [name, filter] of Object.entries(filters)) {
      if (given[name] !== undefined) conditions.push(await filter.means(given[name], db));
    }
    return conditions;
  }

  function readPage(
    db: Database,
    given: GivenFilters,
    conditions: FilterCondition[],
    at: PageAt,
  ): Promise<CursorList<Row>> {
    const sort = given.sort ?? options.sort;
    const selection = {
      where: and(...conditions.map(({ where }) => where)),
      few: conditions.some(({ few }) => few),
      by: sort.replace(/^-/, '') as Name,
      descends: sort.startsWith('-'),
    };
    if (options.page) return options.page(db, selection, at);
    const { table, rows } = options;
    return readSortedPage(db, { table, ...selection, by: sql`${orders[selection.by]}` }, at, rows);
  }

  return {
    schema: schemaOf(options),
    /** Returns the orders that the list does not offer with these filters. */
    lacks: (given: GivenFilters): string[] => lacks?.(given) ?? [],
    /** Reads a page: by number if list and filters are counted and the order is the default, otherwise by cursor. */
    async read(db: Database, given: GivenFilters, { request, start }: ListPlace): Promise<StaffPage<Row>> {
      const conditions = await conditionsOf(db, given);
      const refused = refusalOf(conditions);
      if (refused) return refused;
      const isUsual = (given.sort ?? options.sort) === options.sort;
      if (counted && isUsual && conditions.every((meaning) => meaning.counted))
        return counted(db, request, Object.assign({}, ...conditions.map((meaning) => meaning.counted)));
      return readPage(db, given, conditions, { start, size: given.per_page ?? 25, isCounted: true });
    },
    /** Reads a page with cursors. A malformed cursor returns the first page. */
    async page(
      db: Database,
      given: GivenFilters,
      start: PageStart = {},
      size = given.per_page ?? 25,
    ): Promise<CursorList<Row>> {
      const conditions = await conditionsOf(db, given);
      return refusalOf(conditions) ?? readPage(db, given, conditions, { start, size, isCounted: true });
    },
    /** Returns all matching rows as CSV, in chunks, in the requested order. */
    csv(db: Database, given: GivenFilters): AsyncGenerator<string> {
      let conditions: Promise<FilterCondition[]> | undefined;
      return pagesToCsv(
        columns,
        async (start) => {
          conditions ??= conditionsOf(db, given);
          return readPage(db, given, await conditions, { start, size: BATCH, isCounted: false });
        },
        toRecord,
      );
    },
  };
}

/** A position in a list, as given in the page's URL: a page number if the list is counted, otherwise a cursor. */
export interface ListPlace {
  request: PageRequest;
  start: PageStart;
}

function refusalOf(conditions: FilterCondition[]): CursorList<never> | undefined {
  const refused = conditions.find((meaning) => meaning.refused)?.refused;
  return refused && { data: [], count: 0, previous: null, next: null, refused };
}

/** Returns the schema of the parameters in a page's URL: the filters, the order and the page size. */
function schemaOf<F extends Filters, Name extends string, Row>({
  filters,
  orders,
  sort,
  lacks,
}: ListOptions<F, Name, Row>): ListSchema<F, Name> {
  const names = Object.keys(orders) as Name[];
  const sorts: Sort<Name>[] = names.flatMap((name): Sort<Name>[] => [name, `-${name}`]);
  return z
    .object({
      ...Object.fromEntries(Object.entries(filters).map(([name, { schema }]) => [name, schema.optional()])),
      sort: z.enum(sorts).catch(sort as never),
      per_page: perPageParam,
    })
    .refine((values) => isInOrder(values as Days), WRONG_ORDER)
    .overwrite((values) => {
      const lacking: string[] = lacks?.(values as Values<F>) ?? [];
      const isLacking = lacking.includes(String(values.sort).replace(/^-/, ''));
      return isLacking ? { ...values, sort: sort as never } : values;
    }) as unknown as ListSchema<F, Name>;
}

type Days = Parameters<typeof isInOrder>[0];

/** Makes a filter from the schema of its value and a function that converts the value to a condition. */
export const filter = <Schema extends z.ZodType>(
  schema: Schema,
  means: ListFilter<Schema>['means'],
): ListFilter<Schema> => ({ schema, means });

/** Makes a filter by an enum value. The value is an SQL literal, so that the planner can use partial indexes. */
export function wordFilter<const Words extends readonly [string, ...string[]]>(
  words: Words,
  column: PgColumn,
) {
  return {
    ...filter(oneOf(words), (word: Words[number]) => ({
      where: eq(column, constant(word)),
      counted: { [column.name]: word },
    })),
    counted: { [column.name]: { matches: (word: SQL) => eq(column, word), isClosed: true } },
  };
}

/** Makes filters for the first and last day, inclusive. The counted list names them `<column>_from`, `<column>_to`. */
export function dayFilters(column: PgColumn) {
  const ends = { from: gte, to: lte };
  const endFilter = (end: keyof typeof ends) => {
    const name = `${column.name}_${end}`;
    return {
      ...filter(calendarDate, (day) => ({ where: ends[end](column, day), counted: { [name]: day } })),
      counted: { [name]: { matches: (day: SQL) => ends[end](column, day), end } },
    };
  };
  return { from: endFilter('from'), to: endFilter('to') };
}
