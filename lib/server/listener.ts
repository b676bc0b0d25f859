import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BlockList } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { carryParameters } from '../http/messages';
import { type Logger, stackOf } from '../log';
import { UPLOAD_PATH } from '../uploads/upload-limits';
import { setForwarding } from './forwarding';
import type { Limits } from './limits';
import { refuse, type SlowBodies } from './refuse';

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
