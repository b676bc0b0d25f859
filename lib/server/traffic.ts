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
  const responses = new Set<ServerResponse>();
  /** How many requests of a connection wait for their answers: some clients send several ahead. */
  const open = new Map<Socket, number>();
  const count = (socket: Socket, step: number) => {
    const requests = (open.get(socket) ?? 0) + step;
    if (requests > 0) open.set(socket, requests);
    else open.delete(socket);
  };
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
      responses.add(response);
      count(socket, 1);
      response.once('close', () => {
        responses.delete(response);
        count(socket, -1);
      });
    },
    isAnswering: (socket) => open.has(socket),
    hasBegunAnswer: (socket) =>
      [...responses].some(({ req, headersSent }) => headersSent && req.socket === socket),
    letFinish() {
      finishing = true;
      for (const response of responses) response.shouldKeepAlive = false;
    },
    closeIdle() {
      for (const socket of connections) if (!open.has(socket)) socket.destroy();
    },
  };
}
