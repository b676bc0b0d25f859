import { constants } from 'node:os';
import { STOP_SIGNALS } from './stop-signals';

/** Waits until this process is told to stop, by a signal or because its parent is gone. @returns its exit code */
export function untilStopped(): Promise<number> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.on(signal, () => resolve(128 + constants.signals[signal]));
    const orphaned = () => resolve(128 + constants.signals.SIGTERM);
    process.on('disconnect', orphaned);
    if (process.connected === false) orphaned(); // while it started
  });
}
