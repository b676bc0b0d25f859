import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { renameProto } from '@/lib/http/messages';
import type { Handler } from '@/lib/server/listener';

/** Serves a handler on a free port of this machine. */
export async function serveHandler(handle: Handler): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((req, res) => {
    req.url = renameProto(req.url ?? '/');
    handle(req, res).catch((error: unknown) => {
      res.statusCode = 599; // A handler that throws, or a response that violates the OpenAPI document, is a bug.
      res.end(JSON.stringify(String(error)));
    });
  });
  server.keepAliveTimeout = 0; // Never close idle connections, because a test that blocks the process may reuse them.
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
