import './failed-statements';
import { mkdirSync } from 'node:fs';
import { PGlite, type Transaction, types } from '@electric-sql/pglite';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { sql } from 'drizzle-orm';
import { drizzle as drizzlePglite } from 'drizzle-orm/pglite';
import { drizzle as drizzlePostgres } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import { answerWithin, type Database, pgErrorCode, READ_ONLY } from './database';
import { DiskRoom, holdsDatabase, keepPrivate, NoRoomError, openFiles, PrivateFs } from './embedded-files';
import { lockDataDir } from './lock';
import { limitWriters } from './transaction';

export interface DatabaseHandle {
  db: Database;
  kind: 'postgres' | 'embedded';
  close(): Promise<void>;
  /** Copies the current content into an in-memory database. Only the embedded database has this function. */
  copy?: () => Promise<DatabaseHandle>;
  /** Returns the whole current database as a gzipped tar archive. Only the embedded database has this function. */
  dump?: () => Promise<Blob>;
}

/** Returns false if our patch (see patches/) is not applied to postgres.js, as after `npm install --ignore-scripts`. */
export const isDriverPatched = (): boolean => 'survivesLostConnections' in postgres;

/**
 * Creates a connection pool for a PostgreSQL server (15 or newer). The pool connects on the first query. Time limits
 * are not connection parameters, because a pooler would refuse them. `transact` and `readLimited` set them in each
 * transaction.
 *
 * @param options.pooler the pooler between us and the server, if any
 * @param options.scratch whether to use a single persistent connection that can write to temporary tables only
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
    // A pooler may give the session to another client after a response, even if the next query has already been sent:
    // https://github.com/pgbouncer/pgbouncer/issues/759
    ...(options.pooler?.sharesSessions && { share_busy: false }),
    onnotice: () => {},
    connection: {
      application_name: 'w5t',
      // A new connection has none of the temporary tables, so its writes would change the real tables.
      ...(options.scratch && { default_transaction_read_only: true }),
    },
  });
  const db = drizzlePostgres({ client });
  limitWriters(db, max);
  return { db, kind: 'postgres', close: () => client.end({ timeout: 3 }) };
}

/**
 * Opens the embedded database of a folder for this process alone. Creates the database if the folder contains none.
 *
 * @throws DataDirBusyError while a process, even this one, has the folder open
 * @throws DamagedDatabaseError if the folder contains a damaged database, or traces of a missing one
 * @throws NoRoomError if the disk has too little free space
 */
export function openEmbedded(dataDir: string, room = new DiskRoom(dataDir)): Promise<DatabaseHandle> {
  return openFolder(dataDir, room, {});
}

/** Thrown when a backup is restored into a folder with a database or traces of one. See `holdsDatabase`. */
export class DataDirTakenError extends Error {}

/**
 * Restores a dump into a folder without a database, and opens it. If that fails, the folder contains no database.
 *
 * @throws DataDirTakenError, DataDirBusyError; other errors, for example if the dump cannot be read
 */
export async function restoreEmbedded(dataDir: string, image: Blob): Promise<DatabaseHandle> {
  if (holdsDatabase(dataDir)) throw new DataDirTakenError();
  return openFolder(dataDir, new DiskRoom(dataDir), { loadDataDir: image });
}

/** Maximum number of files that PGlite keeps open. The default is 1,000, but many systems allow a process only 256. */
const MAX_FILES = 100;
/** Size to which checkpoints shorten the write-ahead log. PostgreSQL's default is a gigabyte. */
const MAX_LOG = '64MB';
const START_PARAMS = [
  `max_files_per_process=${MAX_FILES}`,
  `max_wal_size=${MAX_LOG}`,
  'min_wal_size=32MB',
  'shared_buffers=32MB',
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
      parsers: PARSERS,
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

/** Opens an in-memory database, for tests and dry runs. @param template a dump to start from, made by `dumpDataDir` */
export async function openInMemory(template?: Blob): Promise<DatabaseHandle & { client: PGlite }> {
  const client = await PGlite.create({
    extensions: { pg_trgm },
    parsers: PARSERS,
    ...(template && { loadDataDir: template }),
  });
  return { ...embeddedHandle(client), client };
}

function embeddedHandle(client: PGlite | EmbeddedClient, unlock?: () => void): DatabaseHandle {
  return {
    db: drizzleOn(client),
    kind: 'embedded',
    close: async () => {
      await client.close();
      unlock?.();
    },
    copy: async () => openInMemory(await client.dumpDataDir('none')),
    dump: () => client.dumpDataDir('gzip'),
  };
}

type Query = PGlite['query'];

// Drizzle parses the text of these types itself, so PGlite must return the text. The numbers are the type ids
// of numeric[] and of arrays of the four types before them.
const PARSERS = Object.fromEntries(
  [types.TIMESTAMP, types.TIMESTAMPTZ, types.INTERVAL, types.DATE, 1231, 1115, 1185, 1187, 1182].map(
    (type) => [type, (text: string) => text],
  ),
);

/**
 * Connects Drizzle to an embedded database that was opened with `PARSERS`. Drizzle also passes these parsers
 * with each statement. This function removes them there, because PGlite would merge them with its own for each message
 * of the response. Merging takes a third of the time of a small statement.
 */
export function drizzleOn(client: Pick<PGlite, 'query' | 'transaction'>): Database {
  const withoutParsers =
    (run: Query): Query =>
    (text, parameters, options) =>
      run(text, parameters, options?.rowMode ? { rowMode: options.rowMode } : {});
  const lean: typeof client = {
    query: withoutParsers((...given) => client.query(...given)),
    transaction: (work) =>
      client.transaction((tx) =>
        work(Object.assign(Object.create(tx), { query: withoutParsers((...given) => tx.query(...given)) })),
      ),
  };
  return drizzlePglite({ client: lean as PGlite });
}

/**
 * Drizzle's client for the embedded database of a folder. While the disk has too little space for writes, transactions
 * are read-only. If the write-ahead log still runs out of space, statements are refused until there is space and the
 * database has been reopened.
 */
class EmbeddedClient {
  private isReadOnly = false;
  private opening: Promise<void> | undefined;

  private constructor(
    private opened: ReturnType<typeof watch>,
    private readonly room: DiskRoom,
    private readonly open: () => Promise<PGlite>,
  ) {}

  /** @param open opens the files of the folder; called again after the write-ahead log ran out of space */
  static async create(room: DiskRoom, open: () => Promise<PGlite>): Promise<EmbeddedClient> {
    return new EmbeddedClient(watch(await open(), room), room, open);
  }

  private get pglite(): PGlite {
    return this.opened.pglite;
  }

  readonly query: Query = async (...given) => {
    await this.prepare();
    return this.pglite.query<never>(...given).catch((error) => this.fail(error));
  };

  async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    await this.prepare();
    return this.pglite
      .transaction((tx) => work(Object.assign(Object.create(tx), { query: this.queryInside(tx) })))
      .catch((error) => this.fail(error));
  }

  async dumpDataDir(compression: 'none' | 'gzip'): Promise<File | Blob> {
    await this.prepare();
    return this.pglite.dumpDataDir(compression);
  }

  close(): Promise<void> {
    return this.pglite.close();
  }

  private async prepare(): Promise<void> {
    const { room } = this;
    if (this.opened.isBroken()) await this.reopen();
    const isReadOnly = !room.hasWriteRoom();
    if (isReadOnly !== this.isReadOnly) {
      await this.pglite.exec(`set default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`);
      this.isReadOnly = isReadOnly;
    }
    if (!isReadOnly) room.keepReserve();
    if (room.hasLogGrown) {
      room.hasLogGrown = false;
      await this.pglite.exec('checkpoint'); // PGlite has no checkpointer, so its log would grow without limit.
    }
  }

  /** Checks the free space before each query, because a long transaction may use up the space that was free. */
  private queryInside(tx: Transaction): Query {
    return async (...given) => {
      if (!this.isReadOnly && !this.room.hasWriteRoom()) await tx.exec('set transaction_read_only = on');
      return tx.query<never>(...given).catch((error) => this.fail(error));
    };
  }

  private fail(error: unknown): never {
    const isForRoom =
      this.opened.isBroken() || (pgErrorCode(error) === READ_ONLY && !this.room.hasWriteRoom());
    throw isForRoom ? new NoRoomError(error) : error;
  }

  private reopen(): Promise<void> {
    this.opening ??= this.openAgain().finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  private async openAgain(): Promise<void> {
    if (!this.room.hasWriteRoom()) throw new NoRoomError();
    this.opened = watch(await this.open(), this.room);
    this.isReadOnly = false;
  }
}

/**
 * Refuses all messages after a failed write to the write-ahead log, because PostgreSQL then hangs on any message, even
 * a rollback.
 */
function watch(pglite: PGlite, room: DiskRoom) {
  const send = pglite.execProtocolRawSync.bind(pglite);
  const failures = room.logFailures;
  const isBroken = () => room.logFailures !== failures;
  pglite.execProtocolRawSync = (message) => {
    if (isBroken()) throw new NoRoomError();
    return send(message);
  };
  return { pglite, isBroken };
}

/** How a pooler treats its clients. */
interface Pooler {
  /** True if each transaction of a connection may run in a different server session, shared with others. */
  sharesSessions: boolean;
  /** True if a connection finds its prepared statements in every session that the pooler gives it. */
  keepsStatements: boolean;
}

/** Settings that are safe with every pooler. */
export const TRANSACTION_POOLER: Pooler = { sharesSessions: true, keepsStatements: false };

/** On a busy machine, a session that is free may need seconds to answer. */
const PATIENCE_MS = 10_000;

/**
 * Returns whether the connection goes directly to the server. Behind a pooler, the process id that the driver
 * received when it connected differs from the process id of the server session.
 */
export async function isDirect(db: Database): Promise<boolean> {
  const answer = await db.execute(sql`select pg_backend_pid()`);
  const [row, { state }] = [
    ...(answer as [Answer]),
    answer as unknown as { state: { pid: number } },
  ] as const;
  return row.pg_backend_pid === state.pid;
}

/**
 * Tests how the pooler behaves. One connection prepares a statement. While a second connection occupies a session, the
 * first runs the statement again. Returns `TRANSACTION_POOLER` if the server reports an error, or if the second run
 * gets no answer within `PATIENCE_MS`. Throws all other errors, such as a lost connection.
 */
export async function probePooler(url: string): Promise<Pooler> {
  const open = () =>
    postgres(serverUrl(url), { max: 1, fetch_types: false, connect_timeout: 10, onnotice() {} });
  const [first, second] = [open(), open()];
  try {
    // Outside a transaction, the driver would prepare a missing statement again and hide that it was missing.
    const run = () => first.begin((tx) => pidOf(tx));
    const before = await run();
    const tried = second.begin(async (tx) => {
      const [{ pg_backend_pid: taken } = { pg_backend_pid: before }] = await tx<
        Answer[]
      >`select pg_backend_pid()`;
      const after = await answerWithin(PATIENCE_MS, run());
      return (
        after !== undefined && { sharesSessions: taken === before || after !== before, keepsStatements: true }
      );
    });
    return (await tried) || TRANSACTION_POOLER;
  } catch (error) {
    if (!(error instanceof postgres.PostgresError)) throw error;
    return TRANSACTION_POOLER;
  } finally {
    await Promise.all([first, second].map((one) => one.end({ timeout: 1 })));
  }
}

interface Answer {
  pg_backend_pid: number;
}

async function pidOf(tx: postgres.TransactionSql): Promise<number | undefined> {
  const [row] = await tx<Answer[]>`select pg_backend_pid() where ${1}::int = 1`;
  return row?.pg_backend_pid;
}

/** URL parameters for the client only. Providers put them into their URLs, but the server would refuse them. */
const OF_CLIENT = /^(channel_binding|pgbouncer)=/;

/** Removes client-only parameters from a database URL, because the driver passes unknown parameters to the server. */
export function serverUrl(url: string): string {
  const [before = '', after] = url.split(/\?(.*)/s);
  if (after === undefined) return url;
  const kept = after.split('&').filter((parameter) => !OF_CLIENT.test(parameter));
  return kept.length > 0 ? `${before}?${kept.join('&')}` : before;
}
