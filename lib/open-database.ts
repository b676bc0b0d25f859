import { accessSync, constants, mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DatabaseHandle, DataDirTakenError, openEmbedded, restoreEmbedded } from '@/db/client';
import { isDiskFullError } from '@/db/database';
import { isNoSpace, NoRoomError } from '@/db/disk-room';
import { DamagedDatabaseError } from '@/db/embedded-files';
import { DataDirBusyError } from '@/db/lock';
import { migrate } from '@/db/migrate';
import { bookHistory } from './book-entries';
import type { Env } from './env';
import { StartError } from './errors';
import { explainRefusal, openScratch, openServer } from './open-server';

const LOOK_MS = 250;

export interface OpenOptions {
  /** For a command that changes nothing: see `openScratch`. */
  scratch?: boolean;
  /** Milliseconds to wait for an embedded database that a command, not a server, has open. */
  patience?: number;
  /** Called once before waiting. */
  onWait?: (busy: DatabaseBusyError) => void;
}

/** Another process has the embedded database open. */
export class DatabaseBusyError extends StartError {
  static override readonly kind = 'DatabaseBusyError';

  constructor(
    dataDir: string,
    readonly pid: number,
    /** Where it takes commands; undefined: it does not, or not yet. */
    readonly socket: string | undefined,
  ) {
    super([
      `The embedded database in ${dataDir} is in use by process ${pid}: stop that process, give another DATA_DIR, or set DATABASE_URL to use PostgreSQL.`,
    ]);
  }
}

/**
 * Opens the configured database and makes sure that it has this version's schema.
 *
 * @throws StartError when it cannot be used, saying what to do; DatabaseBusyError, NotMigratedError among them
 */
export async function openDatabase(
  env: Pick<Env, 'databaseUrl' | 'databaseUrlDirect' | 'databasePooler' | 'dataDir' | 'timeZone'>,
  { scratch, patience = 0, onWait }: OpenOptions = {},
): Promise<DatabaseHandle> {
  if (env.databaseUrl) return scratch ? openScratch(env.databaseUrl, env) : openServer(env.databaseUrl, env);
  for (let waited = 0; ; waited += LOOK_MS) {
    try {
      return await openEmbeddedDatabase(env.dataDir, env.timeZone);
    } catch (error) {
      if (!(error instanceof DatabaseBusyError) || error.socket || waited >= patience) throw error;
      if (waited === 0) onWait?.(error);
      await sleep(LOOK_MS);
    }
  }
}

async function openEmbeddedDatabase(dataDir: string, timeZone: string): Promise<DatabaseHandle> {
  makeDataDir(dataDir);
  const handle = await openEmbedded(dataDir).catch((error: unknown) => {
    if (error instanceof DataDirBusyError) throw new DatabaseBusyError(dataDir, error.pid, error.socket);
    if (!(error instanceof DamagedDatabaseError)) throw explainNoRoom(error, dataDir);
    throw new StartError([
      `The embedded database in ${dataDir} is damaged (${error.message}): put back the missing files, or restore a backup into another DATA_DIR with npm run restore.`,
    ]);
  });
  await migrate(handle)
    .then(() => bookHistory(handle.db, timeZone))
    .catch((error: unknown) => handle.close().finally(() => explainRefusal(explainNoRoom(error, dataDir))));
  return handle;
}

function explainNoRoom(error: unknown, dataDir: string): unknown {
  if (!(error instanceof NoRoomError || isDiskFullError(error) || isNoSpace(error))) return error;
  return new StartError([
    `The disk of DATA_DIR ${dataDir} has too little room for the embedded database: free some space, then start again. The database is not damaged.`,
  ]);
}

/**
 * Restores the embedded database of a folder from a file that `npm run backup` wrote, and migrates it to this version.
 *
 * @throws StartError if the folder has a database already, or the file is not a backup
 */
export async function restoreDatabase(
  dataDir: string,
  file: string,
  contents: Uint8Array<ArrayBuffer>,
): Promise<void> {
  makeDataDir(dataDir);
  const image = new Blob([contents], { type: 'application/x-gzip' });
  const handle = await restoreEmbedded(dataDir, image).catch((error: unknown) => {
    if (error instanceof DataDirBusyError) throw new DatabaseBusyError(dataDir, error.pid, undefined);
    if (error instanceof DataDirTakenError)
      throw new StartError([`There is a database in ${dataDir} already: give an empty DATA_DIR.`]);
    const known = explainNoRoom(error, dataDir);
    throw known === error ? new StartError([`${file} is not a complete backup.`]) : known;
  });
  await migrate(handle)
    .catch((error: unknown) => explainRefusal(explainNoRoom(error, dataDir)))
    .finally(() => handle.close());
}

/** @throws StartError where it cannot be written */
export function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.W_OK);
  } catch {
    throw new StartError([
      `DATA_DIR ${dataDir} cannot be written: give another folder or change its permissions.`,
    ]);
  }
}
