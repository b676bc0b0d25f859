import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { assertContract } from './openapi-contract';

type Handler = (
  request: Request,
  context: { params: Promise<Record<string, string>> },
) => Promise<Response> | Response;

/** A route file's exports, by method. */
export type RouteModule = Record<string, unknown>;

/**
 * Serves route files over real HTTP inside the test's process, beside the test's database. Every answer
 * is held to the OpenAPI document.
 *
 * @param routes path to module; `[name]` stands for one path segment
 */
export async function serveRoutes(
  routes: Record<string, RouteModule>,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((req, res) => {
    answer(routes, req, res).catch((error: unknown) => {
      res.statusCode = 599; // a handler that throws, or an answer that is not as described, is a bug
      res.end(JSON.stringify(String(error)));
    });
  });
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

async function answer(routes: Record<string, RouteModule>, req: IncomingMessage, res: ServerResponse) {
  const url = new URL(req.url ?? '/', `http://${req.headers.host}`);
  const match = matchRoute(routes, url.pathname);
  const handler = match?.module[req.method ?? 'GET'] as Handler | undefined;
  if (!match || !handler) {
    res.statusCode = match ? 405 : 404;
    res.end();
    return;
  }
  const body = req.method === 'GET' || req.method === 'HEAD' ? null : (Readable.toWeb(req) as ReadableStream);
  const request = new Request(url, {
    method: req.method ?? 'GET',
    headers: Object.entries(req.headers).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value ?? '']).map((one): [string, string] => [name, one]),
    ),
    ...(body && { body: body as unknown as BodyInit, duplex: 'half' }),
  } as RequestInit);
  const response = await handler(request, { params: Promise.resolve(match.params) });
  await assertContract(request.method, url.pathname, response.clone());
  res.writeHead(response.status, [...response.headers].flat());
  if (response.body) Readable.fromWeb(response.body as ReadableStream).pipe(res);
  else res.end();
}

function matchRoute(routes: Record<string, RouteModule>, path: string) {
  for (const [pattern, module] of Object.entries(routes)) {
    const names = [...pattern.matchAll(/\[(\w+)\]/g)].map((m) => m[1] ?? '');
    const found = new RegExp(`^${pattern.replace(/\[\w+\]/g, '([^/]+)')}$`).exec(path);
    if (found) {
      return {
        module,
        params: Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(found[i + 1] ?? '')])),
      };
    }
  }
  return undefined;
}
