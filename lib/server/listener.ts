import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BlockList } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { renameProto } from '../http/messages';
import { type Logger, stackOf } from '../log';
import { countedAddress, isWithin, normalAddress, widestNetwork } from '../networks';
import { UPLOAD_PATH } from '../uploads/upload-limits';
import type { Limits } from './limits';

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

interface Settings {
  trusted: BlockList;
  /** Secret of this process, by which `setForwarding` recognizes requests that Next itself sends. */
  secret: string;
  /** Whether PUBLIC_URL is an https URL. If so, responses tell browsers to use only https. */
  isHttps: boolean;
  limits: Limits;
  slow: SlowBodies;
  log: Logger;
}

/**
 * Paths whose handlers limit the body themselves. Next may rewrite a path with `%`, `\` or `.`, so it counts as a page.
 */
const OWN_LIMIT = /^\/(api|mcp)(\/[^%\\.?]*)?(\?|$)/;

/** Paths of the staff pages, whose forms may be large. */
const STAFF_PAGE = /^\/admin(\/[^%\\.?]*)?(\?|$)/;

/** Creates the listener that passes valid requests to the handler and refuses all others. */
export function createListener(handle: Handler, { trusted, secret, isHttps, limits, slow, log }: Settings) {
  const senders: string[] = []; // the clients that are sending large forms
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refuseWith = (status: number, text: string) =>
      refuse(request, response, status, text, limits.lingerMs);
    if (isHttps) response.setHeader('Strict-Transport-Security', 'max-age=31536000');
    if (request.rawHeaders.length > 2 * limits.headers) {
      return refuseWith(431, `There are more than ${limits.headers} headers.`);
    }
    if (!hasOneHost(request)) return refuseWith(400, 'Send one valid Host header.');
    if (!setTarget(request)) return refuseWith(400, 'There is no such address.');
    if (!setForwarding(request, trusted, secret)) return void request.socket.destroy();
    // Next would fail to create a `Request`, whose method cannot be TRACE.
    if (request.method === 'TRACE') return refuseWith(405, 'TRACE is not allowed.');
    if (isUpgrade(request)) return refuseWith(400, 'There is nothing to upgrade to.');
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    if (isLargeForm(request, limits)) {
      const client = clientOf(request);
      const own = senders.filter((one) => one === client).length;
      if (senders.length === limits.largeForms || own === limits.largeFormsOfClient) {
        return refuseWith(503, 'Too many large forms. Try again in a moment.');
      }
      senders.push(client);
      response.once('close', () => senders.splice(senders.indexOf(client), 1));
    } else if (!OWN_LIMIT.test(request.url ?? '')) {
      const body = await receiveBody(request, limits.pageBody);
      if (body === 'too large') {
        return refuseWith(413, `The body is larger than ${limits.pageBody} bytes.`);
      }
      // The stream has already ended, but Next would wait for its end.
      if (body === 'empty') return refuseWith(400, 'The body is empty.');
      if (body === 'broken off') return;
    }
    if (request.url?.split('?')[0] === UPLOAD_PATH) slow.add(request, response);
    request.url = renameProto(request.url ?? '/');
    await handle(request, response).catch((error: unknown) => {
      log.error({ stack: stackOf(error) }, 'a request failed');
      if (!response.headersSent) response.statusCode = 500;
      response.end(response.headersSent ? undefined : 'Internal Server Error');
    });
  };
}

const HOST = /^([\w.-]*|\[[\da-f:.]+\])(:\d+)?$/i;

/**
 * Checks that a request has at most one Host header, with a valid value (RFC 9112, 3.2). With two, a proxy and our
 * server might use different ones.
 */
function hasOneHost({ headers, rawHeaders }: IncomingMessage): boolean {
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host');
  return hosts.length <= 1 && HOST.test(headers.host ?? '');
}

/**
 * Reduces an absolute URL to its path and query. The URL's host then replaces the Host header (RFC 9112, 3.2.2).
 *
 * @returns false for a target that is neither a path nor an http(s) URL with a plain host and without credentials, such
 *   as `*` in an OPTIONS request
 */
function setTarget(request: IncomingMessage): boolean {
  const { url = '' } = request;
  if (url.startsWith('/')) return true;
  const target = URL.canParse(url) ? new URL(url) : null;
  if (!target || !/^https?:$/.test(target.protocol) || target.username || target.password) return false;
  if (!HOST.test(target.host)) return false;
  request.url = target.pathname + target.search;
  request.headers.host = target.host;
  return true;
}

/** Returns whether a request asks for another protocol. Ignores an offer of HTTP/2, which some clients always send. */
function isUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined && headers.upgrade.toLowerCase() !== 'h2c';
}

/**
 * Returns the client's network, by which a client is limited. `setForwarding` has set the header to the client's IP
 * address. One client may have many IPv6 addresses.
 */
export function clientOf({ headers }: IncomingMessage): string {
  return widestNetwork(countedAddress(headers['x-forwarded-for']?.toString() ?? null));
}

/** Returns whether Next may read a body above the limit of pages while the body arrives. Next checks its size again. */
function isLargeForm({ url = '', headers }: IncomingMessage, { pageBody, formBody }: Limits): boolean {
  const length = Number(headers['content-length'] ?? 0);
  return length > pageBody && length <= formBody && STAFF_PAGE.test(url);
}

/** `empty` means that the request announced a body but sent none, and its stream ended before a handler listened. */
type Received = 'received' | 'empty' | 'too large' | 'broken off';

/**
 * Waits until the whole request body is buffered, without reading it, so that a slow client does not occupy a handler.
 * The server's `requestTimeout` limits the wait. The buffer is large enough, because `highWaterMark` exceeds `limit`.
 */
async function receiveBody(request: IncomingMessage, limit: number): Promise<Received> {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (Number(length ?? 0) > limit) return 'too large';
  if (encoding === undefined && Number(length ?? 0) === 0) return 'received';
  const outcome = await new Promise<Received>((resolve) => {
    request.on('readable', () => {
      if (request.readableLength > limit) resolve('too large');
      else if (request.complete) resolve(request.readableLength > 0 ? 'received' : 'empty');
    });
    request.once('close', () => resolve('broken off'));
  });
  request.removeAllListeners('readable');
  await setImmediate(); // The stream detects the removed listener only in the next turn of the event loop.
  return outcome;
}

const FORWARDING = /^(forwarded|x-real-ip|x-forwarded-.+)$/;
/** Header with this process's secret. Next copies it from a client's request to its own requests to our server. */
const OWN_HEADER = 'x-w5t-own-request';
const AGAIN = ' again';

/** Forwarding headers that Next reads. For a server action, Next compares X-Forwarded-Host with the Origin header. */
const FROM_PROXIES = ['x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port'];

/**
 * Makes the forwarding headers of a request trustworthy. Drops all of them except the headers in `FROM_PROXIES` from
 * trusted peers, and sets X-Forwarded-For to the client's IP address. Does not change them in requests that Next sends
 * while it handles a client's request. Marks all requests with `OWN_HEADER`, to recognize those of Next.
 *
 * @param secret known only to this process
 * @returns false if the peer has already disconnected
 */
function setForwarding(request: IncomingMessage, trusted: BlockList, secret: string): boolean {
  const { headers, socket } = request;
  const own = headers[OWN_HEADER];
  const isOwn = own === secret || own === secret + AGAIN;
  headers[OWN_HEADER] = isOwn ? secret + AGAIN : secret;
  if (isOwn) return true;
  const peer = normalAddress(socket.remoteAddress ?? '');
  if (peer === null) return false;
  const chain = headers['x-forwarded-for'];
  const forwarding = Object.keys(headers).filter((name) => FORWARDING.test(name));
  if (forwarding.length > 0) {
    const kept = isWithin(trusted, peer) ? FROM_PROXIES : [];
    for (const name of forwarding) if (!kept.includes(name)) delete headers[name];
  }
  headers['x-forwarded-for'] = chain === undefined ? peer : clientAddress(peer, chain.toString(), trusted);
  return true;
}

/**
 * Returns whether Next sent this request while handling a client's request: to follow the redirect of a server action,
 * or to call an action of another page.
 */
export function isOwnRequest({ headers }: IncomingMessage): boolean {
  return headers[OWN_HEADER]?.toString().endsWith(AGAIN) ?? false;
}

/**
 * Returns the client's IP address. Without trusted proxies, this is the peer's. Each proxy appends the IP address of
 * its own peer to X-Forwarded-For. Read from the right, the entries are therefore reliable up to the first address that
 * is not a trusted proxy's. That address is the client's.
 *
 * @param peer IP address of the other end of the connection
 * @param chain X-Forwarded-For as received
 * @param trusted the IP addresses of trusted proxies
 */
export function clientAddress(peer: string, chain: string | undefined, trusted: BlockList): string {
  let address = normalAddress(peer) ?? peer;
  for (const hop of (chain ?? '').split(',').reverse()) {
    if (!isWithin(trusted, address)) return address;
    const before = normalAddress(withoutPort(hop.trim()));
    if (before === null) return address; // The entry is missing or not an IP address, such as `unknown`.
    address = before;
  }
  return address;
}

/** Removes the port, because some proxies write `192.0.2.7:5000` and `[2001:db8::7]:5000`. */
function withoutPort(hop: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
}

const DRAINED_BYTES = 2_097_152;

/**
 * Responds, discards the body, and closes the connection at the end of the body, or after `lingerMs`. If it closed
 * immediately, a client that is still sending would get a connection reset instead of the response.
 */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  text: string,
  lingerMs: number,
): void {
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
  });
  response.write(text); // Send the text now, so that the client can read all of it before the response ends.
  const timer = setTimeout(() => response.end(), lingerMs);
  response.once('close', () => clearTimeout(timer));
  request.once('end', () => response.end());
  let dropped = 0;
  request.on('data', (chunk: Buffer) => {
    dropped += chunk.byteLength;
    if (dropped > DRAINED_BYTES) request.pause();
  });
}

export type SlowBodies = ReturnType<typeof createSlowBodies>;

/**
 * Tracks the connections whose upload may take longer than `requestMs`, until the response ends.
 *
 * @param limits the time limit of these bodies, and the time that a refused client has to read the response
 */
export function createSlowBodies({ uploadMs, lingerMs }: Pick<Limits, 'uploadMs' | 'lingerMs'>) {
  const sockets = new Set<Duplex>();
  return {
    has: (socket: Duplex) => sockets.has(socket),
    add(request: IncomingMessage, response: ServerResponse) {
      const { socket } = request;
      sockets.add(socket);
      const timer = setTimeout(() => socket.destroy(), uploadMs);
      response.once('close', () => {
        clearTimeout(timer);
        sockets.delete(socket);
        // If the client is still sending, give it a moment to read the response before the connection closes.
        setTimeout(() => request.complete || socket.destroy(), lingerMs).unref();
      });
    },
  };
}
