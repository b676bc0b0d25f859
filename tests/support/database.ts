import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/pglite';
import { afterAll, beforeAll, inject } from 'vitest';
import { type DatabaseHandle, openInMemory, openPostgres } from '@/db/client';
import { type Database, rows } from '@/db/database';
import { perProcess } from '@/db/per-process';
import { TRANSACTION_POOLER } from '@/db/pooler';
import { withDatabase } from './database-url';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The address of a PostgreSQL server, its migrated template, and a pooler before it. Null means PGlite. */
    postgres: { url: string; template: string; pooler: string | null } | null;
    /** A migrated PGlite image on disk. */
    pgliteImage: string;
    /** The rows that migrations write, by table: `[table, rows as JSON]`. */
    migratedRows: [string, string][];
  }
}

/**
 * A new, migrated, empty database: PGlite, or one on TEST_DATABASE_URL's server, with its address there.
 * Opening one takes a second and 300 MB. Use `useDatabase` unless the test needs a second database or changes
 * the schema.
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

/** One emptied database for the tests of a file or a describe block; only one can be in use at a time. */
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
  /** Opens another way to the database, for one user. */
  open?: () => DatabaseHandle;
  isInUse: boolean;
}

/** The database that the files of a worker share, one after the other. */
const shared = perProcess<WorkerDatabase>('test-database', () => ({ isInUse: false }));

/**
 * The worker's database, emptied. Each user gets a `Database` object of its own, so that what the product keeps
 * by that object (token caches, batches, refusal counts) begins anew.
 *
 * @throws Error while another user has it
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
    return () => ({ ...handle, db: drizzle({ client: handle.client }), close: async () => {} });
  }
  const name = `${server.template}_worker_${process.pid}`;
  await createFromTemplate(server, name);
  return () => openServer(server, name);
}

/** Brings a migrated database back to what it was after its migrations: their rows, and sequences at their start. */
export async function emptyDatabase(db: Database): Promise<void> {
  const tables = await rows<{ name: string }>(
    db,
    sql`select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
  );
  // Triggers keep sums and counts by row: neither emptying nor filling again is theirs to count.
  const statements = [
    `perform set_config('session_replication_role', 'replica', true)`,
    `truncate ${tables.map(({ name }) => name).join(', ')} restart identity cascade`,
    ...inject('migratedRows').map(
      ([table, json]) =>
        `insert into ${table} overriding system value select * from json_populate_recordset(null::${table}, $rows$${json}$rows$)`,
    ),
  ];
  await db.execute(sql.raw(`do $empty$ begin ${statements.join('; ')}; end $empty$`));
}

/** True when a transaction pooler stands between the tests and their server. */
export const isPooled = () => typeof inject('postgres')?.pooler === 'string';

/** True when the tests run on a server, so that several connections race for real. */
export const onPostgres = () => inject('postgres') !== null;

type Server = NonNullable<ReturnType<typeof inject<'postgres'>>>;

function openServer(server: Server, name: string): DatabaseHandle {
  return openPostgres(withDatabase(server.pooler ?? server.url, name), {
    pooler: server.pooler ? TRANSACTION_POOLER : undefined,
  });
}

const createFromTemplate = (server: Server, name: string) =>
  onServer(server.url, `create database ${name} template ${server.template}`);

/** Runs one statement outside of the test databases. */
export async function onServer(url: string, statement: string): Promise<void> {
  const admin = openPostgres(url, { max: 1 });
  await admin.db.execute(sql.raw(statement));
  await admin.close();
}

async function readImage(path: string): Promise<Blob> {
  return new Blob([new Uint8Array(await readFile(path))]);
}
