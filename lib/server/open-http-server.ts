import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Env } from '../env';
import type { Logger } from '../log';
import { toNetworks } from '../networks';
import { LIMITS, type Limits } from './limits';
import { listen } from './listen';
import { createListener, createSlowBodies, type Handler, type SlowBodies } from './listener';

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

type Listener = (request: IncomingMessage, response: ServerResponse) => void;
type Pair = Parameters<Listener>;

/**
 * Begins the requests of a connection one at a time. Node emits those that a client sends ahead all at once, so
 * that one connection could start thousands of pages. A request whose client has left never begins.
 *
 * @param maxWaiting requests that may wait for the answers to earlier ones. Nothing may follow one with a body,
 *   so that no bodies pile up. A client that sends more loses its connection.
 */
function oneAtATime(listener: Listener, maxWaiting: number): Listener {
  const queues = new WeakMap<Socket, Pair[]>();

  const begin = (queue: Pair[]): void => {
    const [request, response] = queue[0] as Pair;
    listener(request, response); // first, so that what it does at the end of an answer is done before the next begins
    response.once('close', () => {
      queue.shift();
      if (queue.length > 0 && request.socket.writable) begin(queue);
    });
  };

  return (request, response) => {
    const { socket } = request;
    if (!socket.writable) return; // closed, but Node goes on reading what had arrived
    const queue = queues.get(socket) ?? [];
    queues.set(socket, queue);
    const last = queue.at(-1)?.[0];
    if (queue.length > maxWaiting || (queue.length > 1 && last && hasBody(last)))
      return void socket.destroy();
    queue.push([request, response]);
    if (queue.length === 1) begin(queue);
  };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

const TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';

/** Node's own answer if no listener handles these errors. */
const ANSWERS: Record<string, string> = {
  [TIMEOUT]: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
};

/** Ends a connection whose request is malformed or takes too long. Only a slow body may continue. */
function createErrorListener(slow: SlowBodies, traffic: Traffic) {
  return (error: NodeJS.ErrnoException, socket: Duplex): void => {
    const { code = '' } = error;
    if (code === TIMEOUT && slow.has(socket)) return;
    if (socket.writable && !traffic.hasBegunAnswer(socket)) {
      socket.write(`HTTP/1.1 ${ANSWERS[code] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`);
    }
    socket.destroy(error);
  };
}

/** After it connections that only wait, or that are still sending a request's headers, are closed. */
const GRACE_MS = 500;
const EVERY_MS = 100;

/**
 * Takes no more connections, and closes those that are open as their requests end.
 *
 * @param patienceMs how long open requests may keep the servers
 */
async function stopServers(servers: Server[], traffic: Traffic, patienceMs: number): Promise<void> {
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

/** What is open at this moment. */
interface Traffic {
  addConnection(socket: Socket): void;
  addRequest(request: IncomingMessage, response: ServerResponse): void;
  isAnswering(socket: Socket): boolean;
  /** Whether a part of an answer has been sent that is not at its end. */
  hasBegunAnswer(socket: Duplex): boolean;
  /** From now on answers end their connections. */
  letFinish(): void;
  /** Closes the connections on which nothing is answered. */
  closeIdle(): void;
}

/** @param refused is called for a connection above the limit, which is closed */
function createTraffic(maxConnections: number, refused: () => void): Traffic {
  const connections = new Set<Socket>();
  /** The response that each connection waits for; a connection has one at a time, see oneAtATime. */
  const open = new Map<Duplex, ServerResponse>();
  let finishing = false;
  return {
    addConnection(socket) {
      if (connections.size >= maxConnections) {
        refused();
        return void socket.destroy();
      }
      connections.add(socket);
      socket.once('close', () => connections.delete(socket));
    },
    addRequest({ socket }, response) {
      if (finishing) response.shouldKeepAlive = false;
      open.set(socket, response);
      response.once('close', () => open.delete(socket));
    },
    isAnswering: (socket) => open.has(socket),
    hasBegunAnswer: (socket) => open.get(socket)?.headersSent ?? false,
    letFinish() {
      finishing = true;
      for (const response of open.values()) response.shouldKeepAlive = false;
    },
    closeIdle() {
      for (const socket of connections) if (!open.has(socket)) socket.destroy();
    },
  };
}
