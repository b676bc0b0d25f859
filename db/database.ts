import { Column, type DriverValueDecoder, is, type Query, SQL, type SQLWrapper, sql } from 'drizzle-orm';
import {
  type PgDatabase,
  PgDialect,
  type PgQueryResultHKT,
  type SelectedFieldsOrdered,
} from 'drizzle-orm/pg-core';

/** postgres.js and PGlite alike, and a transaction of either. */
export type Database = PgDatabase<PgQueryResultHKT>;

/**
 * Runs raw SQL. The drivers answer in different forms (an array; `{ rows }`), and int8 comes as text
 * from one and as number from the other: cast in SQL (`::int`, `::text`).
 */
export async function rows<T extends Record<string, unknown>>(db: Database, query: SQL): Promise<T[]> {
  const result: unknown = await db.execute(query);
  return (Array.isArray(result) ? [...result] : (result as { rows: T[] }).rows) as T[];
}

/** These columns of a table, for a select. */
export function pickColumns<T extends object, Name extends keyof T>(
  table: T,
  ...names: readonly Name[]
): Pick<T, Name> {
  return Object.fromEntries(names.map((name) => [name, table[name]])) as Pick<T, Name>;
}

/** The SQLSTATE or driver code beneath drizzle's wrapper, whose message holds the parameters. */
export function pgErrorCode(error: unknown): string | undefined {
  for (let e = error; e instanceof Error; e = e.cause) {
    if ('code' in e && typeof e.code === 'string') return e.code;
  }
  return undefined;
}

export const UNIQUE_VIOLATION = '23505';
export const FOREIGN_KEY_VIOLATION = '23503';
export const DISK_FULL = '53100';

// Class 08 connection, 53 resources, 57P operator intervention; the rest are the drivers' own.
const UNAVAILABLE =
  /^(08...|28...|3D000|53...|55000|57P..|CONNECT(ION)?_\w+|ECONN\w+|ETIMEDOUT|ENOTFOUND|EPIPE|EHOSTUNREACH|EAI_AGAIN)$/;

/** True where the database could not be reached or turned us away, so that trying again may help. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return UNAVAILABLE.test(pgErrorCode(error) ?? '');
}

/** True if the database refused a write because its disk is full. */
export function isDiskFullError(error: unknown): boolean {
  return pgErrorCode(error) === DISK_FULL;
}

/** Whether a statement failed. The message of such an error is SQL: it belongs in the log only. */
export function isQueryError(error: unknown): boolean {
  // By its name: a page may catch it in another bundle than the one that made it.
  return error instanceof Error && error.name === 'QueryError';
}

/**
 * Serialises everything that concerns one thing, until the transaction ends. Taken before row locks.
 *
 * @param key of all callers that mean the same thing, and of no others
 */
export async function lockKey(tx: Database, key: string): Promise<void> {
  await lock(tx, { key });
}

/** What `lockKey` asks for. */
export const takeLock = (key: SQL): SQL => sql`pg_advisory_xact_lock(hashtextextended(${key}, 0))`;

const lock = statement(['key'], (_, { key }) => sql`select ${takeLock(key)}`);

/**
 * Whether a column is one of many texts, which go as one parameter: a thousand take longer to build and to read than
 * their rows to find.
 *
 * @param form what is made of each text, `sql`lower(${text})``; without it the text itself is meant
 */
export function inTexts(column: SQLWrapper, texts: string[], form = (text: SQL) => text): SQL {
  return sql`${column} = any(array(select ${form(sql`wanted.text`)} from ${textRows(texts)} as wanted (text)))`;
}

/**
 * The same of a column that has a trigram index too, which PostgreSQL holds for cheaper than it is where it may look
 * for all texts at once: so they are joined. Not for part of an `or`.
 */
export function inJoinedTexts(column: SQLWrapper, texts: string[]): SQL {
  return sql`${column} in (select wanted.text from ${textRows(texts)} as wanted (text))`;
}

/** Texts as rows; without those that no column can hold. */
function textRows(texts: string[]): SQL {
  const storable = texts.filter((text) => !text.includes('\0')).map((text) => text.toWellFormed());
  return sql`jsonb_array_elements_text(${JSON.stringify(storable)}::jsonb)`;
}

interface Prepared<Answer> {
  getQuery(): Query;
  execute(): Promise<Answer>;
}

export interface Builder<Answer> {
  prepare(name: string): Prepared<Answer>;
}

// That there is one tells the driver to prepare; it names the statement itself.
const NAME = 'statement';
const dialect = new PgDialect();

/** Runs with its values. */
export type Statement<Name extends string, Row> = (
  db: Database,
  values: Record<Name, unknown>,
) => Promise<Row[]>;

/**
 * A statement that is built once, and prepared once on each connection: drizzle takes longer to build most
 * than PostgreSQL to run them, and unprepared each takes two round trips.
 *
 * Use it for a fixed set of texts only, since every connection keeps each of them.
 *
 * @param names of the values that it is run with
 * @param build drizzle's builder; or raw SQL, run for its effect alone
 */
export function statement<Name extends string, Row = never>(
  names: readonly Name[],
  build: (db: Database, values: Record<Name, SQL>) => Builder<Row[]> | Builder<unknown> | SQL,
): Statement<Name, Row> {
  let built: Parts<Row> | undefined;
  const parts = (db: Database) => {
    built ??= toParts<Row>(build(db, toPlaceholders(names)));
    return built;
  };
  return (db, values) => runQuery<Row>(db, parts(db), values);
}

/** A statement that answers one text. */
export function readStatement<Name extends string>(
  names: readonly Name[],
  build: (values: Record<Name, SQL>) => SQL,
): (db: Database, values: Record<Name, unknown>) => Promise<string> {
  let query: Query | undefined;
  return async (db, values) => {
    query ??= dialect.sqlToQuery(build(toPlaceholders(names)));
    const read = (rows: unknown[][]) => rows.map(([text]) => String(text));
    const [text] = await runQuery(db, { query, read }, values);
    if (text === undefined) throw new Error('the statement answered nothing');
    return text;
  };
}

function runQuery<Row>(db: Database, { query, read }: Parts<Row>, values: Record<string, unknown>) {
  return db._.session
    .prepareQuery<{ execute: Row[]; all: Row[]; values: unknown }>(query, undefined, NAME, true, read)
    .execute(values);
}

interface Parts<Row> {
  query: Query;
  read?: (rows: unknown[][]) => Row[];
}

function toPlaceholders<Name extends string>(names: readonly Name[]): Record<Name, SQL> {
  const placeholders = names.map((name) => [name, sql`${sql.placeholder(name)}`]);
  return Object.fromEntries(placeholders) as Record<Name, SQL>;
}

function toParts<Row>(made: Builder<unknown> | SQL): Parts<Row> {
  if (is(made, SQL)) return { query: dialect.sqlToQuery(made) };
  const prepared = made.prepare(NAME);
  const { fields } = prepared as { fields?: SelectedFieldsOrdered }; // drizzle keeps them to itself
  return { query: prepared.getQuery(), ...(fields && { read: toReader<Row>(fields) }) };
}

interface Field {
  name: string;
  at: number;
  decoder: DriverValueDecoder<unknown, unknown>;
}

/**
 * Reads rows as drizzle does, without asking for each value again what its column is. A table that was
 * joined and has nothing for a row is null.
 */
function toReader<Row>(fields: SelectedFieldsOrdered): (rows: unknown[][]) => Row[] {
  const own: Field[] = [];
  const joined = new Map<string, Field[]>();
  fields.forEach(({ path: [name = '', column], field }, at) => {
    const group = column === undefined ? own : (joined.get(name) ?? []);
    group.push({ name: column ?? name, at, decoder: decoderOf(field) });
    if (column !== undefined) joined.set(name, group);
  });
  return (rows) =>
    rows.map((values) => {
      const row = readFields(own, values);
      for (const [table, columns] of joined) {
        row[table] = columns.every(({ at }) => values[at] === null) ? null : readFields(columns, values);
      }
      return row as Row;
    });
}

function readFields(fields: Field[], values: unknown[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const { name, at, decoder } of fields) {
    row[name] = values[at] === null ? null : decoder.mapFromDriverValue(values[at]);
  }
  return row;
}

/** A column reads its own values; what is computed says who does, such as `max()` its column. */
function decoderOf(field: SelectedFieldsOrdered[number]['field']): DriverValueDecoder<unknown, unknown> {
  if (is(field, Column)) return field;
  const computed = is(field, SQL.Aliased) ? field.sql : field;
  return (computed as unknown as { decoder: DriverValueDecoder<unknown, unknown> }).decoder;
}
