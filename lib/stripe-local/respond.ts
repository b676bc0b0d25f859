import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { World } from './world';

export interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** Sends a JSON response, with the world's time as its Date header. */
export function send(world: World, res: ServerResponse, answer: Answer): void {
  if (res.destroyed) return;
  const body = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
  res.sendDate = false;
  res.writeHead(answer.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    date: world.now().toUTCString(),
    ...answer.headers,
  });
  res.end(body);
}

/** Checks the bearer token of a request. @throws ApiError 401 if it is missing or is not the secret key */
export function authorize(req: IncomingMessage, secretKey: string): void {
  const [, key] = /^Bearer (\S+)$/.exec(req.headers.authorization ?? '') ?? [];
  if (key === undefined) {
    throw new ApiError(
      401,
      "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY').",
    );
  }
  if (!timingSafeEqual(hash(key), hash(secretKey))) {
    throw new ApiError(401, `Invalid API Key provided: ${key.slice(0, 8)}***`);
  }
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/**
 * Parses JSON. Returns `otherwise` if the text is not valid JSON.
 *
 * @param reviver function that replaces each parsed value
 */
export function parseJson(
  text: string,
  otherwise: unknown,
  reviver?: (key: string, value: unknown) => unknown,
): unknown {
  try {
    return JSON.parse(text, reviver);
  } catch {
    return otherwise;
  }
}

/** An error response in Stripe's format. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly status: number,
    message: string,
    readonly code?: string,
    readonly param?: string,
    readonly type = 'invalid_request_error',
  ) {
    super(message);
  }

  body(): { error: Record<string, string> } {
    const code = this.code && {
      code: this.code,
      doc_url: `https://stripe.com/docs/error-codes/${this.code.replaceAll('_', '-')}`,
    };
    const param = this.param && { param: this.param };
    return { error: { ...code, message: this.message, ...param, type: this.type } };
  }

  answer(): Answer {
    return { status: this.status, body: this.body() };
  }
}

/** Returns the 404 error for a path that contains the id of a missing object. */
export function notFound(noun: string, id: string): ApiError {
  return new ApiError(404, `No such ${noun}: '${id}'`, 'resource_missing', 'id');
}

/** Returns the 400 error for a parameter whose value is the id of a missing object. */
export function missing(noun: string, id: string, param: string): ApiError {
  return new ApiError(400, `No such ${noun}: '${id}'`, 'resource_missing', param);
}

export function missingParameter(name: string): ApiError {
  return new ApiError(400, `Missing required param: ${name}.`, 'parameter_missing', name);
}

export function unknownParameters(names: string[]): ApiError {
  const plural = names.length > 1 ? 's' : '';
  return new ApiError(
    400,
    `Received unknown parameter${plural}: ${names.join(', ')}`,
    'parameter_unknown',
    names[0],
  );
}
