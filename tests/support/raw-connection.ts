import { connect, type Socket } from 'node:net';

/** A raw TCP connection, for requests that no HTTP client would send. */
export interface RawConnection {
  socket: Socket;
  /** Returns the response so far. */
  text(): string;
  /** Milliseconds from the opening of the connection until either side has closed it. */
  closed: Promise<number>;
}

export function openRaw(port: number, start = ''): RawConnection {
  const from = performance.now();
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString('latin1')));
  socket.on('error', () => {}); // A reset counts as closing.
  const closed = new Promise<number>((done) => socket.once('close', () => done(performance.now() - from)));
  if (start) socket.write(start);
  return { socket, text: () => text, closed };
}

/** Builds the head of a request, to be followed by its body. */
export function head(request: string, headers: Record<string, string | number> = {}): string {
  const lines = Object.entries({ Host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}`);
  return [`${request} HTTP/1.1`, ...lines, '', ''].join('\r\n');
}
