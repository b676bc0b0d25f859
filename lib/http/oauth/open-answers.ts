import type { Runtime } from '../../runtime';
import { answerWith } from '../messages';

/**
 * The headers that the revisions of the protocol name. Clients send them on every request, also to OAuth's addresses.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
 */
export const MCP_HEADERS =
  'Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID, traceparent, tracestate, baggage';
const OPEN = { 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'no-store' };

/** JSON for clients, which may be pages of other sites: nothing here is decided by a cookie. */
export function openJson(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers: { ...OPEN, ...headers } });
}

/** An error as OAuth writes it (RFC 6749, 5.2). */
export function openError(
  status: number,
  error: string,
  error_description: string,
  headers?: Record<string, string>,
) {
  return openJson({ error, error_description }, status, headers);
}

/** Answers with the response of some work; an error is one of OAuth, for which `codeOf` names the code. */
export function openAnswer(
  work: (runtime: Runtime) => Response | Promise<Response>,
  codeOf: (status: number) => string = () => 'server_error',
): Promise<Response> {
  return answerWith(work, ({ status, message }, hasStarted) =>
    openError(status, hasStarted ? codeOf(status) : 'temporarily_unavailable', message),
  );
}

/** What a browser asks before a page of another site may send something. */
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
