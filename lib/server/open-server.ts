import { createServer, type Server } from 'node:http';
import type { Env } from '../env';
import { toNetworks } from '../networks';
import { LIMITS } from './limits';
import { listen } from './listen';
import { createListener, type Handler } from './listener';
import { stopServers } from './stop-servers';
import { createTraffic } from './traffic';

/** Our server, listening. */
export interface OpenServer {
  /** Takes no more connections, lets open requests finish for a while, and closes. */
  stop(): Promise<void>;
}

/**
 * Serves HTTP where HOST and PORT say, within LIMITS.
 *
 * @param handle answers what is fit to be answered
 * @throws StartError where the port cannot be had
 */
export async function openServer(
  env: Pick<Env, 'host' | 'port' | 'trustedProxies'>,
  handle: Handler,
): Promise<OpenServer> {
  const traffic = createTraffic();
  const listener = createListener(handle, toNetworks(env.trustedProxies));
  const servers = await listen(() => {
    const server = limitedServer();
    server.on('connection', traffic.addConnection);
    server.on('request', traffic.addRequest);
    return server.on('request', listener);
  }, env);
  return { stop: () => stopServers(servers, traffic) };
}

function limitedServer(): Server {
  const server = createServer({
    headersTimeout: LIMITS.headersMs,
    requestTimeout: LIMITS.requestMs,
    connectionsCheckingInterval: LIMITS.checkMs,
    maxHeaderSize: LIMITS.headerBytes,
    highWaterMark: LIMITS.pageBody + 1, // a page's body waits in its stream
  });
  server.maxHeadersCount = LIMITS.headerCount;
  server.maxRequestsPerSocket = LIMITS.requestsPerConnection;
  return server;
}
