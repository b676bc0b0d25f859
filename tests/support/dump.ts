import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';

/** All rows of all tables as text, each with the name of its table. */
export async function dumpDatabase(db: Database): Promise<string[]> {
  const tables = await rows<{ name: string }>(
    db,
    sql`select table_name::text as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
  );
  const lines: string[] = [];
  for (const { name } of tables) {
    const found = await rows<{ row: string }>(db, sql`select t::text as row from ${sql.identifier(name)} t`);
    lines.push(...found.map(({ row }) => `${name} ${row}`));
  }
  return lines;
}
