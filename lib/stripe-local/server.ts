import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { seededChance } from '../chance';
import { type ApiOptions, answerRequest } from './api';
import { answerControl, type Webhook } from './control';
import { createSaver } from './persist';
import { ApiError, createFaults, type RequestLogEntry, send, sendWithFault } from './respond';
import { drawId } from './world';

interface StripeLocalOptions extends ApiOptions {
  /** Endpoint to which the control API delivers events. If absent, no events are delivered. */
  webhook?: Webhook;
  /** File to which the control API saves the world after each change. */
  file?: string;
  log?: (message: string) => void;
}

export type StripeLocal = Awaited<ReturnType<typeof startStripeLocal>>;

const LOG_LENGTH = 10_000;
// Longer than clients keep idle connections, so the server does not close a connection that a client is about to reuse.
const KEEP_ALIVE_MS = 120_000;

/** Starts a Stripe API on a free port of 127.0.0.1 that serves a world. */
export async function startStripeLocal(options: StripeLocalOptions) {
  const { world, log } = options;
  const faults = createFaults();
  const requests: RequestLogEntry[] = [];
  const requestIds = seededChance(1);
  const saver = options.file === undefined ? null : createSaver(world, options.file, log);
  let count = 0;

  const server = createServer((req, res) => {
    const requestId = drawId(requestIds, 'req_');
    answer(req, res, requestId).catch((error: unknown) => {
      log?.(`stripe-local: ${error instanceof Error ? error.stack : String(error)}`);
      const failure = new ApiError(500, 'The local Stripe failed.', undefined, undefined, 'api_error');
      if (!res.headersSent) send(world, res, requestId, failure.answer());
    });
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;

  async function answer(req: IncomingMessage, res: ServerResponse, requestId: string) {
    const url = new URL(`http://127.0.0.1${req.url}`);
    if (url.pathname.startsWith('/_local/')) {
      const onChange = () => saver?.schedule();
      return send(world, res, requestId, await answerControl({ ...options, onChange }, req, url));
    }
    const entry: RequestLogEntry = {
      index: count++,
      method: req.method ?? 'GET',
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
    };
    requests.push(entry);
    if (requests.length > LOG_LENGTH) requests.shift();
    const respond = () => answerRequest(options, req, url);
    const fault = faults.next(entry);
    if (fault) await sendWithFault(world, res, requestId, fault, respond);
    else send(world, res, requestId, respond());
  }

  await new Promise<void>((done, failed) => {
    server.once('error', failed);
    server.listen(0, '127.0.0.1', done);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    faults,
    /** The last 10,000 requests to /v1. */
    requests,
    /** Returns the number of all requests to /v1. */
    requestCount: () => count,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      await saver?.flush();
    },
  };
}
