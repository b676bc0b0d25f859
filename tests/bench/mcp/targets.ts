import type { Target } from '../load';

const NAME = 'list-invoices-tool';
const STATELESS = '2026-07-28';

/** The same page of 25 invoices: by a plain route, by the tool, and by the tool in other ways. */
export function comparedTargets(url: string, token: string): Target[] {
  const body = message({});
  const tool = toolCall(url, token, body);
  const stateless = message({
    _meta: {
      'io.modelcontextprotocol/protocolVersion': STATELESS,
      'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  });
  const headers = { 'MCP-Protocol-Version': STATELESS, 'Mcp-Method': 'tools/call', 'Mcp-Name': NAME };
  return [
    { ...tool, name: 'plain', url: new URL('/bench-plain', url) },
    tool,
    { ...tool, name: 'stock', url: new URL('/bench-stock', url) },
    { ...tool, name: `tool ${STATELESS}`, headers: { ...tool.headers, ...headers }, body: stateless },
  ];
}

/** A message to the tool server, of a 2025 protocol. */
export function toolCall(url: string, token: string, body: string): Target {
  const headers = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': '2025-11-25',
  };
  return { name: 'tool', method: 'POST', url: new URL('/mcp', url), headers, body };
}

function message(more: Record<string, unknown>): string {
  const params = { name: NAME, arguments: { per_page: 25 }, ...more };
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
}
