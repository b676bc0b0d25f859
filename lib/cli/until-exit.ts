import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { STOP_SIGNALS } from './stop-signals';

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
