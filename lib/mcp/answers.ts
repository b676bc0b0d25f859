/** JSON-RPC's own codes, and -32000 for what HTTP refuses. */
export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  invalidParams: -32602,
  internal: -32603,
  refused: -32000,
} as const;

/** A JSON-RPC error; `message` is what it answers, where that could be read. */
export function rpcError(
  status: number,
  code: number,
  text: string,
  {
    message,
    data,
    headers = {},
  }: { message?: unknown; data?: unknown; headers?: Record<string, string> } = {},
): Response {
  const error = { code, message: text, ...(data !== undefined && { data }) };
  return Response.json({ jsonrpc: '2.0', id: idOf(message), error }, { status, headers });
}

function idOf(message: unknown): string | number | null {
  const id = typeof message === 'object' && message !== null && 'id' in message ? message.id : null;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** An error in the form of OAuth 2 (RFC 6750), which clients read before any JSON-RPC. */
export function oauthError(
  status: number,
  error: string,
  error_description: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ error, error_description }, { status, headers });
}
