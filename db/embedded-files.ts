import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

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

/** Permissions of everybody but the owner. */
const OTHERS = 0o077;
/** Our own entries of DATA_DIR. An operator may have chosen a folder that also holds other things. */
const OURS = /^(pglite|lock\.json|demo\.json|better-auth-secret|stripe-local)/;

/**
 * Makes DATA_DIR and our entries in it accessible to their owner only. Entries of another user are left as they are,
 * since only that user can change them.
 */
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

/** @returns whether it is a folder */
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

/** The parts of Emscripten's file system on top of node's that set modes and write. */
interface Nodefs {
  node_ops: { mknod(parent: unknown, name: string, mode: number, dev: unknown): unknown };
  stream_ops: { write: Write };
  doSetAttr(file: unknown, node: unknown, attributes: Attributes, ...more: unknown[]): void;
}

/** ENOSPC and EDQUOT, by Emscripten's numbers. */
const NO_SPACE = [51, 19];

/**
 * PGlite's files, for their owner alone: by itself it makes them for everybody, to read and to write. A write-ahead
 * log that finds no room takes the reserve.
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
    const watch = (postgres: object) => watchRoom((postgres as { NODEFS: Nodefs }).NODEFS, this.room);
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [restrictModes, watch, ...preRun] } };
  }
}

function restrictModes(postgres: object): void {
  const { NODEFS: nodefs } = postgres as { NODEFS: Nodefs };
  const { doSetAttr, node_ops } = nodefs;
  const { mknod } = node_ops;
  node_ops.mknod = (parent, name, mode, dev) => mknod(parent, name, mode & ~0o077, dev);
  nodefs.doSetAttr = (file, node, { mode, ...others }, ...more) => {
    const attributes = mode === undefined ? others : { ...others, mode: mode & ~0o077 };
    doSetAttr(file, node, attributes, ...more);
  };
}

function watchRoom({ node_ops, stream_ops }: Nodefs, room: DiskRoom): void {
  const { mknod } = node_ops;
  const { write } = stream_ops;
  node_ops.mknod = (parent, name, mode, dev) => {
    if (name.startsWith('xlogtemp')) room.hasLogGrown = true;
    return mknod(parent, name, mode, dev);
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
/** The write-ahead log grows by segments of 16 MB. A statement that may write needs one, and as much again for rows. */
const WRITE_ROOM = 32 * MEGABYTE;
/** One segment of the write-ahead log, for statements that only read: they write to the log, too. */
const RESERVE = 16 * MEGABYTE;
/** What a new database needs, besides the room for writes. */
const NEW_DATABASE = 48 * MEGABYTE;

/** The disk of the embedded database has too little room for it. */
export class NoRoomError extends Error {
  /** SQLSTATE disk_full. */
  readonly code = '53100';

  constructor(cause?: unknown) {
    super('no room on the disk', { cause });
  }
}

/** Bytes that are free on the disk of a folder. Null if there is no such folder: the database is in memory. */
export function bytesFree(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** True if writes to the embedded database of a data directory fit on its disk. */
export const hasWriteRoom = (dataDir: string): boolean => (bytesFree(dataDir) ?? WRITE_ROOM) >= WRITE_ROOM;

/** True for an error of the file system that says that the disk or the quota is full. */
export const isNoSpace = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');

/**
 * The room on the disk of an embedded database. A segment of its write-ahead log that finds no room leaves PostgreSQL
 * in a state in which the next statement never ends. The reserve is a file that makes room for one segment, so that
 * reading goes on after another program has filled the disk.
 */
export class DiskRoom {
  /** A file found no room. */
  wasMissed = false;
  /** How often the write-ahead log found no room. No statement may reach a PostgreSQL to which that happened. */
  logFailures = 0;
  /** The write-ahead log has grown since the last checkpoint. */
  hasLogGrown = false;
  private readonly reserve: string;
  private isReserved: boolean;

  constructor(private readonly dataDir: string) {
    this.reserve = join(dataDir, 'pglite-reserve');
    this.isReserved = existsSync(this.reserve);
  }

  /** Bytes that are free. */
  free(): number {
    return bytesFree(this.dataDir) ?? Number.POSITIVE_INFINITY;
  }

  hasWriteRoom(): boolean {
    return this.free() >= WRITE_ROOM;
  }

  /** @throws NoRoomError if the database of the folder, or a new one, could not be opened */
  requireRoom(isNew: boolean): void {
    if (isNew ? this.free() < NEW_DATABASE + WRITE_ROOM : !this.isReserved && !this.hasWriteRoom())
      throw new NoRoomError();
  }

  /** Makes the reserve, unless it is there or has no room. */
  keepReserve(): void {
    if (this.isReserved || this.free() < WRITE_ROOM + RESERVE) return;
    try {
      writeFileSync(this.reserve, Buffer.alloc(RESERVE), { mode: 0o600 });
      this.isReserved = true;
    } catch (error) {
      rmSync(this.reserve, { force: true });
      if (!isNoSpace(error)) throw error; // the room was just taken: the next statement tries again
    }
  }

  /** Gives the room of the reserve to the write-ahead log. @returns false if there is no reserve */
  spendReserve(): boolean {
    if (!this.isReserved) return false;
    rmSync(this.reserve, { force: true });
    this.isReserved = false;
    return true;
  }
}
