import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { FIXED_HEADERS } from '../../http/fixed-headers';
import { type HttpRequest, METHODS, type Method, type Params, type Route } from '../../http/messages';
import type { Handler } from '../listener';

/** Creates a handler that responds to requests to these routes, and passes all other requests to `next`. */
export function fastFirst(routes: Record<string, Route>, next: Handler): Handler {
  return async (request, response) => {
    const found = findHandler(routes, request);
    if (!found) return next(request, response);
    const context = { params: Promise.resolve(found.params) };
    const answer = await found.handler(new IncomingRequest(request, response), context);
    await sendResponse(request, answer, response);
  };
}

/** A path whose last segment has only word characters and hyphens, which Next cannot interpret differently. */
const LAST_SEGMENT = /^(.*\/)([\w-]+)$/;

/**
 * Finds the handler of the route that matches a request's path. Returns null if Next must handle the request.
 *
 * @param routes keyed by path; the last segment may be `[id]`
 */
function findHandler(routes: Record<string, Route>, request: IncomingMessage) {
  const { method = '', url = '' } = request;
  if (!isMethod(method)) return null;
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  const route = routes[path];
  const params: Params = {};
  if (route) return { handler: route[method], params };
  const [, folder = '', id = ''] = LAST_SEGMENT.exec(path) ?? [];
  const ofId = routes[`${folder}[id]`];
  return ofId ? { handler: ofId[method], params: { id } } : null;
}

function isMethod(method: string): method is Method {
  return METHODS.some((known) => known === method);
}

/** A request for our route handlers. Unlike a `Request`, it does not copy the headers and the body. */
class IncomingRequest implements HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHeaders;
  readonly body: AsyncIterable<Uint8Array> | null;
  private aborting: AbortController | undefined;

  constructor(
    request: IncomingMessage,
    private readonly response: ServerResponse,
  ) {
    this.method = request.method ?? 'GET';
    this.url = `http://localhost${request.url}`;
    this.headers = new IncomingHeaders(request.headers);
    this.body = this.method === 'GET' || this.method === 'HEAD' ? null : request;
  }

  get signal(): AbortSignal {
    this.aborting ??= abortedWith(this.response);
    return this.aborting.signal;
  }
}

class IncomingHeaders {
  constructor(private readonly headers: IncomingHttpHeaders) {}

  get(name: string): string | null {
    return this.headers[name.toLowerCase()]?.toString() ?? null;
  }

  *[Symbol.iterator](): Iterator<[string, string]> {
    for (const [name, value] of Object.entries(this.headers)) yield [name, String(value)];
  }
}

/** Returns a controller that aborts if the client disconnects before its response is complete. */
export function abortedWith(response: ServerResponse): AbortController {
  const aborting = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) aborting.abort();
  });
  return aborting;
}

/** Minimum size of a body to compress, in bytes. Next has the same threshold. */
const COMPRESSED_BYTES = 1024;
const FAST_LEVEL = 1;
const fixed = Object.entries(FIXED_HEADERS);
const compress = promisify(gzip);

/** Sends a response as Next would. Compresses a large body if the client accepts gzip. */
async function sendResponse(
  request: IncomingMessage,
  answer: Response,
  response: ServerResponse,
): Promise<void> {
  response.statusCode = answer.status;
  for (const [name, value] of fixed) response.setHeader(name, value);
  for (const [name, value] of answer.headers) response.setHeader(name, value);
  if (request.method === 'HEAD' || answer.body === null) return void response.end();
  let bytes = Buffer.from(await answer.arrayBuffer());
  if (bytes.byteLength >= COMPRESSED_BYTES) {
    response.appendHeader('Vary', 'Accept-Encoding');
    if (takesGzip(request.headers['accept-encoding'])) {
      response.setHeader('Content-Encoding', 'gzip');
      bytes = await compress(bytes, { level: FAST_LEVEL });
    }
  }
  response.write(bytes); // Do not use `end(bytes)`, which would set Content-Length. Next sends chunks.
  response.end();
}

function takesGzip(accepted = ''): boolean {
  return accepted.split(',').some((coding) => /^\s*gzip\s*(;\s*q=(0\.\d*[1-9]|1).*)?$/i.test(coding));
}
