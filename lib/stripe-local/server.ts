import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Stripe from 'stripe';
import { authorize } from './authorize';
import { drawId, seededChance } from './chance';
import { answerControl, type Webhook } from './control';
import { ENDPOINTS } from './endpoints';
import { ApiError } from './errors';
import { createFaults, type Faults, type RequestLogEntry } from './faults';
import { createSaver } from './persist';
import { type Answer, send, sendWithFault } from './respond';
import type { World } from './world';

export interface StripeLocalOptions {
  world: World;
  /** 0, or left out: any free one. */
  port?: number;
  /** Whoever asks must give this key. */
  secretKey: string;
  /** The Stripe-Version that it insists on, so that an SDK upgrade is noticed; the SDK's own unless given. */
  apiVersion?: string;
  /** Where the control API delivers events; without it, nothing is delivered. */
  webhook?: Webhook;
  /** Where the control API saves the world after each change. */
  file?: string;
  log?: (message: string) => void;
}

export interface StripeLocal {
  url: string;
  port: number;
  faults: Faults;
  /** Requests to /v1, the last 10,000. */
  requests: RequestLogEntry[];
  /** How many there were. */
  requestCount(): number;
  close(): Promise<void>;
}

const LOG_LENGTH = 10_000;

/** A Stripe API on 127.0.0.1 that answers from a world. */
export async function startStripeLocal(options: StripeLocalOptions): Promise<StripeLocal> {
  const { world, log } = options;
  const faults = createFaults();
  const requests: RequestLogEntry[] = [];
  const requestIds = seededChance(1);
  const saver = options.file === undefined ? null : createSaver(world, options.file, log);
  let count = 0;

  const server = createServer((req, res) => {
    const requestId = drawId(requestIds, 'req_');
    const url = new URL(req.url ?? '/', 'http://127.0.0.1');
    const answered = url.pathname.startsWith('/_local/')
      ? answerControl({ ...options, onChange: () => saver?.schedule() }, req, url).then((answer) =>
          send(world, res, requestId, answer),
        )
      : answerApi(req, res, url, requestId);
    answered.catch((error: unknown) => {
      log?.(`stripe-local: ${error instanceof Error ? error.stack : String(error)}`);
      const { status, body } = errorAnswer(new ApiError(500, 'The local Stripe failed.'));
      if (!res.headersSent) send(world, res, requestId, { status, body });
    });
  });

  async function answerApi(req: IncomingMessage, res: ServerResponse, url: URL, requestId: string) {
    const entry: RequestLogEntry = {
      index: count++,
      method: req.method ?? 'GET',
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
    };
    requests.push(entry);
    if (requests.length > LOG_LENGTH) requests.shift();
    const answer = () => answerRequest(options, req, url);
    const fault = faults.next(entry);
    if (fault) await sendWithFault(world, res, requestId, fault, answer);
    else send(world, res, requestId, answer());
  }

  const port = await listen(server, options.port ?? 0);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    faults,
    requests,
    requestCount: () => count,
    close: async () => {
      await closeServer(server);
      await saver?.flush();
    },
  };
}

function answerRequest(options: StripeLocalOptions, req: IncomingMessage, url: URL): Answer {
  try {
    const version = options.apiVersion ?? Stripe.API_VERSION;
    authorize(req, options.secretKey);
    requireVersion(req, version);
    const { endpoint, id } = route(req.method ?? 'GET', url.pathname);
    return { status: 200, body: endpoint({ world: options.world, version }, id, url.searchParams) };
  } catch (error) {
    if (error instanceof ApiError) return errorAnswer(error);
    throw error;
  }
}

function requireVersion(req: IncomingMessage, version: string): void {
  const given = req.headers['stripe-version'];
  if (given === version) return;
  throw new ApiError(
    400,
    `Invalid Stripe API version: ${given ?? 'none'}. This local Stripe speaks ${version}.`,
  );
}

function route(method: string, path: string) {
  const parts = path.split('/');
  for (const [pattern, endpoint] of Object.entries(ENDPOINTS)) {
    const wanted = pattern.split('/');
    const fits =
      wanted.length === parts.length && wanted.every((part, i) => part === ':id' || part === parts[i]);
    if (method === 'GET' && fits)
      return { endpoint, id: decodeURIComponent(parts[wanted.indexOf(':id')] ?? '') };
  }
  throw new ApiError(404, `Unrecognized request URL (${method}: ${path}).`);
}

function errorAnswer(error: ApiError): Answer {
  return { status: error.status, body: error.body() };
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((done, failed) => {
    server.once('error', failed);
    server.listen(port, '127.0.0.1', done);
  });
  return (server.address() as AddressInfo).port;
}

async function closeServer(server: Server): Promise<void> {
  await new Promise<void>((done) => {
    server.close(() => done());
    server.closeAllConnections();
  });
}
