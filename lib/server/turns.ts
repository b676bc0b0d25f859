import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Listener = (request: IncomingMessage, response: ServerResponse) => void;
type Pair = Parameters<Listener>;

/**
 * Begins the requests of a connection one at a time. Node emits those that a client sends ahead all at once, so
 * that one connection could start thousands of pages. A request whose client has left never begins.
 *
 * @param maxWaiting requests that may wait for the answers to earlier ones. Nothing may follow one with a body,
 *   so that no bodies pile up. A client that sends more loses its connection.
 */
export function oneAtATime(listener: Listener, maxWaiting: number): Listener {
  const queues = new WeakMap<Socket, Pair[]>();

  const begin = (queue: Pair[]): void => {
    const [request, response] = queue[0] as Pair;
    listener(request, response); // first, so that what it does at the end of an answer is done before the next begins
    response.once('close', () => {
      queue.shift();
      if (queue.length > 0 && request.socket.writable) begin(queue);
    });
  };

  return (request, response) => {
    const { socket } = request;
    if (!socket.writable) return; // closed, but Node goes on reading what had arrived
    const queue = queues.get(socket) ?? [];
    queues.set(socket, queue);
    const last = queue.at(-1)?.[0];
    if (queue.length > maxWaiting || (queue.length > 1 && last && hasBody(last)))
      return void socket.destroy();
    queue.push([request, response]);
    if (queue.length === 1) begin(queue);
  };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
