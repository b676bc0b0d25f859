import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { Route, Handler as RouteHandler } from '@/lib/http/messages';
import { fastFirst } from '@/lib/server/fast/fast-first';
import { FAST_ROUTES } from '@/lib/server/fast/routes';
import type { Handler } from '@/lib/server/listener';
import { openNextHere } from './next-here';
import { assertContract } from './openapi-contract';
import { serveHandler } from './serve-handler';

/** The exports of a route file, by name. */
export type RouteModule = Record<string, unknown>;

/**
 * Serves route files over real HTTP in the test process, on the test database. Checks their responses against the
 * OpenAPI document. Our server answers the paths in `FAST_ROUTES`. If TEST_THROUGH is `next`, Next answers these paths,
 * from its own build and without the check.
 *
 * @param routes modules by path; a path is a regular expression in which `[name]` stands for one segment
 */
export async function serveRoutes(
  routes: Record<string, RouteModule>,
): Promise<{ url: string; close(): Promise<void> }> {
  const checkedRoutes = mapValues(routes, (module) => mapValues(module, withContractCheck));
  const fast = Object.fromEntries(Object.entries(checkedRoutes).filter(([path]) => path in FAST_ROUTES));
  const web = webHandler(checkedRoutes);
  if (process.env.TEST_THROUGH !== 'next') return serveHandler(fastFirst(fast as Record<string, Route>, web));
  const next = await openNextHere();
  return serveHandler((req, res) =>
    matchRoute(fast, req.url?.split('?')[0] ?? '') ? next(req, res) : web(req, res),
  );
}

/** Wraps a handler to check its responses against the OpenAPI document. Returns other exports unchanged. */
function withContractCheck(exported: unknown): unknown {
  if (typeof exported !== 'function') return exported;
  const handler: RouteHandler = async (request, context) => {
    const answer: Response = await exported(request, context);
    await assertContract(request.method, new URL(request.url).pathname, answer.clone());
    return answer;
  };
  return handler;
}

/** Passes each request to its route file as a `Request`, as Next would. Answers others with 404 or 405. */
function webHandler(routes: Record<string, RouteModule>): Handler {
  return async (req, res) => {
    const url = new URL(req.url ?? '/', `http://${req.headers.host}`);
    const match = matchRoute(routes, url.pathname);
    const handler = match?.module[req.method ?? 'GET'] as RouteHandler | undefined;
    if (!match || !handler) {
      res.statusCode = match ? 405 : 404;
      return void res.end();
    }
    const response = await handler(toRequest(req, url), { params: Promise.resolve(match.params) });
    res.writeHead(response.status, [...response.headers].flat());
    if (response.body) Readable.fromWeb(response.body as ReadableStream).pipe(res);
    else res.end();
  };
}

/** Finds the route file of a path, and the values of its `[name]` segments. */
function matchRoute(routes: Record<string, RouteModule>, path: string) {
  for (const [pattern, module] of Object.entries(routes)) {
    const names = [...pattern.matchAll(/\[(\w+)\]/g)].map((m) => m[1] ?? '');
    const found = new RegExp(`^${pattern.replace(/\[\w+\]/g, '([^/]+)')}$`).exec(path);
    if (found) {
      const values = names.map((name, i) => [name, decodeURIComponent(found[i + 1] ?? '')]);
      return { module, params: Object.fromEntries(values) as Record<string, string> };
    }
  }
  return undefined;
}

function toRequest(req: IncomingMessage, url: URL): Request {
  const body = req.method === 'GET' || req.method === 'HEAD' ? null : (Readable.toWeb(req) as ReadableStream);
  return new Request(url, {
    method: req.method ?? 'GET',
    headers: Object.entries(req.headers).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value ?? '']).map((one): [string, string] => [name, one]),
    ),
    ...(body && { body: body as unknown as BodyInit, duplex: 'half' }),
  } as RequestInit);
}

function mapValues<A, B>(all: Record<string, A>, map: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, map(value)]));
}
