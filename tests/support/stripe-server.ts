import type { ServerResponse } from 'node:http';
import { type Answer, ApiError, send } from '@/lib/stripe-local/respond';
import { startStripeLocal as startServer } from '@/lib/stripe-local/server';
import type { World } from '@/lib/stripe-local/world';
import { inVersion } from './stripe-versions';

export type StripeLocal = Awaited<ReturnType<typeof startStripeLocal>>;

const LOG_LENGTH = 10_000;

type Options = Omit<Parameters<typeof startServer>[0], 'respond' | 'shape'> & {
  /** The version of the API and of the events. Defaults to the SDK's version. */
  apiVersion?: string;
};

/** Starts a local Stripe that logs its requests and can answer them with faults. */
export async function startStripeLocal({ apiVersion, ...options }: Options) {
  const { world } = options;
  const faults = createFaults();
  const requests: RequestLogEntry[] = [];
  let count = 0;
  const local = await startServer({
    ...options,
    ...(apiVersion !== undefined && { shape: inVersion(apiVersion) }),
    async respond(req, res, answer) {
      const url = new URL(`http://127.0.0.1${req.url}`);
      const entry: RequestLogEntry = {
        index: count++,
        method: req.method ?? 'GET',
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
      };
      requests.push(entry);
      if (requests.length > LOG_LENGTH) requests.shift();
      const fault = faults.next(entry);
      if (fault) await sendWithFault(world, res, fault, answer);
      else send(world, res, answer());
    },
  });
  return {
    ...local,
    faults,
    /** The last 10,000 requests to Stripe's API. Requests to the control API are not logged. */
    requests,
    /** Returns the number of all requests to Stripe's API. */
    requestCount: () => count,
  };
}

/** Sends a response with a fault. `answer` is the response without the fault. */
async function sendWithFault(
  world: World,
  res: ServerResponse,
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
      return send(world, res, { status: 200, body: fault.body ?? '<html>Bad gateway</html>' });
    case 'status':
      return send(world, res, refusal(fault));
    case 'hold': {
      const made = answer();
      await fault.until();
      return send(world, res, made);
    }
  }
}

function refusal(fault: Extract<Fault, { kind: 'status' }>): Answer {
  return {
    ...errorOf(fault.status).answer(),
    ...(fault.shouldRetry !== undefined && {
      headers: { 'stripe-should-retry': String(fault.shouldRetry) },
    }),
  };
}

function errorOf(status: number): ApiError {
  if (status === 404) return new ApiError(404, 'No such object.', 'resource_missing', 'id');
  if (status === 400) return new ApiError(400, 'This cannot be asked for.', 'resource_missing', 'customer');
  if (status === 429) return new ApiError(429, 'Request rate limit exceeded.', 'rate_limit');
  return new ApiError(status, 'An unknown error occurred.', undefined, undefined, 'api_error');
}

/** A fault to inject into a response. */
export type Fault =
  | {
      kind: 'status';
      status: 400 | 403 | 404 | 429 | 500 | 503;
      /** Value of the stripe-should-retry header. */
      shouldRetry?: boolean;
    }
  /** Creates the response immediately but sends it when the promise resolves, when it may be out of date. */
  | { kind: 'hold'; until(): Promise<void> }
  | { kind: 'reset' }
  /** Never sends a response. */
  | { kind: 'timeout' }
  /** Responds with 200 and `body`, or with HTML if `body` is absent. */
  | { kind: 'garbage'; body?: string };

export interface RequestLogEntry {
  /** Number of the request, counted from 0. */
  index: number;
  method: string;
  path: string;
  query: Record<string, string>;
}

interface FaultRule {
  fault: Fault;
  /** The affected requests, by index or by a predicate. Defaults to all. */
  when?: readonly number[] | ((request: RequestLogEntry) => boolean);
  /** Maximum number of faults from this rule. If absent, there is no limit. */
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
