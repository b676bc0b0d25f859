/** JSON-RPC's own codes, and -32000 for what HTTP refuses. */
export const RPC = { parseError: -32700, invalidRequest: -32600, internal: -32603, refused: -32000 } as const;

/** A JSON-RPC error that answers no particular request. */
export function rpcError(
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers });
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
