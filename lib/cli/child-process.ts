import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { availableParallelism, constants } from 'node:os';

/** Path of the built server. */
export const SERVER = 'dist/server.js';

/** Starts the built server. It reports when it listens (see `untilListening`) and ends when its parent process ends. */
export function startServerProcess(env: NodeJS.ProcessEnv, args: string[] = []): ChildProcess {
  return spawn(process.execPath, [SERVER, ...args], {
    env: {
      ...env,
      NODE_ENV: 'production',
      UV_THREADPOOL_SIZE: env.UV_THREADPOOL_SIZE || threads(),
      // glibc keeps freed memory in an arena per thread. A limit of two arenas saves up to 60 MB.
      MALLOC_ARENA_MAX: env.MALLOC_ARENA_MAX || '2',
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

/** Resolves to true when the server listens, or to false if it exits first. */
export function untilListening(server: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    server.once('message', () => resolve(true));
    server.once('exit', () => resolve(false));
  });
}

/** Returns the size of Node's thread pool: one thread per core for password hashes, and four for other work. */
function threads(): string {
  return String(availableParallelism() + 4);
}

/** Starts a command of Next.js as a child process, without npm or a shell in between. */
export function startNext(
  args: string[],
  options: { env: NodeJS.ProcessEnv; stdio?: 'inherit' | 'pipe' },
): ChildProcess {
  const { env, stdio = 'inherit' } = options;
  const next = createRequire(import.meta.url).resolve('next/dist/bin/next');
  return spawn(process.execPath, [next, ...args], { env, stdio: ['ignore', stdio, stdio] });
}

/**
 * Milliseconds that the server has to stop after the signal. Open requests alone may take `stopMs` of `limits.ts`. The
 * time must be shorter than `stop_grace_period` of compose.yaml, so that the server stops before its container is killed.
 */
const PATIENCE_MS = 16_000;
const ORPHAN_CHECK_MS = 1000;

/**
 * Waits for a child process and forwards the signals that this process receives, so that neither outlives the other.
 * npm ends without forwarding a signal, so the end of the parent process counts as a signal to stop.
 *
 * @returns the child's exit code, or 128 + n after signal n; and whether this process was asked to stop
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
  for (const signal of STOP_SIGNALS) process.on(signal, stop);
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
    for (const signal of STOP_SIGNALS) process.off(signal, stop);
  }
}

/** Waits until this process receives a signal to stop, or its parent process ends. */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.on(signal, () => resolve());
    process.on('disconnect', resolve);
    if (process.connected === false) resolve(); // The parent process has already ended.
  });
}

export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
