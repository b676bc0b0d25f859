import { getTableName, type SQL, sql, type Table } from 'drizzle-orm';
import { type Database, rows } from './database';

/** A table to copy, and the condition for its rows. If there is no condition, all rows are copied. */
export interface Copied {
  table: Table;
  where?: SQL;
}

/**
 * Hides tables behind temporary copies until the connection ends. A statement on the connection uses the copies, unless
 * it names the schema `public`. The connection is read-only, which protects the real tables.
 *
 * @param db a database with a single connection
 */
export async function copyToScratch(db: Database, copied: Copied[]): Promise<void> {
  await db.execute(sql`set default_transaction_read_only = off`);
  for (const { table, where } of copied) await copy(db, getTableName(table), where);
  await db.execute(sql`set default_transaction_read_only = on`);
}

async function copy(db: Database, name: string, where: SQL = sql`true`): Promise<void> {
  const table = sql.identifier(name);
  const columns = await rows<{ name: string; is_identity: boolean }>(
    db,
    sql`select column_name as name, is_identity = 'YES' as is_identity from information_schema.columns
      where table_schema = 'public' and table_name = ${name} and is_generated = 'NEVER'`,
  );
  const list = sql.join(
    columns.map((column) => sql.identifier(column.name)),
    sql`, `,
  );
  await db.execute(sql`create temporary table ${table} (like public.${table} including all)`);
  await db.execute(
    sql`insert into pg_temp.${table} (${list}) overriding system value
      select ${list} from public.${table} where ${where}`,
  );
  for (const column of columns.filter(({ is_identity }) => is_identity)) {
    const [last] = await rows<{ id: number }>(
      db,
      sql`select coalesce(max(${sql.identifier(column.name)}), 0)::int as id from public.${table}`,
    );
    const next = sql.raw(String((last?.id ?? 0) + 1));
    await db.execute(
      sql`alter table pg_temp.${table} alter column ${sql.identifier(column.name)} restart with ${next}`,
    );
  }
  await db.execute(sql`analyze pg_temp.${table}`);
}
