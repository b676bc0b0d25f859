import { createHash, timingSafeEqual } from 'node:crypto';
import type { Env } from '../env';
import { AppError } from '../errors';

/**
 * What our handlers read of a request. A `Request` is one; that of our own server is another, which costs a
 * fraction to make.
 */
export interface HttpRequest {
  readonly method: string;
  /** Absolute; of its host nothing can be said. */
  readonly url: string;
  readonly headers: Pick<Headers, 'get'> & Iterable<[string, string]>;
  readonly body: AsyncIterable<Uint8Array> | null;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
}

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
export type Method = (typeof METHODS)[number];

export type Params = Record<string, string>;
export type Handler = (
  request: HttpRequest,
  context: { params: Promise<Params> },
) => Response | Promise<Response>;

/** The handlers of an address: what a route file exports, and what our server's table holds. */
export type Route = Record<Method, Handler>;

/** The largest body that any route reads: 1 MiB. */
const MAX_BODY_BYTES = 1_048_576;

// A sender that is cut off while sending sees a reset and no answer: read on a while, keeping nothing.
const DRAINED = 8;

/**
 * Reads a body to the byte, counting while it reads, so that a false Content-Length buys nothing.
 *
 * @throws AppError payload_too_large; malformed_json when its sender hangs up
 */
export async function readBody(
  { body }: Pick<HttpRequest, 'body'>,
  limit = MAX_BODY_BYTES,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body ?? []) {
      size += chunk.byteLength;
      if (size <= limit) chunks.push(chunk);
      if (size > limit * DRAINED) break;
    }
  } catch {
    throw new AppError('malformed_json', 'The body broke off.');
  }
  if (size > limit) throw new AppError('payload_too_large', `The body is larger than ${limit} bytes.`);
  return Buffer.concat(chunks);
}

/**
 * The JSON of a body.
 *
 * @throws AppError malformed_json for text that is not UTF-8 or not JSON
 */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new AppError('malformed_json', 'The body is not valid JSON.');
  }
}

/** A strong validator (RFC 9110, 8.8.3): the same bytes of JSON, the same tag. */
export function etagOf(body: unknown): string {
  return `"${createHash('sha256').update(JSON.stringify(body)).digest('base64url')}"`;
}

/**
 * Whether a list of tags (`If-Match`, `If-None-Match`) holds one; `*` holds any. A `W/` prefix is passed
 * over: proxies that compress add it to tags which were strong.
 */
function holdsEtag(header: string, etag: string): boolean {
  return header.trim() === '*' || [...header.matchAll(/"[^"]*"/g)].some(([tag]) => tag === etag);
}

/** JSON with its tag, or 304 where the caller has it already. */
export function jsonWithEtag(request: HttpRequest, body: unknown, init: ResponseInit = {}): Response {
  const etag = etagOf(body);
  const known = request.headers.get('if-none-match');
  if (['GET', 'HEAD'].includes(request.method) && known && holdsEtag(known, etag)) {
    return new Response(null, { status: 304, headers: { ETag: etag } });
  }
  const headers = new Headers(init.headers);
  headers.set('ETag', etag);
  return Response.json(body, { ...init, headers });
}

/**
 * The condition of `If-Match` and `If-None-Match` on the state that a write would replace (null: the resource does not
 * exist). Undefined if there is no condition. RFC 9110, 13.1
 */
export function preconditionOf({ headers }: HttpRequest): ((current: unknown) => boolean) | undefined {
  const wanted = headers.get('if-match');
  const unwanted = headers.get('if-none-match');
  if (wanted === null && unwanted === null) return undefined;
  return (current) => {
    if (current === null) return wanted === null;
    const etag = etagOf(current);
    return holdsEtag(wanted ?? '*', etag) && !holdsEtag(unwanted ?? '', etag);
  };
}

/** Whether a request bears CRON_SECRET; never where none is set. */
export function bearsCronSecret({ cronSecret }: Env, request: HttpRequest): boolean {
  if (!cronSecret) return false;
  const borne = /^bearer +(.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? '';
  return timingSafeEqual(digest(borne), digest(cronSecret));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
