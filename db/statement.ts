import { Column, type DriverValueDecoder, is, type Query, SQL, sql } from 'drizzle-orm';
import {
  type PgDatabase,
  PgDialect,
  type PgQueryResultHKT,
  type SelectedFieldsOrdered,
} from 'drizzle-orm/pg-core';
import type * as schema from './schema';

// As in database.ts, which imports this file.
type Database = PgDatabase<PgQueryResultHKT, typeof schema>;

interface Prepared<Answer> {
  getQuery(): Query;
  execute(): Promise<Answer>;
}

interface Builder<Answer> {
  prepare(name: string): Prepared<Answer>;
}

// That there is one tells the driver to prepare; it names the statement itself.
const NAME = 'statement';
const dialect = new PgDialect();

/**
 * A statement that is built once, and prepared once on each connection: drizzle takes longer to build most
 * than PostgreSQL to run them, and unprepared each takes two round trips.
 *
 * Only for texts of which there are few, since connections keep them.
 *
 * @param names of the values that it is run with
 * @param build drizzle's builder, without outer joins; or raw SQL, run for its effect alone
 */
export function statement<Name extends string, Row = never>(
  names: readonly Name[],
  build: (db: Database, values: Record<Name, SQL>) => Builder<Row[]> | Builder<unknown> | SQL,
): (db: Database, values: Record<Name, unknown>) => Promise<Row[]> {
  let built: Parts<Row> | undefined;
  return (db, values) => {
    built ??= toParts<Row>(build(db, toPlaceholders(names)));
    const { query, read } = built;
    return db._.session
      .prepareQuery<{ execute: Row[]; all: Row[]; values: unknown }>(query, undefined, NAME, true, read)
      .execute(values);
  };
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

/** Reads rows as drizzle does, without asking for each value again what its column is. */
function toReader<Row>(fields: SelectedFieldsOrdered): (rows: unknown[][]) => Row[] {
  const columns = fields.map(({ path: [name = ''], field }) => ({ name, decoder: decoderOf(field) }));
  return (rows) =>
    rows.map((values) => {
      const row: Record<string, unknown> = {};
      columns.forEach(({ name, decoder }, i) => {
        const value = values[i];
        row[name] = value === null ? null : decoder.mapFromDriverValue(value);
      });
      return row as Row;
    });
}

/** A column reads its own values; what is computed says who does, such as `max()` its column. */
function decoderOf(field: SelectedFieldsOrdered[number]['field']): DriverValueDecoder<unknown, unknown> {
  if (is(field, Column)) return field;
  const computed = is(field, SQL.Aliased) ? field.sql : field;
  return (computed as unknown as { decoder: DriverValueDecoder<unknown, unknown> }).decoder;
}
