import { mkdirSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { drizzle as drizzlePglite } from 'drizzle-orm/pglite';
import { drizzle as drizzlePostgres } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import type { Database } from './database';
import { DiskRoom } from './disk-room';
import { EmbeddedClient } from './embedded-client';
import { holdsDatabase, keepPrivate, openFiles, PrivateFs } from './embedded-files';
import { lockDataDir } from './lock';
import type { Pooler } from './pooler';
import { serverUrl } from './pooler';
import { limitWriters } from './transaction';
import './failed-statements';

export interface DatabaseHandle {
  db: Database;
  kind: 'postgres' | 'embedded';
  close(): Promise<void>;
  /** The embedded one only: what it holds now, as a database in memory. */
  copy?: () => Promise<DatabaseHandle>;
  /** The embedded one only: all of it as it is now, a tar archive in gzip. */
  dump?: () => Promise<Blob>;
}

/** False where an install without scripts left the patch out (patches/), also while the bundle was made. */
export const isDriverPatched = (): boolean => 'survivesLostConnections' in postgres;

/**
 * A pool on a PostgreSQL server (15 or newer); connects at the first query. It asks for no settings, since a
 * pooler in between refuses them: transactions bring their own, see `transact`.
 *
 * @param options.pooler what stands in between, if anything does
 * @param options.scratch one connection that stays, straight to the server, and that writes to temporary tables only
 */
export function openPostgres(
  url: string,
  options: { max?: number; pooler?: Pooler | undefined; scratch?: boolean } = {},
): DatabaseHandle {
  const max = options.scratch ? 1 : (options.max ?? 10);
  const client = postgres(serverUrl(url), {
    max,
    connect_timeout: 10,
    idle_timeout: options.scratch ? 0 : 60,
    ...(options.scratch && { max_lifetime: null }),
    prepare: options.pooler?.keepsStatements ?? true,
    // A pooler takes the session away at an answer, though the next question is on its way already:
    // https://github.com/pgbouncer/pgbouncer/issues/759
    ...(options.pooler?.sharesSessions && { share_busy: false }),
    onnotice: () => {},
    connection: {
      application_name: 'w5t',
      // Were the connection lost, so would be its temporary tables: the next one must not find the real ones.
      ...(options.scratch && { default_transaction_read_only: true }),
    },
  });
  const db = drizzlePostgres({ client });
  limitWriters(db, max);
  return { db, kind: 'postgres', close: () => client.end({ timeout: 3 }) };
}

/**
 * Opens the embedded database of a folder for this process alone. Makes one if the folder is empty.
 *
 * @throws DataDirBusyError while another process has the folder open
 * @throws DamagedDatabaseError if the folder holds files but not a whole database
 * @throws NoRoomError if the disk has too little room for it
 */
export function openEmbedded(dataDir: string, room = new DiskRoom(dataDir)): Promise<DatabaseHandle> {
  return openFolder(dataDir, room, {});
}

/** A backup cannot be restored into a folder that holds a database. */
export class DataDirTakenError extends Error {}

/**
 * Makes the embedded database of a folder from a dump, and opens it. If that fails, the folder stays empty.
 *
 * @throws DataDirTakenError, DataDirBusyError; any other error if the dump cannot be read
 */
export async function restoreEmbedded(dataDir: string, image: Blob): Promise<DatabaseHandle> {
  if (holdsDatabase(dataDir)) throw new DataDirTakenError();
  return openFolder(dataDir, new DiskRoom(dataDir), { loadDataDir: image });
}

/** The number of files PGlite keeps open. Its default is 1,000, and many systems allow a process 256. */
const MAX_FILES = 100;
/** The size to which checkpoints shorten the write-ahead log. Its default is a gigabyte. */
const MAX_LOG = '64MB';
const START_PARAMS = [
  `max_files_per_process=${MAX_FILES}`,
  `max_wal_size=${MAX_LOG}`,
  'min_wal_size=32MB',
].flatMap((setting) => ['-c', setting]);

async function openFolder(
  dataDir: string,
  room: DiskRoom,
  options: { loadDataDir?: Blob },
): Promise<DatabaseHandle> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const unlock = lockDataDir(dataDir);
  const create = (path: string) =>
    PGlite.create({
      fs: new PrivateFs(path, room),
      extensions: { pg_trgm },
      startParams: [...PGlite.defaultStartParams, ...START_PARAMS],
      ...options,
    });
  try {
    keepPrivate(dataDir);
    return embeddedHandle(await EmbeddedClient.create(room, () => openFiles(dataDir, room, create)), unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

/** A database in memory; `template` is an image made by `dumpDataDir`. For tests. */
export async function openInMemory(template?: Blob): Promise<DatabaseHandle & { client: PGlite }> {
  const client = await PGlite.create({
    extensions: { pg_trgm },
    ...(template && { loadDataDir: template }),
  });
  return { ...embeddedHandle(client), client };
}

function embeddedHandle(client: PGlite | EmbeddedClient, unlock?: () => void): DatabaseHandle {
  return {
    db: drizzlePglite({ client: client as PGlite }),
    kind: 'embedded',
    close: async () => {
      await client.close();
      unlock?.();
    },
    copy: async () => openInMemory(await client.dumpDataDir('none')),
    dump: () => client.dumpDataDir('gzip'),
  };
}
