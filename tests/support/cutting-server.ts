import { type AddressInfo, createServer, type Socket } from 'node:net';

/** How the server ends a connection. */
export type Cut = 'close' | 'reset';

export interface CuttingServer {
  url: string;
  /** The statements of each connection, in the order of arrival. */
  connections: string[][];
  close(): Promise<void>;
}

const message = (type: string, body: Buffer) => {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const AUTHENTICATED = message('R', Buffer.alloc(4));
const READY = message('Z', Buffer.from('I'));
const DONE = message('C', Buffer.from('DONE\0'));
const PREPARED = Buffer.concat([
  message('1', Buffer.alloc(0)),
  message('2', Buffer.alloc(0)),
  message('n', Buffer.alloc(0)),
]);

/** Starts a minimal PostgreSQL server that cuts connections. Supports no parameters and returns no rows. */
export async function startCuttingServer(cutAt: (statement: string) => Cut | null): Promise<CuttingServer> {
  const connections: string[][] = [];
  const server = createServer((socket) => {
    const statements: string[] = [];
    connections.push(statements);
    let received = Buffer.alloc(0);
    let isStarted = false;
    socket.on('error', () => {}); // The connection is cut on purpose.
    socket.on('data', (data) => {
      received = Buffer.concat([received, data]);
      for (;;) {
        const at = isStarted ? 1 : 0; // The first message of a connection has no type byte.
        if (received.length < at + 4) return;
        const length = at + received.readInt32BE(at);
        if (received.length < length) return;
        const type = isStarted ? String.fromCharCode(received[0] ?? 0) : 'startup';
        const texts = received.toString('utf8', at + 4, length).split('\0');
        received = received.subarray(length);
        isStarted = true;
        if (type === 'startup') socket.write(Buffer.concat([AUTHENTICATED, READY]));
        else if (type === 'Q') answer(socket, texts[0] ?? '', statements, cutAt);
        else if (type === 'P') statements.push(texts[1] ?? '');
        else if (type === 'S') socket.write(Buffer.concat([PREPARED, DONE, READY]));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `postgres://test@127.0.0.1:${(server.address() as AddressInfo).port}/test`,
    connections,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function answer(
  socket: Socket,
  statement: string,
  statements: string[],
  cutAt: (statement: string) => Cut | null,
): void {
  statements.push(statement);
  const cut = cutAt(statement);
  if (cut === 'reset') socket.resetAndDestroy();
  else if (cut === 'close') socket.destroy();
  else socket.write(Buffer.concat([DONE, READY]));
}
