import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { Handler as RouteHandler } from '@/lib/http/request';
import type { Handler } from '@/lib/server/listener';
import type { RouteModule } from './serve-routes';

/** Answers by route files with the platform's own `Request`, as Next would; 404 where there is none. */
export function webHandler(routes: Record<string, RouteModule>): Handler {
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

/** The route file of a path, and what stands in its `[name]` segments. */
export function matchRoute(routes: Record<string, RouteModule>, path: string) {
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
