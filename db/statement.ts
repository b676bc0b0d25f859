import { is, type Query, SQL, sql } from 'drizzle-orm';
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
 * @param build raw SQL, run for its effect alone, or drizzle's builder, without outer joins
 */
export function statement<Name extends string, Row = never>(
  names: readonly Name[],
  build: (db: Database, values: Record<Name, SQL>) => Builder<Row[]> | Builder<unknown> | SQL,
): (db: Database, values: Record<Name, unknown>) => Promise<Row[]> {
  let built: ReturnType<typeof toParts> | undefined;
  return (db, values) => {
    built ??= toParts(build(db, toPlaceholders(names)));
    const { query, fields } = built;
    return db._.session
      .prepareQuery<{ execute: Row[]; all: Row[]; values: unknown }>(
        query,
        fields,
        NAME,
        fields !== undefined,
      )
      .execute(values);
  };
}

function toPlaceholders<Name extends string>(names: readonly Name[]): Record<Name, SQL> {
  const placeholders = names.map((name) => [name, sql`${sql.placeholder(name)}`]);
  return Object.fromEntries(placeholders) as Record<Name, SQL>;
}

/** The text, and the columns that answers are read by, which drizzle keeps to itself. */
function toParts(made: Builder<unknown> | SQL): { query: Query; fields: SelectedFieldsOrdered | undefined } {
  if (is(made, SQL)) return { query: dialect.sqlToQuery(made), fields: undefined };
  const prepared = made.prepare(NAME);
  return { query: prepared.getQuery(), fields: (prepared as { fields?: SelectedFieldsOrdered }).fields };
}
