import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

interface Owner {
  pid: number;
  /** Path of the socket on which the process accepts commands. */
  socket?: string;
  /** The result of `startOf`, which distinguishes the process from a later process with the same id. */
  started: string;
  /** The result of `pidNamespace`. Missing in locks of older versions, and without /proc. */
  namespace?: string | undefined;
}

export class DataDirBusyError extends Error {
  constructor(
    readonly pid: number,
    readonly socket: string | undefined,
  ) {
    super(`process ${pid} has it open`);
  }
}

/** Milliseconds without a heartbeat after which a process of another PID namespace counts as ended. */
const SILENT_MS = 10_000;

/**
 * Locks a folder, such as the embedded database's, for this process. Takes over the lock of a process that no longer
 * runs, even if the process ended by SIGKILL or before a reboot. If that process was in another container, this blocks
 * for `silentMs` first, in case a heartbeat comes.
 *
 * @returns a function that releases the lock, which also happens at exit
 * @throws DataDirBusyError while any process holds the lock, even this process
 */
export function lockDataDir(dataDir: string, silentMs = SILENT_MS): () => void {
  return takeLock(dataDir, (file) => isSilent(file, silentMs));
}

/** @param hasEnded returns whether the owner of a lock file has ended, if it is a process of another PID namespace */
function takeLock(folder: string, hasEnded: (file: string) => boolean): () => void {
  const file = join(folder, 'lock.json');
  mkdirSync(folder, { recursive: true });
  const draft = `${ownName(file)}.tmp`;
  try {
    writeOwner(draft, self());
    while (!linkNew(draft, file)) removeIfDead(file, hasEnded);
  } finally {
    rmSync(draft, { force: true });
  }
  const stopBeating = keepBeating(file);
  const release = () => {
    if (isOurs(file)) rmSync(file, { force: true });
  };
  process.once('exit', release);
  return () => {
    process.removeListener('exit', release);
    stopBeating();
    release();
  };
}

const BEAT_MS = 1000;

/**
 * Touches the lock file every second, so that processes in other containers see that its owner runs. A worker thread
 * does it, because a long query of the embedded database blocks the event loop. If the file cannot be touched, the
 * heartbeat is missing, which is all that a reader must know.
 */
function keepBeating(file: string): () => void {
  if (pidNamespace() === undefined) return () => {};
  // Do not import the module. Bundlers would search for the file of the worker.
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  const beat = `const { readFileSync, utimesSync } = require('node:fs');
    const file = ${JSON.stringify(file)};
    const beat = () => {
      const { pid, started, namespace } = JSON.parse(readFileSync(file, 'utf8'));
      const owner = JSON.stringify([pid, started, namespace]);
      if (owner === ${JSON.stringify(identify(self()))}) utimesSync(file, new Date(), new Date());
    };
    setInterval(() => { try { beat(); } catch {} }, ${BEAT_MS});`;
  const worker = new Worker(beat, { eval: true, execArgv: [], env: {} });
  worker.unref();
  return () => void worker.terminate();
}

/** A process that was paused until another took over its lock must neither keep that lock alive nor remove it. */
function isOurs(file: string): boolean {
  const owner = readOwner(file);
  return owner !== undefined && identify(owner) === identify(self());
}

const identify = ({ pid, started, namespace }: Owner) => JSON.stringify([pid, started, namespace]);

const modified = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs;

/** Returns whether a lock file stays untouched for so many milliseconds. Compares no clocks of two machines. */
function isSilent(file: string, ms: number): boolean {
  const before = modified(file);
  const cell = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; waited < ms; waited += 100) {
    Atomics.wait(cell, 0, 0, 100);
    const now = modified(file);
    if (now === undefined) return true; // The owner has just released the lock.
    if (now !== before) return false;
  }
  return true;
}

/** Writes the path of this process's command socket into its lock file. */
export function nameSocket(dataDir: string, socket: string): void {
  const file = join(dataDir, 'lock.json');
  const draft = `${ownName(file)}.tmp`;
  writeOwner(draft, { ...self(), socket });
  renameSync(draft, file); // Replace the file atomically, because another process treats a half-written lock as stale.
}

/**
 * Waits until a folder's lock is free, and locks the folder. Does not block, unlike `lockDataDir`.
 *
 * @returns a function that releases the lock
 */
export async function waitForLock(folder: string, silentMs = SILENT_MS): Promise<() => void> {
  let seen: number | undefined;
  let silent = 0;
  for (;;) {
    try {
      return takeLock(folder, (file) => {
        const before = seen;
        seen = modified(file);
        silent = seen === before ? silent + BEAT_MS / 2 : 0;
        return silent >= silentMs;
      });
    } catch (error) {
      if (!(error instanceof DataDirBusyError)) throw error;
      await sleep(BEAT_MS / 2);
    }
  }
}

const self = (): Owner => ({
  pid: process.pid,
  started: startOf(process.pid),
  namespace: pidNamespace(),
});

/** Returns a file name for this process only. Processes in two containers can have the same id. */
const ownName = (file: string) => `${file}.${process.pid}-${pidNamespace()?.replaceAll(/\D/g, '') ?? ''}`;

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

function removeIfDead(file: string, hasEnded: (file: string) => boolean): void {
  const owner = readOwner(file);
  if (owner && isRunning(owner, file, hasEnded)) throw new DataDirBusyError(owner.pid, owner.socket);
  // Rename the file first, so that only one of two processes that find the same stale lock removes it.
  const grave = ownName(file);
  try {
    renameSync(file, grave);
    const buried = readOwner(grave);
    // The lock may have become another process's since it was read.
    if (buried && !isDeepStrictEqual(buried, owner) && !existsSync(file)) renameSync(grave, file);
    else rmSync(grave, { force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/**
 * Returns whether a lock's owner runs. A process of another PID namespace, such as another container's, has an id that
 * means nothing here, so the lock file decides.
 */
function isRunning({ pid, started, namespace }: Owner, file: string, hasEnded: (file: string) => boolean) {
  const isHere = namespace === undefined || namespace === pidNamespace();
  return isHere ? startOf(pid) === started : !hasEnded(file);
}

function readOwner(file: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Owner;
  } catch {
    return undefined; // Another process has just removed the file, or a crash left it half-written.
  }
}

/**
 * Returns the boot id and the PID namespace of this process, or undefined without /proc. The boot id tells machines
 * apart, whose first namespaces have the same number.
 */
function pidNamespace(): string | undefined {
  try {
    return `${bootId()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return undefined;
  }
}

const bootId = () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();

/** Returns the boot id and start tick of a running process ('alive' without /proc), or 'gone' if it has ended. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return `${bootId()}:${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
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
