import type { HttpRequest } from '@/lib/http/request';
import { RPC, rpcError } from '../answers';

const ALLOW = { Allow: 'POST, OPTIONS' };

/** POST alone carries messages: there are no sessions to end and no streams to open. */
export function checkMethod({ method }: HttpRequest): Response | null {
  if (method === 'POST' || method === 'OPTIONS') return null;
  const refusal = rpcError(405, RPC.refused, 'Method not allowed. POST a JSON-RPC message.', {
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
      'Access-Control-Allow-Methods': 'POST',
      'Access-Control-Allow-Headers':
        'Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name',
      'Access-Control-Max-Age': '86400',
    },
  });
}
