import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Env } from '../env';
import type { Logger } from '../log';
import { toNetworks } from '../networks';
import { createErrorListener } from './client-error';
import { LIMITS, type Limits } from './limits';
import { listen } from './listen';
import { createListener, type Handler } from './listener';
import { createSlowBodies, type SlowBodies } from './slow-bodies';
import { stopServers } from './stop-servers';
import { createTraffic, type Traffic } from './traffic';
import { oneAtATime } from './turns';

/** Our server, listening. */
export interface OpenHttpServer {
  /** Takes no more connections, lets open requests finish for a while, and closes. */
  stop(): Promise<void>;
}

interface Settings extends Pick<Env, 'host' | 'port' | 'trustedProxies' | 'publicUrl'> {
  /** See setForwarding. */
  secret: string;
  log: Logger;
  limits?: Limits;
}

const FULL_AGAIN_MS = 60_000;

/**
 * Serves HTTP where HOST and PORT say, within limits.
 *
 * @param handle answers what is fit to be answered
 * @throws StartError where the port cannot be had
 */
export async function openHttpServer(settings: Settings, handle: Handler): Promise<OpenHttpServer> {
  const { trustedProxies, publicUrl, secret, log, limits = LIMITS } = settings;
  const traffic = createTraffic(
    limits.connections,
    seldom(FULL_AGAIN_MS, () => {
      log.warn({ connections: limits.connections }, 'connections are refused: too many are open');
    }),
  );
  const slow = createSlowBodies(limits.uploadMs);
  const listener = createListener(handle, {
    trusted: toNetworks(trustedProxies),
    secret,
    isHttps: publicUrl.startsWith('https://'),
    limits,
    slow,
    log,
  });
  const servers = await listen(() => {
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      traffic.addRequest(request, response);
      void listener(request, response);
    };
    return limitedServer(limits, traffic, slow).on('request', oneAtATime(answer, limits.sentAhead));
  }, settings);
  // No file left for a new connection, for instance: without a listener the error would end the process.
  const lost = seldom(FULL_AGAIN_MS, () => log.warn('connections cannot be accepted'));
  for (const server of servers) server.on('error', lost);
  return { stop: () => stopServers(servers, traffic, limits.stopMs) };
}

function limitedServer(limits: Limits, traffic: Traffic, slow: SlowBodies): Server {
  const server = createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: limits.checkMs,
    maxHeaderSize: limits.headerBytes,
    highWaterMark: limits.pageBody + 1, // a page's body waits in its stream
  });
  server.maxHeadersCount = 0; // none is dropped: the listener refuses too many
  // Also called when keep-alive is over. An answer that takes its time is not its client's fault.
  server.setTimeout(limits.unreadMs, (socket) => {
    if (socket.writableLength > 0 || !traffic.isAnswering(socket)) socket.destroy();
  });
  server.on('clientError', createErrorListener(slow, traffic));
  return server.on('connection', traffic.addConnection);
}

function seldom(everyMs: number, tell: () => void): () => void {
  let told = false;
  return () => {
    if (told) return;
    told = true;
    setTimeout(() => (told = false), everyMs).unref();
    tell();
  };
}
