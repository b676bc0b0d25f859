import type { Env } from '@/lib/env';
import type { HttpRequest } from '@/lib/http/request';
import { RPC, rpcError } from '../answers';

type OriginSettings = Pick<Env, 'publicUrl' | 'mcpAllowedOrigins' | 'development'>;

const LOCAL = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/**
 * Keeps web pages of others away (DNS rebinding); programs send no Origin.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning
 */
export function checkOrigin(request: HttpRequest, env: OriginSettings): Response | null {
  const origin = request.headers.get('origin');
  if (origin === null || isAllowed(origin, env)) return null;
  return rpcError(403, RPC.refused, 'This origin is not allowed. Add it to MCP_ALLOWED_ORIGINS.');
}

/** Lets an allowed page read the answer, errors included. */
export function corsHeaders(request: HttpRequest, env: OriginSettings): Record<string, string> {
  const origin = request.headers.get('origin');
  if (origin === null || !isAllowed(origin, env)) return { Vary: 'Origin' };
  return {
    Vary: 'Origin',
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': 'WWW-Authenticate',
  };
}

function isAllowed(origin: string, env: OriginSettings): boolean {
  const own = new URL(env.publicUrl).origin;
  if (origin === own || env.mcpAllowedOrigins.includes(origin)) return true;
  return (env.development || LOCAL.test(own)) && LOCAL.test(origin);
}
