import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Stands before a server and adds the token, for programs that cannot send one. */
export async function startBearerProxy(
  target: URL,
  token: string,
): Promise<{ url: string; close(): Promise<void> }> {
  const proxy = createServer((req, res) => {
    const headers = { ...req.headers, authorization: `Bearer ${token}` };
    const { method, url: path } = req;
    const onward = request(
      { hostname: target.hostname, port: target.port, method, path, headers },
      (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(res);
      },
    );
    onward.on('error', (error) => res.destroy(error));
    req.pipe(onward);
  });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  const { port } = proxy.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((done) => {
        proxy.close(() => done());
        proxy.closeAllConnections();
      }),
  };
}
