import type { Runtime } from '../../runtime';
import { answerWith } from '../messages';

/**
 * The request headers of all MCP revisions. Browser clients may send them with every request, including requests to the
 * OAuth endpoints.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
 */
export const MCP_HEADERS =
  'Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID, traceparent, tracestate, baggage';
const OPEN = { 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'no-store' };

/** Responds with JSON that any origin may read. That is safe because these endpoints do not use cookies. */
export function openJson(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers: { ...OPEN, ...headers } });
}

/** Responds with an OAuth error (RFC 6749, 5.2). */
export function openError(
  status: number,
  error: string,
  error_description: string,
  headers?: Record<string, string>,
) {
  return openJson({ error, error_description }, status, headers);
}

/**
 * Runs work and returns its response. An error becomes an OAuth error.
 *
 * @param codeOf function that chooses the error code by HTTP status
 */
export function openAnswer(
  work: (runtime: Runtime) => Response | Promise<Response>,
  codeOf: (status: number) => string = () => 'server_error',
): Promise<Response> {
  return answerWith(work, ({ status, message }, hasStarted) =>
    openError(status, hasStarted ? codeOf(status) : 'temporarily_unavailable', message),
  );
}

/** Responds to a CORS preflight request, and allows every origin. */
export function openPreflight(methods: string): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...OPEN,
      'Access-Control-Allow-Methods': methods,
      'Access-Control-Allow-Headers': MCP_HEADERS,
      'Access-Control-Max-Age': '86400',
    },
  });
}
