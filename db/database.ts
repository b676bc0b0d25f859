import { setTimeout as sleep } from 'node:timers/promises';
import { Column, type DriverValueDecoder, is, type Query, SQL, type SQLWrapper, sql } from 'drizzle-orm';
import {
  type PgDatabase,
  PgDialect,
  type PgQueryResultHKT,
  type SelectedFieldsOrdered,
} from 'drizzle-orm/pg-core';

/** Drizzle's database for postgres.js or PGlite, or a transaction in it. */
export type Database = PgDatabase<PgQueryResultHKT>;

/** Runs raw SQL on either driver. Cast int8 in SQL (`::int`, `::text`), because the drivers return different types. */
export async function rows<T extends Record<string, unknown>>(db: Database, query: SQL): Promise<T[]> {
  const result: unknown = await db.execute(query);
  return (Array.isArray(result) ? [...result] : (result as { rows: T[] }).rows) as T[];
}

/** Returns an object with the named columns of a table, as drizzle's `select` expects it. */
export function pickColumns<T extends object, Name extends keyof T>(
  table: T,
  ...names: readonly Name[]
): Pick<T, Name> {
  return Object.fromEntries(names.map((name) => [name, table[name]])) as Pick<T, Name>;
}

/** Returns the first SQLSTATE or driver code in an error's chain of causes. Drizzle wraps driver errors. */
export function pgErrorCode(error: unknown): string | undefined {
  for (let e = error; e instanceof Error; e = e.cause) {
    if ('code' in e && typeof e.code === 'string') return e.code;
  }
  return undefined;
}

export const UNIQUE_VIOLATION = '23505';
export const FOREIGN_KEY_VIOLATION = '23503';
export const DISK_FULL = '53100';
export const READ_ONLY = '25006';

// The SQLSTATE classes 08, 28, 53 and 57P stand for connection, authorization, resources and operator intervention.
// 3D000 means that the database does not exist, and 55000 that it accepts no connections. The names are error codes of
// Node and of the driver.
const UNAVAILABLE =
  /^(08...|28...|3D000|53...|55000|57P..|CONNECT(ION)?_\w+|ECONN\w+|ETIMEDOUT|ENOTFOUND|EPIPE|EHOSTUNREACH|EAI_AGAIN)$/;

/** Returns true if the database cannot be reached, refuses the connection or lacks resources. A retry may help. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return UNAVAILABLE.test(pgErrorCode(error) ?? '');
}

/** Returns true if the database refused a write because its disk is full. */
export function isDiskFullError(error: unknown): boolean {
  return pgErrorCode(error) === DISK_FULL;
}

/** Returns true if the error is a failed statement. Its message contains SQL and belongs in the log only. */
export function isQueryError(error: unknown): boolean {
  // `instanceof` would fail if the bundle that catches the error has its own copy of the class.
  return error instanceof Error && error.name === 'QueryError';
}

const PARTS = 10;

/**
 * Returns the answer of the database, or undefined if it takes longer than `ms`. Counts the time in ten parts. After a
 * pause of the process, Node runs expired timers before it reads an answer that has already arrived, so a single timer
 * would report a healthy database as silent. A pause, however long, uses up only one part.
 */
export async function answerWithin<T>(ms: number, answer: Promise<T>): Promise<T | undefined> {
  let isOver = false;
  const expire = async () => {
    for (let part = 0; part < PARTS && !isOver; part += 1) await sleep(ms / PARTS, undefined, { ref: false });
    return undefined;
  };
  return Promise.race([answer, expire()]).finally(() => (isOver = true));
}

/**
 * Takes the advisory lock of a key until the transaction ends. Take it before any row lock, because two transactions that
 * take both in opposite order deadlock. Only `customer numbers` is sometimes taken later; `transact` retries that deadlock.
 *
 * @param key shared by the callers that must exclude each other, and by no other callers
 */
export async function lockKey(tx: Database, key: string): Promise<void> {
  await lock(tx, { key });
}

/** Returns the SQL that takes the lock of `lockKey`. */
export const takeLock = (key: SQL): SQL => sql`pg_advisory_xact_lock(hashtextextended(${key}, 0))`;

const lock = statement(['key'], (_, { key }) => sql`select ${takeLock(key)}`);

/**
 * Returns the condition that a column equals one of many texts. All texts are one parameter, because building and
 * parsing a thousand parameters takes longer than finding the rows.
 *
 * @param form function that converts each text before the comparison, such as `sql`lower(${text})``. Defaults to the
 *   text itself.
 */
export function inTexts(column: SQLWrapper, texts: string[], form = (text: SQL) => text): SQL {
  return sql`${column} = any(array(select ${form(sql`wanted.text`)} from ${textRows(texts)} as wanted (text)))`;
}

/**
 * Like `inTexts`, for a column that also has a trigram index. PostgreSQL underestimates the cost of that index for an
 * array of texts, so this condition uses a subquery of the texts instead. Do not use it inside an `or`.
 */
export function inJoinedTexts(column: SQLWrapper, texts: string[]): SQL {
  return sql`${column} in (select wanted.text from ${textRows(texts)} as wanted (text))`;
}

/** Returns SQL that turns texts into rows. Leaves out texts with a NUL character, which no column can contain. */
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

// Any name makes the driver prepare the statement. The driver then chooses its own name.
const NAME = 'statement';
const dialect = new PgDialect();

/** Runs the statement with the values of its parameters. */
export type Statement<Name extends string, Row> = (
  db: Database,
  values: Record<Name, unknown>,
) => Promise<Row[]>;

/**
 * Defines a statement that is built once. A server also prepares it once on each connection, except behind a pooler
 * that keeps no prepared statements. Drizzle takes longer to build most statements than PostgreSQL takes to run them,
 * and an unprepared statement takes two round trips.
 *
 * Use it for a fixed set of SQL texts only, because every connection keeps all of them.
 *
 * @param names names of the statement's parameters
 * @param build function that returns drizzle's query builder, or raw SQL whose rows are not used
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

/** Defines a statement that returns a single text. */
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
  const { fields } = prepared as { fields?: SelectedFieldsOrdered }; // Drizzle's types do not declare this property.
  return { query: prepared.getQuery(), ...(fields && { read: toReader<Row>(fields) }) };
}

interface Field {
  name: string;
  at: number;
  decoder: DriverValueDecoder<unknown, unknown>;
}

/** Maps rows as drizzle does, but resolves each decoder once. A joined table without a matching row becomes null. */
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

/** Returns the decoder of a column or an expression. Drizzle gives `max(column)` the decoder of the column. */
function decoderOf(field: SelectedFieldsOrdered[number]['field']): DriverValueDecoder<unknown, unknown> {
  if (is(field, Column)) return field;
  const computed = is(field, SQL.Aliased) ? field.sql : field;
  return (computed as unknown as { decoder: DriverValueDecoder<unknown, unknown> }).decoder;
}
