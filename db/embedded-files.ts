import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  type StatsFs,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

/** Thrown if a data directory contains a damaged database, or traces of a missing one. See `holdsDatabase`. */
export class DamagedDatabaseError extends Error {}

type Create = (path: string) => Promise<PGlite>;

const pathOf = (dataDir: string) => join(dataDir, 'pglite');

/**
 * Returns the path of a marker file. The file exists while a database is being created or restored. After a crash, it
 * shows that the database is unfinished and can be deleted, unless the folder has files of our tables.
 */
const markerOf = (dataDir: string) => join(dataDir, 'pglite-unfinished');

/** The file that reserves space for the write-ahead log, see `DiskRoom`. Only an opened database creates it. */
const reserveOf = (dataDir: string) => join(dataDir, 'pglite-reserve');

/**
 * Returns true if a data directory contains a database, even a damaged one, or traces of a database that is missing,
 * for example because its disk is not mounted. Returns false while the database is being created.
 */
export function holdsDatabase(dataDir: string): boolean {
  const path = pathOf(dataDir);
  if (existsSync(path) && readdirSync(path).length > 0) {
    return !existsSync(markerOf(dataDir)) || holdsTables(path);
  }
  return isDeadLink(path) || existsSync(reserveOf(dataDir)) || existsSync(join(dataDir, 'PG_VERSION'));
}

const isDeadLink = (path: string): boolean =>
  !existsSync(path) && lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** The lowest file number that our tables can have. PostgreSQL uses smaller numbers for its own tables. */
const FIRST_OWN_FILE = 16_384;

/** Returns true if a folder has files of our tables. Its marker file is then out of date and can be ignored. */
function holdsTables(path: string): boolean {
  const base = join(path, 'base');
  if (!existsSync(base)) return false;
  const files = readdirSync(base, { recursive: true, encoding: 'utf8' });
  return files.some((file) => Number.parseInt(basename(file), 10) >= FIRST_OWN_FILE);
}

/**
 * Opens the embedded database of a data directory, or creates it if the directory has none. The caller must hold the
 * lock of the directory. PGlite treats a folder without the file PG_VERSION as empty and overwrites all other files
 * with a new database, so this function passes PGlite either a new folder or one with PG_VERSION.
 *
 * @throws DamagedDatabaseError if a file is missing or PostgreSQL cannot start; no file of the database is deleted
 * @throws NoRoomError if the disk has too little space, which PostgreSQL would report as damage
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
  if (isDeadLink(path)) throw new DamagedDatabaseError('pglite is a link to a missing folder');
  if (!existsSync(path) && existsSync(join(dataDir, 'PG_VERSION')))
    throw new DamagedDatabaseError(
      'DATA_DIR is the folder of a database, not the folder that contains pglite',
    );
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
  rmSync(markerOf(dataDir), { force: true });
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
 * Checks that each table, index and sequence has its file, because PostgreSQL notices a missing file only when it reads
 * the file. Files of temporary tables may be missing, because PostgreSQL removes them after a crash but keeps their
 * catalog rows.
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

/** The permission bits of the group and of all other users. */
const OTHERS = 0o077;
/** Entries in DATA_DIR to restrict. An operator may have chosen a folder that also contains other files. */
const OURS = /^(pglite|lock\.json|demo\.json|better-auth-secret|stripe-local)/;

/** Restricts DATA_DIR and the entries of `OURS` to their owner. Skips other users' files, which only they can change. */
export function keepPrivate(dataDir: string): void {
  restrict(dataDir);
  for (const name of readdirSync(dataDir)) {
    if (OURS.test(name)) restrictTree(join(dataDir, name));
  }
}

function restrictTree(path: string): void {
  if (!restrict(path)) return;
  for (const name of readdirSync(path)) restrictTree(join(path, name));
}

/** Restricts a file or folder to its owner. Returns true if it is a folder. */
function restrict(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found || found.isSymbolicLink()) return false;
  const isMine = process.getuid === undefined || [0, found.uid].includes(process.getuid());
  if (isMine && (found.mode & OTHERS) !== 0) chmodSync(path, found.mode & ~OTHERS & 0o7777);
  return found.isDirectory();
}

type Options = Parameters<NodeFS['init']>[1];
type Attributes = { mode?: number | undefined };
type Write = (stream: { path?: string }, ...more: unknown[]) => number;

/** The functions of Emscripten's node file system that create files, set permissions and write. */
interface Nodefs {
  node_ops: { mknod(parent: unknown, name: string, mode: number, dev: unknown): unknown };
  stream_ops: { write: Write };
  doSetAttr(file: unknown, node: unknown, attributes: Attributes, ...more: unknown[]): void;
}

/** Emscripten's numbers for ENOSPC and EDQUOT. */
const NO_SPACE = [51, 19];

/**
 * A file system that creates PGlite's files for their owner only. PGlite alone would make them readable and writable
 * for every user. If a write to the write-ahead log finds no space, the file system deletes the reserve file and
 * retries.
 */
export class PrivateFs extends NodeFS {
  constructor(
    path: string,
    private readonly room: DiskRoom,
  ) {
    super(path);
  }

  override async init(pg: PGlite, options: Options) {
    const { emscriptenOpts } = await super.init(pg, options);
    const preRun = [emscriptenOpts.preRun ?? []].flat();
    const watch = (postgres: object) => watchFiles(postgres as { NODEFS: Nodefs }, this.room);
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [watch, ...preRun] } };
  }
}

/**
 * Makes PGlite create files for their owner only. Records in `room` whether the write-ahead log grew or a write found
 * no space.
 */
function watchFiles({ NODEFS: nodefs }: { NODEFS: Nodefs }, room: DiskRoom): void {
  const { doSetAttr, node_ops, stream_ops } = nodefs;
  const { mknod } = node_ops;
  const { write } = stream_ops;
  node_ops.mknod = (parent, name, mode, dev) => {
    if (name.startsWith('xlogtemp')) room.hasLogGrown = true;
    return mknod(parent, name, mode & ~OTHERS, dev);
  };
  nodefs.doSetAttr = (file, node, { mode, ...others }, ...more) => {
    const attributes = mode === undefined ? others : { ...others, mode: mode & ~OTHERS };
    doSetAttr(file, node, attributes, ...more);
  };
  stream_ops.write = (stream, ...more) => {
    try {
      return write(stream, ...more);
    } catch (error) {
      if (!NO_SPACE.includes((error as { errno?: number }).errno ?? 0)) throw error;
      room.wasMissed = true;
      if (!stream.path?.includes('/pg_wal/')) throw error;
      if (room.spendReserve()) return stream_ops.write(stream, ...more);
      room.logFailures += 1;
      throw error;
    }
  };
}

const MEGABYTE = 2 ** 20;
/** Bytes that a writing statement needs: one segment of the write-ahead log (16 MB), and as much again for its rows. */
const WRITE_ROOM = 32 * MEGABYTE;
/** Bytes to keep for reading statements: one segment of the write-ahead log, because reads also write to the log. */
const RESERVE = 16 * MEGABYTE;
/** Size of a new database in bytes, without the space for writes. */
const NEW_DATABASE = 48 * MEGABYTE;

/** Thrown if the disk of the embedded database has too little free space. */
export class NoRoomError extends Error {
  /** The SQLSTATE disk_full, so that callers treat it like a full disk of a server. */
  readonly code = '53100';

  constructor(cause?: unknown) {
    super('no room on the disk', { cause });
  }
}

/** New files that a writing statement may need: log segments, and files of a table and its indexes. */
const WRITE_FILES = 16;

/**
 * Returns the free bytes of a disk. Returns 0 if the disk has room for fewer than `WRITE_FILES` more files.
 *
 * @param disk statistics of `statfs`. File systems without a limit on files report `files` as 0.
 */
export function usableBytes({ bavail, bsize, files, ffree }: DiskStatistics): number {
  return files > 0 && ffree < WRITE_FILES ? 0 : bavail * bsize;
}

type DiskStatistics = Pick<StatsFs, 'bavail' | 'bsize' | 'files' | 'ffree'>;

/** Returns the usable bytes on a folder's disk. Returns null if the folder does not exist (a database in memory). */
export function bytesFree(folder: string): number | null {
  try {
    return usableBytes(statfsSync(folder));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Returns true if the disk of a data directory has enough space for writes to the embedded database. */
export const hasWriteRoom = (dataDir: string): boolean => (bytesFree(dataDir) ?? WRITE_ROOM) >= WRITE_ROOM;

/** Returns true if a file system error reports a full disk or an exceeded quota. */
export const isNoSpace = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');

/**
 * Watches the disk space of an embedded database. If PostgreSQL cannot write a segment of the write-ahead
 * log, its next statement never ends. The reserve is a file as large as a segment. Deleting it keeps reads
 * working after another program has filled the disk.
 */
export class DiskRoom {
  /** True if a write to any file failed because the disk was full. */
  wasMissed = false;
  /** Number of failed writes to the write-ahead log. After a failure, PostgreSQL must get no statements. */
  logFailures = 0;
  /** True if the write-ahead log has grown since the last checkpoint. */
  hasLogGrown = false;
  private readonly reserve: string;
  private isReserved: boolean;

  constructor(private readonly dataDir: string) {
    this.reserve = reserveOf(dataDir);
    this.isReserved = existsSync(this.reserve);
  }

  /** Returns the usable bytes on the disk. Returns infinity if the folder does not exist. */
  free(): number {
    return bytesFree(this.dataDir) ?? Number.POSITIVE_INFINITY;
  }

  hasWriteRoom(): boolean {
    return this.free() >= WRITE_ROOM;
  }

  /** Checks the free space. @throws NoRoomError if there is too little space to open the database, or to create one */
  requireRoom(isNew: boolean): void {
    if (isNew ? this.free() < NEW_DATABASE + WRITE_ROOM : !this.isReserved && !this.hasWriteRoom())
      throw new NoRoomError();
  }

  /** Creates the reserve file, unless it exists or the disk has too little space. */
  keepReserve(): void {
    if (this.isReserved || this.free() < WRITE_ROOM + RESERVE) return;
    try {
      writeFileSync(this.reserve, Buffer.alloc(RESERVE), { mode: 0o600 });
      this.isReserved = true;
    } catch (error) {
      rmSync(this.reserve, { force: true });
      if (!isNoSpace(error)) throw error; // Another program may have taken the space. The next statement tries again.
    }
  }

  /** Deletes the reserve file to make space for the write-ahead log. Returns false if the reserve does not exist. */
  spendReserve(): boolean {
    if (!this.isReserved) return false;
    rmSync(this.reserve, { force: true });
    this.isReserved = false;
    return true;
  }
}
