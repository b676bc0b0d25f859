import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { type DiskRoom, isNoSpace, NoRoomError } from './disk-room';

/** The folder of an embedded database holds files but not a whole database. */
export class DamagedDatabaseError extends Error {}

type Create = (path: string) => Promise<PGlite>;

const pathOf = (dataDir: string) => join(dataDir, 'pglite');

/** A file that exists while a new database is being created. The folder holds no data yet. */
const markerOf = (dataDir: string) => join(dataDir, 'pglite-unfinished');

/** Returns true if there are files of a database, whole or damaged. */
export function holdsDatabase(dataDir: string): boolean {
  const path = pathOf(dataDir);
  return existsSync(path) && readdirSync(path).length > 0 && !existsSync(markerOf(dataDir));
}

/**
 * Opens the embedded database of a data directory, or creates it if the directory has none. The caller holds the
 * lock of the directory. PGlite takes a folder without the file PG_VERSION for an empty one and writes a new database over all other
 * files, so such a folder must never reach it.
 *
 * @throws DamagedDatabaseError if any file is missing; the files that are there stay
 * @throws NoRoomError if the disk has too little room; PostgreSQL would take that for damage
 */
export async function openFiles(dataDir: string, room: DiskRoom, create: Create): Promise<PGlite> {
  room.wasMissed = false;
  const isNew = !holdsDatabase(dataDir);
  room.requireRoom(isNew);
  try {
    return await (isNew
      ? makeFiles(pathOf(dataDir), markerOf(dataDir), create)
      : openExisting(dataDir, create));
  } catch (error) {
    throw room.wasMissed || isNoSpace(error) ? new NoRoomError(error) : error;
  }
}

async function openExisting(dataDir: string, create: Create): Promise<PGlite> {
  const path = pathOf(dataDir);
  if (!existsSync(join(path, 'PG_VERSION'))) throw new DamagedDatabaseError('PG_VERSION is missing');
  const client = await create(path).catch((error: unknown) => {
    throw new DamagedDatabaseError('PostgreSQL cannot start', { cause: error });
  });
  try {
    await requireTables(path, client);
  } catch (error) {
    await client.close();
    throw error;
  }
  return client;
}

async function makeFiles(path: string, marker: string, create: Create): Promise<PGlite> {
  rmSync(path, { recursive: true, force: true });
  writeFileSync(marker, '', { mode: 0o600 });
  mkdirSync(path, { mode: 0o700 });
  try {
    return await create(path);
  } catch (error) {
    rmSync(path, { recursive: true });
    throw error;
  } finally {
    rmSync(marker);
  }
}

/**
 * PostgreSQL notices that a table's file is missing only when it reads the table. The files of temporary tables may be
 * missing: after a crash PostgreSQL removes them, and leaves their rows in the catalog.
 */
async function requireTables(path: string, client: PGlite): Promise<void> {
  const { rows } = await client
    .query<{ file: string }>(
      `select pg_relation_filepath(oid) as file from pg_class
        where relkind in ('r', 'i', 't', 'S', 'm') and relpersistence <> 't'`,
    )
    .catch((error: unknown) => {
      throw new DamagedDatabaseError('the catalog cannot be read', { cause: error });
    });
  const missing = rows.find(({ file }) => !existsSync(join(path, file)));
  if (missing) throw new DamagedDatabaseError(`${missing.file} is missing`);
}
