import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { constants } from 'node:os';
import { StartError } from '../errors';

const NEXT = createRequire(import.meta.url).resolve('next/dist/bin/next');
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** How long open requests may keep the server after it was told to stop. */
const PATIENCE_MS = 8000;
const ORPHAN_CHECK_MS = 1000;

/** Runs Next.js as a process of its own, without npm or a shell between. */
export function startNext(
  args: string[],
  options: { env: NodeJS.ProcessEnv; stdio?: 'inherit' | 'pipe' },
): ChildProcess {
  const { env, stdio = 'inherit' } = options;
  return spawn(process.execPath, [NEXT, ...args], { env, stdio: ['ignore', stdio, stdio] });
}

/**
 * Waits for a child, passing on the signals that this process gets, so that neither outlives the other.
 * npm ends without passing on a signal that only it got: losing the parent counts as being told to stop.
 *
 * @returns its exit code, 128 + n after signal n; and whether it was told to stop
 */
export async function untilExit(child: ChildProcess): Promise<{ code: number; stopped: boolean }> {
  let stopped = false;
  let patience: NodeJS.Timeout | undefined;
  const stop = (signal: NodeJS.Signals) => {
    stopped = true;
    child.kill(signal);
    patience ??= setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  };
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    stop('SIGTERM');
  }, ORPHAN_CHECK_MS);
  for (const signal of SIGNALS) process.on(signal, stop);
  try {
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (exitCode, signal) =>
        resolve(exitCode ?? 128 + (signal ? constants.signals[signal] : 0)),
      );
    });
    return { code, stopped };
  } finally {
    clearInterval(watch);
    clearTimeout(patience);
    for (const signal of SIGNALS) process.off(signal, stop);
  }
}

/** @throws StartError where the port cannot be had */
export async function requirePort(port: number): Promise<void> {
  const server = createServer();
  try {
    await new Promise<void>((done, failed) => {
      server.once('error', failed);
      server.listen(port, done);
    });
    await new Promise((done) => server.close(done));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new StartError([`Port ${port} is in use: stop the program that uses it or set PORT.`]);
    }
    if (code === 'EACCES') {
      throw new StartError([`Port ${port} is not for this user: set PORT to 1024 or above.`]);
    }
    throw error;
  }
}
