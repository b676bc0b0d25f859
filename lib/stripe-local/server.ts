import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { seededChance } from '../chance';
import { type ApiOptions, answerRequest } from './api';
import { answerControl, type Webhook } from './control';
import { createSaver } from './persist';
import { type Answer, ApiError, send } from './respond';
import { drawId } from './world';

interface StripeLocalOptions extends ApiOptions {
  /** Endpoint to which the control API delivers events. If absent, no events are delivered. */
  webhook?: Webhook;
  /** File to which the world is saved after each change through the control API. If absent, it is not saved. */
  file?: string;
  log?: (message: string) => void;
  /** Responds to API requests, for example with an error. By default, the result of `answer` is sent. */
  respond?: (req: IncomingMessage, res: ServerResponse, answer: () => Answer) => void | Promise<void>;
}

export type StripeLocal = Awaited<ReturnType<typeof startStripeLocal>>;

// Clients close idle connections sooner than this. The server therefore never closes a connection that a client is
// about to reuse.
const KEEP_ALIVE_MS = 120_000;

/** Starts a server on a free port of 127.0.0.1 that serves a world as Stripe's API. */
export async function startStripeLocal(options: StripeLocalOptions) {
  const { world, log, respond = (_req, res, answer) => send(world, res, answer()) } = options;
  const requestIds = seededChance(1);
  const saver = options.file === undefined ? null : createSaver(world, options.file, log);

  const server = createServer((req, res) => {
    res.setHeader('request-id', drawId(requestIds, 'req_'));
    answer(req, res).catch((error: unknown) => {
      log?.(`stripe-local: ${error instanceof Error ? error.stack : String(error)}`);
      const failure = new ApiError(500, 'The local Stripe failed.', undefined, undefined, 'api_error');
      if (!res.headersSent) send(world, res, failure.answer());
    });
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;

  async function answer(req: IncomingMessage, res: ServerResponse) {
    const url = new URL(`http://127.0.0.1${req.url}`);
    if (!url.pathname.startsWith('/_local/'))
      return respond(req, res, () => answerRequest(options, req, url));
    const onChange = () => saver?.schedule();
    send(world, res, await answerControl({ ...options, onChange }, req, url));
  }

  await new Promise<void>((done, failed) => {
    server.once('error', failed);
    server.listen(0, '127.0.0.1', done);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      await saver?.flush();
    },
  };
}
