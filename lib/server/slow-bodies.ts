import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { LINGER_MS } from './refuse';

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
