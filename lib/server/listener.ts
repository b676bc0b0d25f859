import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BlockList } from 'node:net';
import { type Logger, stackOf } from '../log';
import { carryParameters } from '../lost-parameter';
import { UPLOAD_PATH } from '../uploads/upload-limits';
import { setForwarding } from './forwarding';
import type { Limits } from './limits';
import { receiveBody } from './receive-body';
import { refuse } from './refuse';
import type { SlowBodies } from './slow-bodies';

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

interface Settings {
  trusted: BlockList;
  limits: Limits;
  slow: SlowBodies;
  log: Logger;
}

/** What limits its bodies itself. A path that may be led elsewhere, encoded or by dots, counts as a page's. */
const OWN_LIMIT = /^\/(api|mcp)(\/[^%\\.?]*)?(\?|$)/;

/** Hands on what is fit to be answered, and answers the rest. */
export function createListener(handle: Handler, { trusted, limits, slow, log }: Settings) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!setForwarding(request, trusted)) return void request.socket.destroy();
    if (!hasTarget(request)) return refuse(request, response, 400, 'There is no such address.');
    if (isUpgrade(request)) return refuse(request, response, 400, 'There is nothing to upgrade to.');
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    if (!OWN_LIMIT.test(request.url ?? '')) {
      const body = await receiveBody(request, limits.pageBody);
      if (body === 'too large') {
        return refuse(request, response, 413, `The body is larger than ${limits.pageBody} bytes.`);
      }
      // Next would wait for the end of a stream that has ended.
      if (body === 'empty') return refuse(request, response, 400, 'The body is empty.');
      if (body === 'broken off') return;
    }
    if (request.url?.split('?')[0] === UPLOAD_PATH) slow.add(request, response);
    request.url = carryParameters(request.url ?? '/');
    await handle(request, response).catch((error: unknown) => {
      log.error({ stack: stackOf(error) }, 'a request failed');
      if (!response.headersSent) response.statusCode = 500;
      response.end(response.headersSent ? undefined : 'Internal Server Error');
    });
  };
}

/** A path, or an absolute address; `*` is for OPTIONS alone, which has nothing to say of a whole server. */
function hasTarget({ url = '' }: IncomingMessage): boolean {
  return url.startsWith('/') || URL.canParse(url);
}

/** An offer of HTTP/2 may be passed over (RFC 9110, 7.8); some clients make it with every request. */
function isUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined && headers.upgrade.toLowerCase() !== 'h2c';
}
