import { MCP_HEADERS } from '@/lib/http/oauth/answers';
import type { HttpRequest } from '@/lib/http/request';
import { RPC, rpcError } from '../answers';

const SENTENCE =
  'Method not allowed. This server speaks Streamable HTTP: POST a JSON-RPC message. A client that knows only HTTP with SSE is too old.';
const ALLOW = { Allow: 'POST, OPTIONS' };

/** POST alone carries messages: there are no sessions to end and no streams to open. */
export function checkMethod({ method }: HttpRequest): Response | null {
  if (method === 'POST' || method === 'OPTIONS') return null;
  const refusal = rpcError(405, RPC.refused, SENTENCE, {
    headers: ALLOW,
  });
  return method === 'HEAD' ? new Response(null, refusal) : refusal;
}

/** The answer to OPTIONS from an origin that may come in. */
export function preflight(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...ALLOW,
      // GET and DELETE are refused. A page can read that they are only if it may send them.
      'Access-Control-Allow-Methods': 'POST, GET, DELETE',
      'Access-Control-Allow-Headers': MCP_HEADERS,
      'Access-Control-Max-Age': '86400',
    },
  });
}
