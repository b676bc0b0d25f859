import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { isDatabaseUnavailable, isDiskFullError, pgErrorCode, READ_ONLY } from '@/db/database';
import type { Env } from '../env';
import { AppError, diskFull, type ErrorCode } from '../errors';
import { type Logger, stackOf } from '../log';
import { explainFailure, type Runtime, runtimeOrError } from '../runtime';

/**
 * The parts of a request that our handlers read. The server's own request object implements them, because a `Request`
 * costs much more to create.
 */
export interface HttpRequest {
  readonly method: string;
  /** The absolute URL. Its host is not reliable. */
  readonly url: string;
  readonly headers: Pick<Headers, 'get'> & Iterable<[string, string]>;
  readonly body: AsyncIterable<Uint8Array> | null;
  /** Signal that aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
export type Method = (typeof METHODS)[number];

export type Params = Record<string, string>;
export type Handler = (
  request: HttpRequest,
  context: { params: Promise<Params> },
) => Response | Promise<Response>;

/**
 * The handlers of a path, by method. Next's route files export them, and our own server has some in `FAST_ROUTES`.
 */
export type Route = Record<Method, Handler>;

/** The default limit of a request body: 1 MiB. */
const MAX_BODY_BYTES = 1_048_576;

// If the server closes the connection during an upload, the sender sees a connection reset instead of the response.
// Therefore the server reads and discards a body that is too large, up to this multiple of the limit.
const DRAIN_FACTOR = 8;

/**
 * Reads a request body. Counts the bytes while reading, because Content-Length may be wrong.
 *
 * @throws AppError payload_too_large; malformed_json if the sender disconnects
 */
export async function readBody(
  { body }: Pick<HttpRequest, 'body'>,
  limit = MAX_BODY_BYTES,
  tooLarge = `The body is larger than ${limit} bytes.`,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body ?? []) {
      size += chunk.byteLength;
      if (size <= limit) chunks.push(chunk);
      if (size > limit * DRAIN_FACTOR) break;
    }
  } catch {
    throw new AppError('malformed_json', 'The body is incomplete. Send the request again.');
  }
  if (size > limit) throw new AppError('payload_too_large', tooLarge);
  return Buffer.concat(chunks);
}

/** Returns the media type of a request body in lower case, without its parameters. */
export function mediaType({ headers }: Pick<HttpRequest, 'headers'>): string | undefined {
  return headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
}

/**
 * Parses a request body as JSON.
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

/** Returns the strong ETag of a JSON value (RFC 9110, 8.8.3). Identical JSON text has an identical ETag. */
export function etagOf(body: unknown): string {
  return `"${createHash('sha256').update(JSON.stringify(body)).digest('base64url')}"`;
}

/** Returns whether a header is `*` or lists this ETag. Ignores `W/`, which compressing proxies add. */
function holdsEtag(header: string, etag: string): boolean {
  return header.trim() === '*' || [...header.matchAll(/"[^"]*"/g)].some(([tag]) => tag === etag);
}

/**
 * Responds with JSON and its ETag, or with 304 to a GET or HEAD if the caller already has this version. A 304 has the
 * same headers (RFC 9110, 15.4.5).
 */
export function jsonWithEtag(request: HttpRequest, body: unknown, init: ResponseInit = {}): Response {
  const etag = etagOf(body);
  const headers = new Headers(init.headers);
  headers.set('ETag', etag);
  const known = request.headers.get('if-none-match');
  if (['GET', 'HEAD'].includes(request.method) && known && holdsEtag(known, etag)) {
    return new Response(null, { status: 304, headers });
  }
  return Response.json(body, { ...init, headers });
}

/**
 * Returns a function that checks `If-Match` and `If-None-Match` against the resource's current state, which is null if
 * the resource does not exist. Returns undefined if the request has neither header. RFC 9110, 13.1
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

/** Returns whether a request carries CRON_SECRET. Always false if CRON_SECRET is not set. */
export function bearsCronSecret({ cronSecret }: Env, request: HttpRequest): boolean {
  return bearsSecret(cronSecret, request);
}

/** Returns whether a request carries a bearer secret, compared in constant time. False if `secret` is null. */
export function bearsSecret(secret: string | null, request: HttpRequest): boolean {
  if (!secret) return false;
  const borne = /^bearer +(.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? '';
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(borne), digest(secret));
}

/** The body of an error response (RFC 9457). */
export const problem = z.object({
  type: z
    .string()
    .meta({ description: 'Names the kind of error for programs; it is not an address to fetch.' }),
  title: z.string(),
  status: z.int(),
  detail: z.string().meta({ description: 'A sentence for people.' }),
  errors: z
    .array(
      z.object({
        field: z.string().meta({
          description:
            'The body field or query parameter. Empty if the error concerns the whole body or query.',
        }),
        message: z.string(),
      }),
    )
    .optional(),
});
export type Problem = z.infer<typeof problem>;

const TITLES: Record<ErrorCode, string> = {
  malformed_json: 'Malformed JSON',
  unauthenticated: 'Unauthenticated',
  forbidden: 'Forbidden',
  not_found: 'Not found',
  method_not_allowed: 'Method not allowed',
  not_acceptable: 'Not acceptable',
  conflict: 'Conflict',
  precondition_failed: 'Precondition failed',
  payload_too_large: 'Payload too large',
  unsupported_media_type: 'Unsupported media type',
  validation_failed: 'Validation failed',
  too_many_requests: 'Too many requests',
  internal: 'Internal error',
  unavailable: 'Service unavailable',
  insufficient_storage: 'Insufficient storage',
};

export function toProblem(error: AppError): Problem {
  return {
    type: `urn:w5t:error:${error.code}`,
    title: TITLES[error.code],
    status: error.status,
    detail: error.message,
    ...(error.fields.length > 0 && { errors: error.fields }),
  };
}

export function problemResponse(error: AppError, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(toProblem(error)), {
    status: error.status,
    headers: {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      ...(error.retryAfter !== undefined && { 'Retry-After': String(error.retryAfter) }),
      ...headers,
    },
  });
}

/** Responds with JSON that no cache may store. */
export function uncachedJson(body: unknown, status = 200): Response {
  return Response.json(body, { status, headers: { 'Cache-Control': 'no-store' } });
}

/**
 * Runs work and returns its response. If the service cannot start or the work throws, `refuse` makes the response.
 *
 * @param refuse function that makes the response to an error; `hasStarted` is false if the service cannot start
 */
export async function answerWith(
  work: (runtime: Runtime) => Response | Promise<Response>,
  refuse: (error: AppError, hasStarted: boolean) => Response = (error) => problemResponse(error),
): Promise<Response> {
  const runtime = await runtimeOrError();
  if (runtime instanceof AppError) return refuse(runtime, false);
  try {
    return await work(runtime);
  } catch (error) {
    return refuse(toAppError(await explainFailure(runtime, error), runtime.newId(), runtime.log), true);
  }
}

// PostgreSQL's error codes for contention: deadlock and serialization failure after all retries of `transact`, lock
// timeout, and statement timeout.
const CONTENDED = /^(40...|55P03|57014)$/;

/** Returns an AppError as is. Converts other errors, logs them under `ref`, and keeps their text out of responses. */
export function toAppError(error: unknown, ref: string, log: Logger): AppError {
  if (error instanceof AppError) return error;
  const code = pgErrorCode(error);
  // Never log the driver's message, because it contains the query's parameters, which may be personal data.
  log.error({ ref, code, stack: stackOf(error) }, 'request failed');
  if (CONTENDED.test(code ?? '')) {
    return new AppError(
      'unavailable',
      'Other requests are changing the same record. Try again in a few seconds.',
    );
  }
  if (isDiskFullError(error)) return diskFull();
  if (code === READ_ONLY) return new AppError('unavailable', 'The database is read-only. Try again later.');
  return isDatabaseUnavailable(error)
    ? new AppError('unavailable', 'The database does not answer. Try again in a few seconds.')
    : new AppError('internal', `Something went wrong on our side (ref ${ref}). Try again later.`);
}

/**
 * Returns handlers that refuse every method with 405 and `Allow`, and respond to OPTIONS with 204. A route replaces the
 * handlers of the methods that it supports. Next's own 405 has no `Allow`.
 */
export function methodNotAllowed(allow: string): Route {
  const refuse = () =>
    problemResponse(new AppError('method_not_allowed', `Allowed here: ${allow}.`), { Allow: allow });
  const options = () => new Response(null, { status: 204, headers: { Allow: allow } });
  return { ...everyMethod(refuse), OPTIONS: options };
}

/**
 * Returns a route that uses one handler for all methods. A route file must not omit a method, or Next handles that
 * method itself.
 */
export function everyMethod<Given>(handler: Given): Record<Method, Given> {
  return Object.fromEntries(METHODS.map((method) => [method, handler])) as Record<Method, Given>;
}

/** Returns the 404 for an unknown path, as problem+json. */
export function answerUnknownPath(): Response {
  return problemResponse(new AppError('not_found', 'There is no page at this address.'));
}

/** Next stores parameters in an object, and loses a parameter with this name before a route sees the URL. */
const PROTO = '__proto__';
/** The name that replaces `__proto__` on the way through Next. No real parameter has this name. */
const PROTO_ALIAS = `${PROTO}\n`;

/** Renames the query parameter `__proto__` in a URL, because Next would lose it. `originalName` restores it. */
export function renameProto(url: string): string {
  const [path = '', ...query] = url.split('?');
  if (query.length === 0) return url;
  return `${path}?${query.join('?').split('&').map(renameIfProto).join('&')}`;
}

function renameIfProto(parameter: string): string {
  const [name = '', ...value] = parameter.split('=');
  const isLost = new URLSearchParams(name).has(PROTO);
  return isLost ? [encodeURIComponent(PROTO_ALIAS), ...value].join('=') : parameter;
}

/** Returns the name that a parameter had before `renameProto`. */
export function originalName(name: string): string {
  return name === PROTO_ALIAS ? PROTO : name;
}
