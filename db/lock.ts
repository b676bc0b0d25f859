import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

interface Owner {
  pid: number;
  /** Path of the socket on which the process accepts commands. */
  socket?: string;
  /** The result of `startOf`, which distinguishes the process from a later process with the same id. */
  started: string;
}

export class DataDirBusyError extends Error {
  constructor(
    readonly pid: number,
    readonly socket: string | undefined,
  ) {
    super(`process ${pid} has it open`);
  }
}

/**
 * Locks a folder, such as the embedded database's, for this process. Takes over the lock of a process that no longer
 * runs, even if the process ended by SIGKILL or before a reboot.
 *
 * @returns a function that releases the lock, which also happens at exit
 * @throws DataDirBusyError while any process holds the lock, even this process
 */
export function lockDataDir(dataDir: string): () => void {
  const file = join(dataDir, 'lock.json');
  mkdirSync(dataDir, { recursive: true });
  const draft = `${file}.${process.pid}.tmp`;
  try {
    writeOwner(draft, { pid: process.pid, started: startOf(process.pid) });
    while (!linkNew(draft, file)) removeIfDead(file);
  } finally {
    rmSync(draft, { force: true });
  }
  const release = () => rmSync(file, { force: true });
  process.once('exit', release);
  return () => {
    process.removeListener('exit', release);
    release();
  };
}

/** Writes the path of this process's command socket into its lock file. */
export function nameSocket(dataDir: string, socket: string): void {
  const file = join(dataDir, 'lock.json');
  const draft = `${file}.${process.pid}.tmp`;
  writeOwner(draft, { pid: process.pid, started: startOf(process.pid), socket });
  renameSync(draft, file); // Replace the file atomically, because another process treats a half-written lock as stale.
}

/** Waits until a folder's lock is free, and locks the folder. @returns a function that releases the lock */
export async function waitForLock(folder: string): Promise<() => void> {
  for (;;) {
    try {
      return lockDataDir(folder);
    } catch (error) {
      if (!(error instanceof DataDirBusyError)) throw error;
      await sleep(500);
    }
  }
}

function writeOwner(file: string, owner: Owner): void {
  writeFileSync(file, JSON.stringify(owner), { mode: 0o600 });
}

/**
 * Gives the complete draft the name of the lock file, because another process treats a half-written lock as stale.
 *
 * @returns false if the lock file exists
 */
function linkNew(draft: string, file: string): boolean {
  try {
    linkOrCopy(draft, file);
    return true;
  } catch (error) {
    if (!isTaken(error)) throw error;
    return false;
  }
}

function linkOrCopy(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (error) {
    if (isTaken(error)) throw error;
    copyFileSync(draft, file, constants.COPYFILE_EXCL); // The file system may have no hard links.
  }
}

const isTaken = (error: unknown) => (error as NodeJS.ErrnoException).code === 'EEXIST';

function removeIfDead(file: string): void {
  const owner = readOwner(file);
  if (owner && startOf(owner.pid) === owner.started) throw new DataDirBusyError(owner.pid, owner.socket);
  // Rename the file first, so that only one of two processes that find the same stale lock removes it.
  const grave = `${file}.${process.pid}`;
  try {
    renameSync(file, grave);
    const buried = readOwner(grave);
    if (buried && startOf(buried.pid) === buried.started && !existsSync(file)) renameSync(grave, file);
    else rmSync(grave, { force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function readOwner(file: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Owner;
  } catch {
    return undefined; // Another process has just removed the file, or a crash left it half-written.
  }
}

/** Returns the boot id and start tick of a running process ('alive' without /proc), or 'gone' if it has ended. */
function startOf(pid: number): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return `${boot}:${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
  } catch {
    if (existsSync('/proc/self/stat')) return 'gone';
  }
  try {
    process.kill(pid, 0);
    return 'alive';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? 'alive' : 'gone';
  }
}
