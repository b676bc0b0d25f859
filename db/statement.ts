import { Column, type DriverValueDecoder, is, type Query, SQL, sql } from 'drizzle-orm';
import {
  type PgDatabase,
  PgDialect,
  type PgQueryResultHKT,
  type SelectedFieldsOrdered,
} from 'drizzle-orm/pg-core';

// As in database.ts, which imports this file.
type Database = PgDatabase<PgQueryResultHKT>;

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
 * Only for texts of which there are few, since connections keep them.
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
