import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Env } from '../env';
import type { Logger } from '../log';
import { timeRequest } from '../metrics/metrics';
import { toNetworks } from '../networks';
import { inRequestSpan } from '../tracing';
import { LIMITS, type Limits } from './limits';
import { listen } from './listen';
import { createListener, createSlowBodies, type Handler, isOwnRequest, type SlowBodies } from './listener';

/** A listening HTTP server, with a function that stops it. */
export type OpenHttpServer = Awaited<ReturnType<typeof openHttpServer>>;

interface Settings extends Pick<Env, 'host' | 'port' | 'trustedProxies' | 'publicUrl'> {
  /** Secret of this process, by which `setForwarding` recognizes requests that Next itself sends. */
  secret: string;
  log: Logger;
  limits?: Limits;
}

const FULL_AGAIN_MS = 60_000;

/**
 * Starts the HTTP server on HOST and PORT, with its limits.
 *
 * @param handle function that handles valid requests
 * @throws StartError if the port or an IP address is not available
 */
export async function openHttpServer(settings: Settings, handle: Handler) {
  const { trustedProxies, publicUrl, secret, log, limits = LIMITS } = settings;
  const traffic = createTraffic(
    limits.connections,
    throttle(FULL_AGAIN_MS, () => {
      log.warn({ connections: limits.connections }, 'connections are refused: too many are open');
    }),
  );
  const slow = createSlowBodies(limits);
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
      timeRequest(request, response, isOfClient);
      inRequestSpan(request, response, () => void listener(request, response));
    };
    return limitedServer(limits, traffic, slow).on('request', oneAtATime(answer, limits.sentAhead));
  }, settings);
  // A server emits an error if it has no file descriptor for a connection. Without a listener, the process would end.
  const lost = throttle(FULL_AGAIN_MS, () => log.warn('connections cannot be accepted'));
  for (const server of servers) server.on('error', lost);
  /** Accepts no more connections, waits up to `stopMs` for open requests, and closes. */
  return { stop: () => stopServers(servers, traffic, limits.stopMs) };
}

/** Returns false for a request that Next itself sends to our server. */
const isOfClient = (request: IncomingMessage) => !isOwnRequest(request);

function limitedServer(limits: Limits, traffic: Traffic, slow: SlowBodies): Server {
  const server = createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: limits.checkMs,
    maxHeaderSize: limits.headerBytes,
    highWaterMark: limits.pageBody + 1, // `receiveBody` needs a buffer for the whole body of a page's request.
  });
  // Disable Node's limit, because Node drops further headers silently. Our listener refuses too many headers instead.
  server.maxHeadersCount = 0;
  // Close a connection that is idle or whose client does not read. Keep it open while the server computes a response.
  server.setTimeout(limits.unreadMs, (socket) => {
    if (socket.writableLength > 0 || !traffic.isAnswering(socket)) socket.destroy();
  });
  server.on('clientError', createErrorListener(slow, traffic));
  return server.on('connection', traffic.addConnection);
}

function throttle(everyMs: number, run: () => void): () => void {
  let isPaused = false;
  return () => {
    if (isPaused) return;
    isPaused = true;
    setTimeout(() => (isPaused = false), everyMs).unref();
    run();
  };
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;
type Pair = Parameters<Listener>;

/**
 * Handles the requests of a connection one at a time. Node emits all pipelined requests at once, so one connection
 * could otherwise start thousands of pages. Drops waiting requests if the client disconnects.
 *
 * @param maxWaiting maximum number of requests that wait for earlier responses. No request may follow a waiting request
 *   with a body, so that bodies cannot accumulate. If a client sends more requests, its connection is closed.
 */
function oneAtATime(listener: Listener, maxWaiting: number): Listener {
  const queues = new WeakMap<Socket, Pair[]>();

  const begin = (queue: Pair[]): void => {
    const [request, response] = queue[0] as Pair;
    listener(request, response); // Call the listener first, because its `close` handlers must run before ours.
    response.once('close', () => {
      queue.shift();
      if (queue.length > 0 && request.socket.writable) begin(queue);
    });
  };

  return (request, response) => {
    const { socket } = request;
    if (!socket.writable) return; // Node also emits requests that arrived before the connection closed.
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

/** Responses by error code. Node would send the same responses if no listener handled the error. */
const ANSWERS: Record<string, string> = {
  [TIMEOUT]: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
};

/** Returns a listener that ends connections with malformed or slow requests. Connections in `slow` may be slow. */
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

/** Milliseconds that a stopping server waits before it closes connections that are idle or still sending headers. */
const GRACE_MS = 500;
const EVERY_MS = 100;

/**
 * Stops accepting connections, closes each open connection when its request ends, and waits until all are closed.
 *
 * @param patienceMs maximum time in milliseconds that open requests may delay the stop
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

type Traffic = ReturnType<typeof createTraffic>;

/**
 * Tracks the open connections and the responses in progress. If too many connections are open, a new one replaces the
 * one that has been idle longest.
 *
 * @param refused function that is called for each connection that is closed because of the limit
 */
function createTraffic(maxConnections: number, refused: () => void) {
  const connections = new Set<Socket>();
  /** The response in progress on each connection. There is at most one, see `oneAtATime`. */
  const open = new Map<Duplex, ServerResponse>();
  /** Connections that wait for another request after a response. The one that has waited longest comes first. */
  const idle = new Set<Socket>();
  let finishing = false;
  const remove = (socket: Socket) => connections.delete(socket) && idle.delete(socket);
  return {
    addConnection(socket: Socket) {
      const [longestIdle] = idle;
      if (connections.size >= maxConnections && longestIdle) {
        longestIdle.destroy();
        remove(longestIdle); // Its `close` event comes later.
      }
      if (connections.size >= maxConnections) {
        refused();
        return void socket.destroy();
      }
      connections.add(socket);
      socket.once('close', () => remove(socket));
    },
    addRequest({ socket }: IncomingMessage, response: ServerResponse) {
      if (finishing) response.shouldKeepAlive = false;
      idle.delete(socket);
      open.set(socket, response);
      response.once('close', () => {
        open.delete(socket);
        if (connections.has(socket)) idle.add(socket);
      });
    },
    isAnswering: (socket: Socket) => open.has(socket),
    /** Whether the response in progress on a connection has sent its headers. */
    hasBegunAnswer: (socket: Duplex) => open.get(socket)?.headersSent ?? false,
    /** From now on, closes each connection after its response. */
    letFinish() {
      finishing = true;
      for (const response of open.values()) response.shouldKeepAlive = false;
    },
    /** Closes connections on which no request is being handled. */
    closeIdle() {
      for (const socket of connections) if (!open.has(socket)) socket.destroy();
    },
  };
}
