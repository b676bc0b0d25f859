import { type SQL, sql } from 'drizzle-orm';
import { openPostgres } from '@/db/client';
import { type Database, rows } from '@/db/database';
import { TRANSACTION_POOLER } from '@/db/pooler';
import type { Env } from '../../env';
import { StartError } from '../../errors';
import { tryServer } from '../../try-server';
import { DEMO } from './settings';

/**
 * Checks that the database of DATABASE_URL is empty, or that a demo filled it and it has no other staff or access tokens
 * since. It only reads, before anything is migrated or written.
 *
 * @throws StartError for any other
 */
export async function requireOwnDatabase(
  { databaseUrl }: Pick<Env, 'databaseUrl'>,
  staffEmail: string,
): Promise<void> {
  if (!databaseUrl) return;
  const handle = openPostgres(databaseUrl, { max: 1, pooler: TRANSACTION_POOLER });
  const found = await tryServer(handle, databaseUrl, () =>
    handle.db.transaction((tx) => findForeign(tx, staffEmail), { accessMode: 'read only' }),
  );
  await handle.close();
  if (!found) return;
  throw new StartError([`The database of DATABASE_URL holds ${found}: give the demo an empty database.`]);
}

/** Describes the rows that the demo did not create. Null if there are no such rows. */
async function findForeign(tx: Database, staffEmail: string): Promise<string | null> {
  const used = await findUsedTable(tx);
  if (!used) return null;
  const tables = sql`to_regclass('audit_log') is not null and to_regclass('staff_users') is not null
    and to_regclass('access_tokens') is not null`;
  const isOwn =
    (await holds(tx, tables)) &&
    (await holds(
      tx,
      // The first thing that a demo writes into an empty database.
      sql`exists (select from audit_log where actor_type::text = 'cli' and actor_id = ${DEMO}
        and action = 'staff_user.create' and after ->> 'email' = ${staffEmail})`,
    ));
  if (!isOwn) return `rows that the demo did not make (in ${used})`;
  if (await holds(tx, sql`exists (select from staff_users where email <> ${staffEmail})`)) {
    return 'staff that the demo did not make';
  }
  const others = sql`exists (select from access_tokens
    where revoked_at is null and created_by is distinct from ${DEMO})`;
  return (await holds(tx, others)) ? 'access tokens that the demo did not make' : null;
}

/** The first table with a row, except tables of PostgreSQL, of extensions and of drizzle. */
async function findUsedTable(tx: Database): Promise<string | null> {
  const tables = await rows<{ name: string }>(
    tx,
    sql`select format('%I.%I', n.nspname, c.relname) as name
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p', 'f') and n.nspname not in ('pg_catalog', 'information_schema', 'drizzle')
        and n.nspname not like 'pg_toast%' and n.nspname not like 'pg_temp%'
        and not exists (select from pg_depend d
          where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
      order by 1`,
  );
  await tx.execute(sql`set local row_security = off`); // rows that we may not see count too
  for (const { name } of tables) {
    if (await holds(tx, sql`exists (select from ${sql.raw(name)})`)) return name;
  }
  return null;
}

async function holds(tx: Database, condition: SQL): Promise<boolean> {
  const [found] = await rows<{ holds: boolean }>(tx, sql`select ${condition} as holds`);
  return found?.holds === true;
}
