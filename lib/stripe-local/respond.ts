import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from './errors';
import type { Fault } from './faults';
import type { World } from './world';

export interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** Sends an answer with Stripe's headers; the date is the world's. */
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

/** Answers as the fault says; `answer` is what would have been said without it. */
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
    status: fault.status,
    body: errorOf(fault.status).body(),
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
