import { and, eq, gte, lte, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { calendarDate, isInOrder, oneOf, WRONG_ORDER } from '../fields';
import { type Page, type PageRequest, perPageParam } from '../page';
import { constant, type PageStart } from '../page-query';
import type { CountedFilter } from './list-reader';
import { BATCH, type CursorList, pagesToCsv, readSortedPage, type StaffPage } from './sorted-page';

/** What a value of a filter asks of the rows of a list. */
interface Meaning {
  where?: SQL | undefined;
  /** Few rows match: they are found first and sorted then, see `SortedRows`. */
  few?: boolean;
  /** The same as values for the counted list. If absent, the counted list does not know the value. */
  counted?: Record<string, unknown> | undefined;
  /** Why no row is looked for. */
  refused?: CursorList<never>['refused'];
}

/** A filter of a list. Its name in `defineList` is its name in an address. */
export interface ListFilter<Schema extends z.ZodType = z.ZodType> {
  schema: Schema;
  means(value: z.output<Schema>, db: Database): Meaning | Promise<Meaning>;
  /** The conditions that the counted list has for it, by their names there. */
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

/** Which rows to read, and in which order. */
export interface Selection<Name extends string> {
  where: SQL | undefined;
  few: boolean;
  by: Name;
  descends: boolean;
}

/** Where a page by cursors begins, and how large it is. */
export interface PageAt {
  start: PageStart;
  size: number;
  /** Also counts the rows of all pages. */
  isCounted: boolean;
}

/** How a page by cursors is read: by ids, which are cursors too, or with cursors of its own. */
type Reading<Name extends string, Row> =
  | {
      table: PgTable & { id: PgColumn };
      /** The rows of some ids, in any order. */
      rows(db: Database, ids: number[]): Promise<Row[]>;
      page?: never;
    }
  | { page(db: Database, selection: Selection<NoInfer<Name>>, at: PageAt): Promise<CursorList<Row>> };

type ListOptions<F extends Filters, Name extends string, Row> = Reading<Name, Row> & {
  filters: F;
  /** Each has an index that ends in the id, or is unique, so that a page costs the same at any depth. Never null. */
  orders: Record<Name, SQLWrapper>;
  /** The usual order; a minus stands for the last or largest first. */
  sort: NoInfer<Sort<Name>>;
  /** An order that the list does not have while it is narrowed like this. */
  lacks?(values: Values<F>): NoInfer<Name> | undefined;
  /** Reads a numbered page in the usual order. Without it, every page has cursors. */
  counted?(db: Database, request: PageRequest, values: Record<string, unknown>): Promise<Page<Row>>;
  columns: string[];
  /** A row as a record of the file. */
  toRecord?(row: Row): Record<string, unknown>;
};

/** Declares a list of records once: for the pages of staff, and for files. */
export function defineList<F extends Filters, Name extends string, Row extends { id: number }>(
  options: ListOptions<F, Name, Row>,
) {
  const { filters, orders, lacks, counted, columns, toRecord } = options;
  type Given = Values<F> & { sort?: Sort<Name>; per_page?: number };

  async function meaningsOf(db: Database, given: Given): Promise<Meaning[]> {
    const meanings: Meaning[] = [];
    for (const [name, filter] of Object.entries(filters)) {
      if (given[name] !== undefined) meanings.push(await filter.means(given[name], db));
    }
    return meanings;
  }

  function readPage(db: Database, given: Given, meanings: Meaning[], at: PageAt): Promise<CursorList<Row>> {
    const sort = given.sort ?? options.sort;
    const selection = {
      where: and(...meanings.map(({ where }) => where)),
      few: meanings.some(({ few }) => few),
      by: sort.replace('-', '') as Name,
      descends: sort.startsWith('-'),
    };
    if (options.page) return options.page(db, selection, at);
    const { table, rows } = options;
    return readSortedPage(db, { table, ...selection, by: sql`${orders[selection.by]}` }, at, rows);
  }

  return {
    schema: schemaOf(options),
    /** An order that the list does not have while it is narrowed like this. */
    lacks: (given: Given): string | undefined => lacks?.(given),
    /** One page of the rows that match: counted in the usual order if it can be, by cursors otherwise. */
    async read(db: Database, given: Given, { request, start }: ListPlace): Promise<StaffPage<Row>> {
      const meanings = await meaningsOf(db, given);
      const refused = refusalOf(meanings);
      if (refused) return refused;
      const isUsual = (given.sort ?? options.sort) === options.sort;
      if (counted && isUsual && meanings.every((meaning) => meaning.counted))
        return counted(db, request, Object.assign({}, ...meanings.map((meaning) => meaning.counted)));
      return readPage(db, given, meanings, { start, size: given.per_page ?? 25, isCounted: true });
    },
    /** One page by cursors. An invalid cursor returns the first page. */
    async page(
      db: Database,
      given: Given,
      start: PageStart = {},
      size = given.per_page ?? 25,
    ): Promise<CursorList<Row>> {
      const meanings = await meaningsOf(db, given);
      return refusalOf(meanings) ?? readPage(db, given, meanings, { start, size, isCounted: true });
    },
    /** All rows that match as CSV, piece by piece, in the order of the list. */
    csv(db: Database, given: Given): AsyncGenerator<string> {
      let meanings: Promise<Meaning[]> | undefined;
      return pagesToCsv(
        columns,
        async (start) => {
          meanings ??= meaningsOf(db, given);
          return readPage(db, given, await meanings, { start, size: BATCH, isCounted: false });
        },
        toRecord,
      );
    },
  };
}

/** Where in a list an address asks to be: by number in a counted one, by cursor in any other. */
export interface ListPlace {
  request: PageRequest;
  start: PageStart;
}

function refusalOf(meanings: Meaning[]): CursorList<never> | undefined {
  const refused = meanings.find((meaning) => meaning.refused)?.refused;
  return refused && { data: [], count: 0, previous: null, next: null, refused };
}

/** The filters of an address, as staff type them. */
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
      const isLacking = lacks?.(values as Values<F>) === String(values.sort).replace('-', '');
      return isLacking ? { ...values, sort: sort as never } : values;
    }) as unknown as ListSchema<F, Name>;
}

type Days = Parameters<typeof isInOrder>[0];

/** Makes a filter, whose value the schema types. */
export const filter = <Schema extends z.ZodType>(
  schema: Schema,
  means: ListFilter<Schema>['means'],
): ListFilter<Schema> => ({ schema, means });

/** One of the words of an enum, in literals: partial indexes are used, and plans know how many rows have each. */
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

/** The first and the last day, both inclusive; the counted list calls them by the column and `_from`, `_to`. */
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
