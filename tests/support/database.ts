import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { eq, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { afterAll, beforeAll, inject } from 'vitest';
import { type DatabaseHandle, drizzleOn, openInMemory, openPostgres, TRANSACTION_POOLER } from '@/db/client';
import { type Database, rows } from '@/db/database';
import { perProcess } from '@/db/per-process';
import { withDatabase } from './database-url';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The URL of a PostgreSQL server, its migrated template, and the URL of a pooler. Null if the tests use PGlite. */
    postgres: { url: string; template: string; pooler: string | null } | null;
    /** The path of a migrated PGlite image. */
    pgliteImage: string;
    /** The rows that migrations insert, by table: `[table, rows as JSON]`. */
    migratedRows: [string, string][];
  }
}

/**
 * Creates a migrated, empty database in PGlite, or on the server of TEST_DATABASE_URL. This takes a second and 300 MB.
 * Use `useDatabase` unless the test needs a second database or changes the schema.
 */
export async function createTestDatabase(): Promise<DatabaseHandle & { url?: string }> {
  const server = inject('postgres');
  if (!server) return openInMemory(await readImage(inject('pgliteImage')));
  const name = `${server.template}_${randomUUID().slice(0, 8)}`;
  await createFromTemplate(server, name);
  const handle = openServer(server, name);
  return {
    ...handle,
    url: withDatabase(server.url, name),
    close: async () => {
      await handle.close();
      await onServer(server.url, `drop database ${name} with (force)`);
    },
  };
}

/** Provides an empty database for the tests of a file or describe block. Only one can be in use at a time. */
export function useDatabase(): { readonly db: Database } {
  let handle: DatabaseHandle | undefined;
  beforeAll(async () => {
    handle = await borrowDatabase();
  });
  afterAll(() => handle?.close());
  return {
    get db() {
      if (!handle) throw new Error('the database is open only inside tests');
      return handle.db;
    },
  };
}

interface WorkerDatabase {
  /** Opens a new handle to the database for one borrower. */
  open?: () => DatabaseHandle;
  isInUse: boolean;
}

/** The database of a worker. Its test files share it one after the other. */
const shared = perProcess<WorkerDatabase>('test-database', () => ({ isInUse: false }));

/**
 * Lends the worker's database, emptied. Each borrower gets a new `Database` object, so that the product's state that is
 * keyed by this object starts empty.
 *
 * @throws Error if another borrower has not closed it
 */
export async function borrowDatabase(): Promise<DatabaseHandle> {
  if (shared.isInUse) throw new Error('the worker has one database: use createTestDatabase for a second one');
  shared.isInUse = true;
  shared.open ??= await openForWorker();
  const handle = shared.open();
  await emptyDatabase(handle.db);
  return {
    ...handle,
    close: async () => {
      shared.isInUse = false;
      await handle.close();
    },
  };
}

async function openForWorker(): Promise<() => DatabaseHandle> {
  const server = inject('postgres');
  if (!server) {
    const handle = await openInMemory(await readImage(inject('pgliteImage')));
    return () => ({ ...handle, db: drizzleOn(handle.client), close: async () => {} });
  }
  const name = `${server.template}_worker_${process.pid}`;
  await createFromTemplate(server, name);
  return () => openServer(server, name);
}

/** Total table size in bytes, including deleted rows, above which truncating is faster than deleting. */
const SMALL = 4_000_000;

/** Resets a migrated database to its state after the migrations, including their rows and the sequences. */
export async function emptyDatabase(db: Database): Promise<void> {
  const tables = await rows<{ name: string; size: number }>(
    db,
    sql`select quote_ident(tablename) as name, pg_relation_size(quote_ident(tablename)::regclass)::int as size
      from pg_tables where schemaname = 'public'`,
  );
  const names = tables.map(({ name }) => name);
  const isSmall = tables.reduce((sum, { size }) => sum + size, 0) < SMALL;
  // Truncating makes new files for each table and each index, which takes as long as deleting some 10,000 rows.
  const empty = isSmall
    ? [
        ...names.map((name) => `delete from ${name}`),
        `perform setval(format('%I', sequencename)::regclass, start_value, false)
          from pg_sequences where schemaname = 'public' and last_value is not null`,
      ]
    : [`truncate ${names.join(', ')} restart identity cascade`];
  // Triggers maintain sums and counts per row. They must not fire for the deleted and restored rows.
  const statements = [
    `perform set_config('session_replication_role', 'replica', true)`,
    ...empty,
    ...inject('migratedRows').map(
      ([table, json]) =>
        `insert into ${table} overriding system value select * from json_populate_recordset(null::${table}, $rows$${json}$rows$)`,
    ),
  ];
  await db.execute(sql.raw(`do $empty$ begin ${statements.join('; ')}; end $empty$`));
}

/** Reads the rows of a table, ordered by id. */
export async function readRows<Table extends PgTable & { id: PgColumn }>(
  db: Database,
  table: Table,
  where?: SQL,
): Promise<Table['$inferSelect'][]> {
  return db.select().from<PgTable>(table).where(where).orderBy(table.id);
}

/** Reads one row. @throws Error if the table has no row with this id */
export async function readRow<Table extends PgTable & { id: PgColumn }>(
  db: Database,
  table: Table,
  id: number,
): Promise<Table['$inferSelect']> {
  const [row] = await readRows(db, table, eq(table.id, id));
  if (!row) throw new Error(`there is no row ${id}`);
  return row;
}

/** Returns all rows of all tables as text, each with the name of its table. */
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

/**
 * Returns state that shows whether a migration changed anything. `xmin` is the id of the transaction that last wrote
 * the row.
 */
export async function databaseState(db: Database) {
  return [
    await rows(db, sql`select id, hash, created_at::text from drizzle.__drizzle_migrations order by id`),
    await rows(db, sql`select customer_number from customers`),
    await rows(
      db,
      sql`select oid::int, xmin::text from pg_class where relnamespace = 'public'::regnamespace order by 1`,
    ),
    await rows(db, sql`select oid::int, xmin::text from pg_proc where proname = 'commit_plan'`),
  ];
}

export const FOREIGN =
  'This database was created by a version before the first release, whose migrations no longer exist: start with an empty one (another DATABASE_URL or DATA_DIR).';

/** Backdates the migrations of a database to a time before the first release. */
export async function disownMigrations(db: Database): Promise<void> {
  await db.execute(sql`update drizzle.__drizzle_migrations set created_at = 1795256665216 + id`);
}

/** Returns whether the tests reach their server through a transaction pooler. */
export const isPooled = () => typeof inject('postgres')?.pooler === 'string';

/** Returns whether the tests run on a PostgreSQL server, where several connections can race. */
export const onPostgres = () => inject('postgres') !== null;

/**
 * Counts the sessions of a server's database that wait for a lock. A transaction keeps the first count that it reads, so
 * do not poll inside one.
 */
export async function countLockWaits(db: Database): Promise<number> {
  const isWaiting = sql`datname = current_database() and wait_event_type = 'Lock'`;
  const query = sql`select count(*)::int as waiting from pg_stat_activity where ${isWaiting}`;
  return (await rows<{ waiting: number }>(db, query))[0]?.waiting ?? 0;
}

type Server = NonNullable<ReturnType<typeof inject<'postgres'>>>;

function openServer(server: Server, name: string): DatabaseHandle {
  return openPostgres(withDatabase(server.pooler ?? server.url, name), {
    pooler: server.pooler ? TRANSACTION_POOLER : undefined,
  });
}

async function createFromTemplate(server: Server, name: string): Promise<void> {
  await onServer(server.url, `create database ${name} template ${server.template}`);
  // These tests never crash the database server, so commits need not reach the disk.
  await onServer(server.url, `alter database ${name} set synchronous_commit = off`);
}

/** Runs one statement on the server's default database. */
export async function onServer(url: string, statement: string): Promise<void> {
  const admin = openPostgres(url, { max: 1 });
  await admin.db.execute(sql.raw(statement));
  await admin.close();
}

async function readImage(path: string): Promise<Blob> {
  return new Blob([new Uint8Array(await readFile(path))]);
}
