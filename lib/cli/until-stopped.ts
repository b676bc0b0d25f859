import { STOP_SIGNALS } from './stop-signals';

/** Waits until this process must stop: it got a signal, or its parent is gone. */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.on(signal, () => resolve());
    process.on('disconnect', resolve);
    if (process.connected === false) resolve(); // while it started
  });
}
