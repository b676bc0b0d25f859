import type { IncomingMessage } from 'node:http';
import { type Handler, METHODS, type Method, type Params, type Route } from '../../http/request';

interface Found {
  handler: Handler;
  params: Params;
}

/** Of one segment without encoding, dots or anything else that Next could read in another way. */
const LAST_SEGMENT = /^(.*\/)([\w-]+)$/;

/**
 * The handler of a request whose path is exactly one of the table, character by character; null: it is Next's.
 *
 * @param routes by path; the last segment may be `[id]`
 */
export function findHandler(routes: Record<string, Route>, request: IncomingMessage): Found | null {
  const { method = '', url = '' } = request;
  if (!isMethod(method)) return null;
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  const route = routes[path];
  if (route) return { handler: route[method], params: {} };
  const [, folder = '', id = ''] = LAST_SEGMENT.exec(path) ?? [];
  const ofId = routes[`${folder}[id]`];
  return ofId ? { handler: ofId[method], params: { id } } : null;
}

function isMethod(method: string): method is Method {
  return METHODS.some((known) => known === method);
}
