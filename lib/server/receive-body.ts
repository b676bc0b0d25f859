import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';

/** `empty`: a body was announced and has nothing in it; its stream has ended before anybody else listened. */
type Received = 'received' | 'empty' | 'too large' | 'broken off';

/**
 * Waits until a request's body is here, unread, so that what follows begins with nothing that may stall.
 * How long that may take is the server's `requestTimeout`; its `highWaterMark` is above the limit.
 */
export async function receiveBody(request: IncomingMessage, limit: number): Promise<Received> {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (Number(length ?? 0) > limit) return 'too large';
  if (encoding === undefined && Number(length ?? 0) === 0) return 'received';
  const outcome = await new Promise<Received>((resolve) => {
    request.on('readable', () => {
      if (request.readableLength > limit) resolve('too large');
      else if (request.complete) resolve(request.readableLength > 0 ? 'received' : 'empty');
    });
    request.once('close', () => resolve('broken off'));
  });
  request.removeAllListeners('readable');
  await setImmediate(); // the stream does not notice that its listener is gone
  return outcome;
}
