import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What is open at this moment. */
export interface Traffic {
  addConnection(socket: Socket): void;
  addRequest(request: IncomingMessage, response: ServerResponse): void;
  /** From now on answers end their connections. */
  letFinish(): void;
  /** Closes the connections on which nothing is answered. */
  closeIdle(): void;
}

export function createTraffic(): Traffic {
  const connections = new Set<Socket>();
  const responses = new Set<ServerResponse>();
  let finishing = false;
  return {
    addConnection(socket) {
      connections.add(socket);
      socket.once('close', () => connections.delete(socket));
    },
    addRequest(_request, response) {
      if (finishing) response.shouldKeepAlive = false;
      responses.add(response);
      response.once('close', () => responses.delete(response));
    },
    letFinish() {
      finishing = true;
      for (const response of responses) response.shouldKeepAlive = false;
    },
    closeIdle() {
      const busy = new Set([...responses].map(({ socket }) => socket));
      for (const socket of connections) if (!busy.has(socket)) socket.destroy();
    },
  };
}
