type Headers = Record<string, string>;

/** Posts a JSON body with an access token. */
export const postJson = (url: string, token: string, body: unknown, headers: Headers = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/** Sends a request of a protocol before 2026-07-28 to the MCP endpoint of a server. */
export const postRpc = (
  server: string,
  token: string,
  method: string,
  params?: unknown,
  headers?: Headers,
): Promise<Response> => postJson(`${server}/mcp`, token, { jsonrpc: '2.0', id: 1, method, params }, headers);
