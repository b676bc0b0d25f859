import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 150;

/** True once a server answers that it is well; false where `gone` came first. */
export async function waitUntilReady(url: string, gone: Promise<unknown>): Promise<boolean> {
  let waiting = true;
  const over = gone.then(() => {
    waiting = false;
  });
  while (waiting) {
    const well = await fetch(`${url}/api/health`, { signal: AbortSignal.timeout(5000) }).then(
      ({ ok }) => ok,
      () => false, // not listening yet
    );
    if (well) return true;
    await Promise.race([sleep(EVERY_MS), over]);
  }
  return false;
}
