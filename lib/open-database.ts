import { accessSync, constants, mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import {
  type DatabaseHandle,
  DataDirTakenError,
  isDirect,
  isDriverPatched,
  openEmbedded,
  openPostgres,
  probePooler,
  restoreEmbedded,
  TRANSACTION_POOLER,
} from '@/db/client';
import { type Database, isDatabaseUnavailable, isDiskFullError, pgErrorCode } from '@/db/database';
import { DamagedDatabaseError, isNoSpace, NoRoomError } from '@/db/embedded-files';
import { DataDirBusyError } from '@/db/lock';
import {
  ForeignMigrationsError,
  isMigrated,
  migrate,
  NewerDatabaseError,
  NotUnicodeError,
} from '@/db/migrate';
import type { Env } from './env';
import { NotMigratedError, StartError } from './errors';

const POLL_MS = 250;

export interface OpenOptions {
  /**
   * Whether the database is opened for a dry run. For a PostgreSQL server, `openScratch` then opens a session that
   * cannot change the database.
   */
  scratch?: boolean;
  /** How many milliseconds to wait while a command (not a server) has the embedded database open. */
  patience?: number;
  /** Called once, before the first wait. */
  onWait?: (busy: DatabaseBusyError) => void;
}

/** Thrown if another process has the embedded database open. */
export class DatabaseBusyError extends StartError {
  static override readonly kind = 'DatabaseBusyError';

  constructor(
    dataDir: string,
    readonly pid: number,
    /** Path of the socket on which the other process accepts commands. Undefined if it has no such socket (yet). */
    readonly socket: string | undefined,
  ) {
    super([
      `The embedded database in ${dataDir} is in use by process ${pid}, perhaps of another container: stop that process, set another DATA_DIR, or set DATABASE_URL to use PostgreSQL.`,
    ]);
  }
}

/**
 * Opens the configured database and makes sure that it has this version's schema.
 *
 * @throws StartError that says what to do if the database cannot be used, such as DatabaseBusyError or NotMigratedError
 */
export async function openDatabase(
  env: Pick<Env, 'databaseUrl' | 'databaseUrlDirect' | 'databasePooler' | 'dataDir'>,
  { scratch, patience = 0, onWait }: OpenOptions = {},
): Promise<DatabaseHandle> {
  if (env.databaseUrl) return scratch ? openScratch(env.databaseUrl, env) : openServer(env.databaseUrl, env);
  for (let waited = 0; ; waited += POLL_MS) {
    try {
      return await openEmbeddedDatabase(env.dataDir);
    } catch (error) {
      if (!(error instanceof DatabaseBusyError) || error.socket || waited >= patience) throw error;
      if (waited === 0) onWait?.(error);
      await sleep(POLL_MS);
    }
  }
}

async function openEmbeddedDatabase(dataDir: string): Promise<DatabaseHandle> {
  makeDataDir(dataDir);
  const handle = await openEmbedded(dataDir).catch((error: unknown) => {
    if (error instanceof DataDirBusyError) throw new DatabaseBusyError(dataDir, error.pid, error.socket);
    if (!(error instanceof DamagedDatabaseError)) throw explainNoRoom(error, dataDir);
    throw new StartError([
      `The embedded database in ${dataDir} is damaged (${error.message}): put back the missing files, or restore a backup into another DATA_DIR with npm run restore.`,
    ]);
  });
  await migrate(handle).catch((error: unknown) =>
    handle.close().finally(() => explainRefusal(explainNoRoom(error, dataDir))),
  );
  return handle;
}

function explainNoRoom(error: unknown, dataDir: string): unknown {
  if (!(error instanceof NoRoomError || isDiskFullError(error) || isNoSpace(error))) return error;
  return new StartError([
    `The disk of DATA_DIR ${dataDir} has too little room for the embedded database: free some space, then start again. The database is not damaged.`,
  ]);
}

/**
 * Restores an embedded database into a folder from a file that `npm run backup` wrote, and migrates it to this version.
 *
 * @throws StartError, for example if the folder has a database already, or the file is not a backup
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
      throw new StartError([
        `DATA_DIR ${dataDir} already contains a database: set DATA_DIR to an empty folder.`,
      ]);
    const known = explainNoRoom(error, dataDir);
    throw known === error ? new StartError([`${file} is not a complete backup.`]) : known;
  });
  await migrate(handle)
    .catch((error: unknown) => explainRefusal(explainNoRoom(error, dataDir)))
    .finally(() => handle.close());
}

/** Creates the data directory if it is missing. @throws StartError if it cannot be written */
export function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.W_OK);
  } catch {
    throw new StartError([
      `DATA_DIR ${dataDir} cannot be written: choose another folder or change its permissions.`,
    ]);
  }
}

type ServerEnv = Pick<Env, 'databaseUrl' | 'databaseUrlDirect' | 'databasePooler'>;

/** Error code with which a pooler refuses a connection that requests session settings. */
const PROTOCOL_VIOLATION = '08P01';
const NEEDS_DIRECT =
  'A dry run needs a session of its own, which the pooler of DATABASE_URL does not provide: set DATABASE_URL_DIRECT to the address of the database itself.';

const UNPATCHED =
  'The PostgreSQL driver is not patched, because npm ci ran with --ignore-scripts: run npx patch-package, then npm run build.';

/**
 * Opens the database of DATABASE_URL and makes sure that it has this version's schema. Detects a pooler unless
 * DATABASE_POOLER is set.
 *
 * @param url the value of DATABASE_URL
 * @throws StartError that says what to do; NotMigratedError
 */
async function openServer(url: string, { databasePooler }: ServerEnv): Promise<DatabaseHandle> {
  requirePatchedDriver();
  const configured = databasePooler === 'transaction' ? TRANSACTION_POOLER : undefined;
  const handle = await openMigrated(url, openPostgres(url, { pooler: configured }));
  if (databasePooler || (await isDirect(handle.db))) return handle;
  const pooler = await probePooler(url);
  if (!pooler.sharesSessions) return handle;
  await handle.close();
  return openPostgres(url, { pooler });
}

/**
 * Opens one direct session to the server. It can read all tables, but write only its own temporary tables.
 *
 * @throws StartError that says what to do; NotMigratedError
 */
async function openScratch(url: string, { databaseUrlDirect }: ServerEnv): Promise<DatabaseHandle> {
  requirePatchedDriver();
  const direct = databaseUrlDirect ?? url;
  const handle = openPostgres(direct, { scratch: true });
  const isRefused = await handle.db.execute('select 1').then(
    () => false,
    (error: unknown) => pgErrorCode(error) === PROTOCOL_VIOLATION, // `openMigrated` explains any other error.
  );
  if (isRefused) {
    await handle.close();
    throw new StartError([NEEDS_DIRECT]);
  }
  await openMigrated(direct, handle);
  if ((await isDirect(handle.db)) || !(await probePooler(direct)).sharesSessions) return handle;
  await handle.close();
  throw new StartError([NEEDS_DIRECT]);
}

/**
 * Migrates the database of DATABASE_URL to this version, through DATABASE_URL_DIRECT if that is set. Does nothing for
 * the embedded database, which is migrated when it is opened.
 *
 * @throws StartError that says what to do; NotMigratedError if this version's migrations cannot be applied
 */
export async function migrateServer({ databaseUrl, databaseUrlDirect }: ServerEnv): Promise<void> {
  const url = databaseUrlDirect ?? databaseUrl;
  if (!url) return;
  requirePatchedDriver();
  await withServer(url, (db) => migrate({ db }).catch(explainRefusal));
}

/**
 * Connects to a server's database, runs `use` and disconnects. The database may have the schema of any version.
 *
 * @throws StartError that explains why the database cannot be reached
 */
export async function withServer<T>(url: string, use: (db: Database) => Promise<T>): Promise<T> {
  const handle = openPostgres(url, { max: 1, pooler: TRANSACTION_POOLER });
  const answer = await tryServer(handle, url, () => use(handle.db));
  await handle.close();
  return answer;
}

function requirePatchedDriver(): void {
  if (!isDriverPatched()) throw new StartError([UNPATCHED]);
}

async function openMigrated(url: string, handle: DatabaseHandle): Promise<DatabaseHandle> {
  await tryServer(handle, url, () => requireMigrated(handle.db));
  return handle;
}

const ANSWER_MS = 15_000;

/**
 * Messages for connection errors that the operator can correct, by error code. An entry with a pattern for the URL
 * applies only to a matching DATABASE_URL. The first entry that applies is reported.
 */
const SENTENCES: [code: RegExp, sentence: string, url?: RegExp][] = [
  [
    /^42501$/,
    'The user of DATABASE_URL lacks rights in that database: make the user the owner (alter database NAME owner to USER), or grant it create on database NAME and on schema public.',
  ],
  [/^28P01$/, 'The server of DATABASE_URL rejected the user or the password: check both.'],
  [
    /^28...$/,
    'The server of DATABASE_URL rejected the user: check the user, and whether pg_hba.conf allows connections from this machine.',
  ],
  [/^3D000$/, 'The server of DATABASE_URL has no database of that name: create it, or correct the name.'],
  [
    /^(ECONNRESET|EPROTO|ERR_SSL_\w+)$/,
    'The server of DATABASE_URL closed the connection when SSL was requested: turn SSL on there, or remove sslmode from the address.',
    /[?&](ssl|sslmode)=(?!disable|false|prefer|allow)/,
  ],
  [
    /CERT|^UNABLE_TO_/,
    'The certificate of the server of DATABASE_URL is not trusted: install a trusted one, or set sslmode=require, which does not verify it.',
  ],
  [
    /^42704$/,
    'The server of DATABASE_URL rejected a parameter of the address: check the part after the question mark.',
  ],
];

/**
 * Connects to a server's database for the first time, and runs `use`. The connection has a timeout, because a server
 * that does not speak PostgreSQL may never answer. After an error, the handle is closed.
 *
 * @throws StartError that explains why the database cannot be reached
 */
export async function tryServer<T>(handle: DatabaseHandle, url: string, use: () => Promise<T>): Promise<T> {
  const silence = new AbortController();
  const tooLong = sleep(ANSWER_MS, undefined, { signal: silence.signal }).then(() => {
    throw Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' });
  });
  try {
    await Promise.race([handle.db.execute(sql`select 1`), tooLong]);
    silence.abort();
    return await use();
  } catch (error) {
    await handle.close();
    throw toStartError(error, url);
  } finally {
    tooLong.catch(() => {}); // Ignore the rejection. It is either the abort, or was already thrown above.
  }
}

function toStartError(error: unknown, address: string): unknown {
  const found = pgErrorCode(error) ?? '';
  const known = SENTENCES.find(([code, , url]) => code.test(found) && (!url || url.test(address)));
  if (known) return new StartError([known[1]]);
  if (!isDatabaseUnavailable(error)) return error;
  return new StartError(['The database of DATABASE_URL does not answer: start it, or correct its address.']);
}

const FOREIGN =
  'This database was created by a version before the first release, whose migrations no longer exist: start with an empty one (another DATABASE_URL or DATA_DIR).';

const NOT_UNICODE =
  "This database cannot store every name: create one with encoding 'UTF8' (create database w5t encoding 'UTF8' template template0) on a PostgreSQL built with ICU, like the common packages and hosting providers use.";

const newerSentence = ({ found, known }: NewerDatabaseError) =>
  `This database belongs to a newer version: it has ${found} migrations, and this version knows ${known}. Start the newer version, or restore a backup from before its migration.`;

/** Checks that the database has exactly this version's migrations. @throws NotMigratedError if it does not */
export async function requireMigrated(db: Database): Promise<void> {
  if (!(await isMigrated(db).catch(explainRefusal))) throw new NotMigratedError();
}

/** Converts an error that prevents migration to a NotMigratedError that says what to do. Rethrows any other error. */
function explainRefusal(error: unknown): never {
  if (error instanceof ForeignMigrationsError) throw new NotMigratedError(FOREIGN);
  if (error instanceof NewerDatabaseError) throw new NotMigratedError(newerSentence(error));
  throw error instanceof NotUnicodeError ? new NotMigratedError(NOT_UNICODE) : error;
}
