import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BlockList } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { carryParameters } from '../http/messages';
import { type Logger, stackOf } from '../log';
import { isWithin, normalAddress } from '../networks';
import { UPLOAD_PATH } from '../uploads/upload-limits';
import type { Limits } from './limits';

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

interface Settings {
  trusted: BlockList;
  /** See setForwarding. */
  secret: string;
  /** Whether clients reach the server by https only. */
  isHttps: boolean;
  limits: Limits;
  slow: SlowBodies;
  log: Logger;
}

/** What limits its bodies itself. A path that may be led elsewhere, encoded or by dots, counts as a page's. */
const OWN_LIMIT = /^\/(api|mcp)(\/[^%\\.?]*)?(\?|$)/;

/** Hands on what is fit to be answered, and answers the rest. */
export function createListener(handle: Handler, { trusted, secret, isHttps, limits, slow, log }: Settings) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (isHttps) response.setHeader('Strict-Transport-Security', 'max-age=31536000');
    if (request.rawHeaders.length > 2 * limits.headers) {
      return refuse(request, response, 431, `There are more than ${limits.headers} headers.`);
    }
    if (!hasOneHost(request)) return refuse(request, response, 400, 'Send one valid Host header.');
    if (!setTarget(request)) return refuse(request, response, 400, 'There is no such address.');
    if (!setForwarding(request, trusted, secret)) return void request.socket.destroy();
    // No `Request` can be made with this method, so Next would fail.
    if (request.method === 'TRACE') return refuse(request, response, 405, 'TRACE is not allowed.');
    if (isUpgrade(request)) return refuse(request, response, 400, 'There is nothing to upgrade to.');
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    if (!OWN_LIMIT.test(request.url ?? '')) {
      const body = await receiveBody(request, limits.pageBody);
      if (body === 'too large') {
        return refuse(request, response, 413, `The body is larger than ${limits.pageBody} bytes.`);
      }
      // Next would wait for the end of a stream that has ended.
      if (body === 'empty') return refuse(request, response, 400, 'The body is empty.');
      if (body === 'broken off') return;
    }
    if (request.url?.split('?')[0] === UPLOAD_PATH) slow.add(request, response);
    request.url = carryParameters(request.url ?? '/');
    await handle(request, response).catch((error: unknown) => {
      log.error({ stack: stackOf(error) }, 'a request failed');
      if (!response.headersSent) response.statusCode = 500;
      response.end(response.headersSent ? undefined : 'Internal Server Error');
    });
  };
}

const HOST = /^([\w.-]*|\[[\da-f:.]+\])(:\d+)?$/i;

/** RFC 9112, 3.2: proxies that disagree about which of two counts would answer for one site with the other. */
function hasOneHost({ headers, rawHeaders }: IncomingMessage): boolean {
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host');
  return hosts.length <= 1 && HOST.test(headers.host ?? '');
}

/**
 * Makes a path of an absolute address, whose host counts instead of the header (RFC 9112, 3.2.2).
 *
 * @returns false for what is no address of a page, such as the `*` of OPTIONS
 */
function setTarget(request: IncomingMessage): boolean {
  const { url = '' } = request;
  if (url.startsWith('/')) return true;
  const target = URL.canParse(url) ? new URL(url) : null;
  if (!target || !/^https?:$/.test(target.protocol) || target.username || target.password) return false;
  request.url = target.pathname + target.search;
  request.headers.host = target.host;
  return true;
}

/** An offer of HTTP/2 may be passed over (RFC 9110, 7.8); some clients make it with every request. */
function isUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined && headers.upgrade.toLowerCase() !== 'h2c';
}

/** `empty`: a body was announced and has nothing in it; its stream has ended before anybody else listened. */
type Received = 'received' | 'empty' | 'too large' | 'broken off';

/**
 * Waits until a request's body is here, unread, so that what follows begins with nothing that may stall.
 * How long that may take is the server's `requestTimeout`; its `highWaterMark` is above the limit.
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
  await setImmediate(); // the stream does not notice that its listener is gone
  return outcome;
}

const FORWARDING = /^(forwarded|x-real-ip|x-forwarded-.+)$/;
/** A secret of this process. Next copies the headers of a request to the requests that it sends to our server. */
const OWN_HEADER = 'x-w5t-own-request';
const AGAIN = ' again';

/** What Next reads: it compares the host with the Origin of a server action. */
const FROM_PROXIES = ['x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port'];

/**
 * Makes the forwarding headers of a request true: what comes from a stranger is dropped, and
 * X-Forwarded-For holds the client's address alone. Those of a request that Next sends for a client stay as they are.
 *
 * @param secret known to this process only
 * @returns false where the peer is gone already
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
 * Whether Next sends this request, in the middle of another one that waits for it: to follow the redirect of a server
 * action, or to reach an action of another page.
 */
export function isOwnRequest({ headers }: IncomingMessage): boolean {
  return headers[OWN_HEADER]?.toString().endsWith(AGAIN) ?? false;
}

/**
 * Whose request it is: the peer, or whom trusted proxies say they received it from. Each proxy appends its
 * own peer to X-Forwarded-For, so that only what stands to the right of the first stranger can be believed.
 *
 * @param peer the other end of the connection
 * @param chain X-Forwarded-For as it came
 */
export function clientAddress(peer: string, chain: string | undefined, trusted: BlockList): string {
  let address = normalAddress(peer) ?? peer;
  for (const hop of (chain ?? '').split(',').reverse()) {
    if (!isWithin(trusted, address)) return address;
    const before = normalAddress(withoutPort(hop.trim()));
    if (before === null) return address; // `unknown`, or nothing
    address = before;
  }
  return address;
}

/** Some proxies write `192.0.2.7:5000` and `[2001:db8::7]:5000`. */
function withoutPort(hop: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
}

const DRAINED_BYTES = 2_097_152;
/** How long a refused client may read the answer before the connection ends. */
const LINGER_MS = 1000;

/**
 * Answers a request without keeping its body, and closes its connection. A sender that is cut off while
 * sending sees a reset and no answer: it gets a moment to read before that.
 */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  text: string,
): void {
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
  });
  response.write(text); // its whole length: the answer is there before it ends
  const timer = setTimeout(() => response.end(), LINGER_MS);
  response.once('close', () => clearTimeout(timer));
  request.once('end', () => response.end());
  let dropped = 0;
  request.on('data', (chunk: Buffer) => {
    dropped += chunk.byteLength;
    if (dropped > DRAINED_BYTES) request.pause();
  });
}

/** Bodies that may take longer than others to arrive, until their request is answered. */
export interface SlowBodies {
  add(request: IncomingMessage, response: ServerResponse): void;
  has(socket: Duplex): boolean;
}

/** @param limitMs how long they may take instead */
export function createSlowBodies(limitMs: number): SlowBodies {
  const sockets = new Set<Duplex>();
  return {
    has: (socket) => sockets.has(socket),
    add(request, response) {
      const { socket } = request;
      sockets.add(socket);
      const timer = setTimeout(() => socket.destroy(), limitMs);
      response.once('close', () => {
        clearTimeout(timer);
        sockets.delete(socket);
        // Who was refused gets a moment to read it, and sends in vain no longer.
        setTimeout(() => request.complete || socket.destroy(), LINGER_MS).unref();
      });
    },
  };
}
