import type { Route, Handler as RouteHandler } from '@/lib/http/request';
import { fastFirst } from '@/lib/server/fast/fast-first';
import { FAST_ROUTES } from '@/lib/server/fast/routes';
import { openNextHere } from './next-here';
import { assertContract } from './openapi-contract';
import { serveHandler } from './serve-handler';
import { matchRoute, webHandler } from './web-handler';

/** A route file's exports, by method. */
export type RouteModule = Record<string, unknown>;

/**
 * Serves route files over real HTTP inside the test's process, beside the test's database. Every answer is held to
 * the OpenAPI document. The paths of our server's table are answered as it does; with TEST_THROUGH=next, by Next.
 *
 * @param routes path to module; `[name]` stands for one path segment
 */
export async function serveRoutes(
  routes: Record<string, RouteModule>,
): Promise<{ url: string; close(): Promise<void> }> {
  const held = mapValues(routes, (module) => mapValues(module, toHeld));
  const fast = Object.fromEntries(Object.entries(held).filter(([path]) => path in FAST_ROUTES));
  const web = webHandler(held);
  if (process.env.TEST_THROUGH !== 'next') return serveHandler(fastFirst(fast as Record<string, Route>, web));
  const next = await openNextHere();
  return serveHandler((req, res) =>
    matchRoute(fast, req.url?.split('?')[0] ?? '') ? next(req, res) : web(req, res),
  );
}

/** The handler, with its answers held to the document; whatever else a module exports stays as it is. */
function toHeld(exported: unknown): unknown {
  if (typeof exported !== 'function') return exported;
  const handler: RouteHandler = async (request, context) => {
    const answer: Response = await exported(request, context);
    await assertContract(request.method, new URL(request.url).pathname, answer.clone());
    return answer;
  };
  return handler;
}

function mapValues<A, B>(all: Record<string, A>, map: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, map(value)]));
}
