import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

const DRAINED_BYTES = 2_097_152;
/** How long a refused client may read the answer before the connection ends. */
const LINGER_MS = 1000;

/**
 * Answers a request without keeping its body, and closes its connection. A sender that is cut off while
 * sending sees a reset and no answer: it gets a moment to read before that.
 */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  text: string,
): void {
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
  });
  response.write(text); // its whole length: the answer is there before it ends
  const timer = setTimeout(() => response.end(), LINGER_MS);
  response.once('close', () => clearTimeout(timer));
  request.once('end', () => response.end());
  let dropped = 0;
  request.on('data', (chunk: Buffer) => {
    dropped += chunk.byteLength;
    if (dropped > DRAINED_BYTES) request.pause();
  });
}

/** Bodies that may take longer than others to arrive, until their request is answered. */
export interface SlowBodies {
  add(request: IncomingMessage, response: ServerResponse): void;
  has(socket: Duplex): boolean;
}

/** @param limitMs how long they may take instead */
export function createSlowBodies(limitMs: number): SlowBodies {
  const sockets = new Set<Duplex>();
  return {
    has: (socket) => sockets.has(socket),
    add(request, response) {
      const { socket } = request;
      sockets.add(socket);
      const timer = setTimeout(() => socket.destroy(), limitMs);
      response.once('close', () => {
        clearTimeout(timer);
        sockets.delete(socket);
        // Who was refused gets a moment to read it, and sends in vain no longer.
        setTimeout(() => request.complete || socket.destroy(), LINGER_MS).unref();
      });
    },
  };
}
