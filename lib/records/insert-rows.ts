import { getTableColumns, is, SQL, sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import type { RecordKind, Row } from './record-kind';

/**
 * Inserts rows in one statement, as one JSON text: so many parameters as they have values take longer to read than to
 * write. What a row leaves out takes the default of its column.
 *
 * @returns their ids, in their order
 */
export async function insertRows(
  tx: Database,
  { table }: Pick<RecordKind, 'table'>,
  given: Row[],
): Promise<number[]> {
  const columns = Object.values(getTableColumns(table)).filter(({ name }) =>
    given.some((row) => row[name] !== undefined),
  );
  const names = columns.map(({ name }) => sql.identifier(name));
  const values = columns.map((column): SQL => {
    const value = sql`r.${sql.identifier(column.name)}`;
    const usual = is(column.default, SQL) ? column.default : sql.param(column.default, column);
    return column.hasDefault ? sql`coalesce(${value}, ${usual})` : value;
  });
  const list = (parts: (SQL | (typeof names)[number])[]) => sql.join(parts, sql`, `);
  const inserted = await rows<{ id: number }>(
    tx,
    sql`insert into ${table} (${list(names)}) select ${list(values)}
      from jsonb_populate_recordset(null::${table}, ${JSON.stringify(given)}::jsonb) r returning id`,
  );
  return inserted.map(({ id }) => id);
}
