import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { World } from './world';

export interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** Sends a response with Stripe's headers and the world's date. */
export function send(world: World, res: ServerResponse, requestId: string, answer: Answer): void {
  if (res.destroyed) return;
  const body = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
  res.sendDate = false;
  res.writeHead(answer.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    date: world.now().toUTCString(),
    'request-id': requestId,
    ...answer.headers,
  });
  res.end(body);
}

/** Sends a response with a fault. `answer` is the response without the fault. */
export async function sendWithFault(
  world: World,
  res: ServerResponse,
  requestId: string,
  fault: Fault,
  answer: () => Answer,
): Promise<void> {
  switch (fault.kind) {
    case 'reset':
      res.socket?.resetAndDestroy();
      return;
    case 'timeout':
      return;
    case 'garbage':
      return send(world, res, requestId, { status: 200, body: fault.body ?? '<html>Bad gateway</html>' });
    case 'status':
      return send(world, res, requestId, refusal(fault));
    case 'latency':
    case 'hold': {
      const made = answer();
      await (fault.kind === 'latency' ? sleep(fault.ms) : fault.until());
      return send(world, res, requestId, made);
    }
  }
}

function refusal(fault: Extract<Fault, { kind: 'status' }>): Answer {
  return {
    ...errorOf(fault.status).answer(),
    headers: {
      ...(fault.retryAfter !== undefined && { 'retry-after': String(fault.retryAfter) }),
      ...(fault.shouldRetry !== undefined && { 'stripe-should-retry': String(fault.shouldRetry) }),
    },
  };
}

function errorOf(status: number): ApiError {
  if (status === 404) return new ApiError(404, 'No such object.', 'resource_missing', 'id');
  if (status === 400) return new ApiError(400, 'This cannot be asked for.', 'resource_missing', 'customer');
  if (status === 429) return new ApiError(429, 'Request rate limit exceeded.', 'rate_limit');
  if (status === 409)
    return new ApiError(409, 'This object is being accessed by another request.', 'lock_timeout');
  return new ApiError(status, 'An unknown error occurred.', undefined, undefined, 'api_error');
}

/** @throws ApiError 401 unless the request has this secret key */
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

/** Parses a text as JSON. Returns `otherwise` if it is not JSON. @param reviver replaces each parsed value */
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

/** An error response with Stripe's wording. */
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

/** Returns the error for a path whose object does not exist. */
export function notFound(noun: string, id: string): ApiError {
  return new ApiError(404, `No such ${noun}: '${id}'`, 'resource_missing', 'id');
}

/** Returns the error for a parameter that names a missing object. */
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

/** A fault to inject into a response. */
export type Fault =
  | {
      kind: 'status';
      status: 400 | 403 | 404 | 409 | 429 | 500 | 503;
      /** The Retry-After header, in seconds. */
      retryAfter?: number;
      /** The stripe-should-retry header. */
      shouldRetry?: boolean;
    }
  /** Creates the response at once but sends it after a delay, when it may be out of date. */
  | { kind: 'latency'; ms: number }
  /** Creates the response at once but sends it when the promise resolves. */
  | { kind: 'hold'; until(): Promise<void> }
  | { kind: 'reset' }
  /** Never responds. */
  | { kind: 'timeout' }
  /** Responds with 200 and a body that is not JSON. */
  | { kind: 'garbage'; body?: string };

export interface RequestLogEntry {
  /** Number of the request, from 0. */
  index: number;
  method: string;
  path: string;
  query: Record<string, string>;
}

interface FaultRule {
  fault: Fault;
  /** The affected requests, by index or by a predicate. Defaults to all. */
  when?: readonly number[] | ((request: RequestLogEntry) => boolean);
  /** Maximum number of faults from this rule. Unlimited if absent. */
  times?: number;
}

export type Faults = ReturnType<typeof createFaults>;

export function createFaults() {
  let rules: { rule: FaultRule; left: number }[] = [];
  return {
    add: (rule: FaultRule) => {
      rules.push({ rule, left: rule.times ?? Number.POSITIVE_INFINITY });
    },
    clear: () => {
      rules = [];
    },
    /** Returns the fault of the first matching rule, and counts one use of the rule. */
    next: (request: RequestLogEntry): Fault | undefined => {
      const found = rules.find(({ rule, left }) => left > 0 && applies(rule, request));
      if (found) found.left -= 1;
      return found?.rule.fault;
    },
  };
}

function applies({ when }: FaultRule, request: RequestLogEntry): boolean {
  if (when === undefined) return true;
  return typeof when === 'function' ? when(request) : when.includes(request.index);
}
