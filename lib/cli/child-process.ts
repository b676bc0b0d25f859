import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { availableParallelism, constants } from 'node:os';

/** The built server. */
export const SERVER = 'dist/server.js';

/**
 * Starts the built server as a process of its own. It says when it listens (`untilListening`), and stops
 * when its parent is gone.
 */
export function startServerProcess(env: NodeJS.ProcessEnv, args: string[] = []): ChildProcess {
  return spawn(process.execPath, [SERVER, ...args], {
    env: {
      ...env,
      NODE_ENV: 'production',
      UV_THREADPOOL_SIZE: env.UV_THREADPOOL_SIZE || threads(),
      // glibc keeps freed memory for each thread, which adds up to 60 MB.
      MALLOC_ARENA_MAX: env.MALLOC_ARENA_MAX || '2',
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

/** True once the server listens; false where it ended before. */
export function untilListening(server: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    server.once('message', () => resolve(true));
    server.once('exit', () => resolve(false));
  });
}

/** Node reads it before any of our code runs. Passwords are hashed on all cores but one; files and DNS need theirs. */
function threads(): string {
  return String(availableParallelism() + 4);
}

/** Runs a command of Next.js as a process of its own, without npm or a shell between. */
export function startNext(
  args: string[],
  options: { env: NodeJS.ProcessEnv; stdio?: 'inherit' | 'pipe' },
): ChildProcess {
  const { env, stdio = 'inherit' } = options;
  const next = createRequire(import.meta.url).resolve('next/dist/bin/next');
  return spawn(process.execPath, [next, ...args], { env, stdio: ['ignore', stdio, stdio] });
}

/** How long open requests and statements may keep the server after it was told to stop. */
const PATIENCE_MS = 10_000;
const ORPHAN_CHECK_MS = 1000;

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

/** Waits until this process must stop: it got a signal, or its parent is gone. */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.on(signal, () => resolve());
    process.on('disconnect', resolve);
    if (process.connected === false) resolve(); // while it started
  });
}

/** The signals that stop our processes. */
export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
