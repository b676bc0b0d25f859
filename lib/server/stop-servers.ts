import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Traffic } from './traffic';

/** After it connections that only wait, or that are still sending a request's headers, are closed. */
const GRACE_MS = 500;
const EVERY_MS = 100;
/** How long open requests may keep the server. */
const PATIENCE_MS = 6000;

/** Takes no more connections, and closes those that are open as their requests end. */
export async function stopServers(servers: Server[], traffic: Traffic): Promise<void> {
  traffic.letFinish();
  const closed = Promise.all(servers.map((server) => once(server.close(), 'close')));
  let waited = 0;
  const sweep = setInterval(() => {
    waited += EVERY_MS;
    if (waited >= GRACE_MS) traffic.closeIdle();
    if (waited >= PATIENCE_MS) for (const server of servers) server.closeAllConnections();
  }, EVERY_MS);
  await closed;
  clearInterval(sweep);
}
