import { existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

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
