import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Traffic } from './traffic';

/** After it connections that only wait, or that are still sending a request's headers, are closed. */
const GRACE_MS = 500;
const EVERY_MS = 100;

/**
 * Takes no more connections, and closes those that are open as their requests end.
 *
 * @param patienceMs how long open requests may keep the servers
 */
export async function stopServers(servers: Server[], traffic: Traffic, patienceMs: number): Promise<void> {
  traffic.letFinish();
  const closed = Promise.all(servers.map((server) => once(server.close(), 'close')));
  let waited = 0;
  const sweep = setInterval(() => {
    waited += EVERY_MS;
    if (waited >= GRACE_MS) traffic.closeIdle();
    if (waited >= patienceMs) for (const server of servers) server.closeAllConnections();
  }, EVERY_MS);
  await closed;
  clearInterval(sweep);
}
