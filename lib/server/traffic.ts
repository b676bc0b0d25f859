import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** What is open at this moment. */
export interface Traffic {
  addConnection(socket: Socket): void;
  addRequest(request: IncomingMessage, response: ServerResponse): void;
  isAnswering(socket: Socket): boolean;
  /** Whether a part of an answer has been sent that is not at its end. */
  hasBegunAnswer(socket: Duplex): boolean;
  /** From now on answers end their connections. */
  letFinish(): void;
  /** Closes the connections on which nothing is answered. */
  closeIdle(): void;
}

/** @param refused is called for a connection above the limit, which is closed */
export function createTraffic(maxConnections: number, refused: () => void): Traffic {
  const connections = new Set<Socket>();
  /** The response that each connection waits for; a connection has one at a time, see oneAtATime. */
  const open = new Map<Duplex, ServerResponse>();
  let finishing = false;
  return {
    addConnection(socket) {
      if (connections.size >= maxConnections) {
        refused();
        return void socket.destroy();
      }
      connections.add(socket);
      socket.once('close', () => connections.delete(socket));
    },
    addRequest({ socket }, response) {
      if (finishing) response.shouldKeepAlive = false;
      open.set(socket, response);
      response.once('close', () => open.delete(socket));
    },
    isAnswering: (socket) => open.has(socket),
    hasBegunAnswer: (socket) => open.get(socket)?.headersSent ?? false,
    letFinish() {
      finishing = true;
      for (const response of open.values()) response.shouldKeepAlive = false;
    },
    closeIdle() {
      for (const socket of connections) if (!open.has(socket)) socket.destroy();
    },
  };
}
