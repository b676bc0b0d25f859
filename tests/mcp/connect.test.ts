import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { listConnections, toConnectMarkdown } from '@/lib/mcp/connect/list-connections';
import { useMcpServer } from './serve-mcp';

const DEFAULT_URL = 'http://localhost:3000';
const mcp = useMcpServer();

const snippetOf = (client: string, url = DEFAULT_URL) =>
  listConnections(url).find((one) => one.client === client)?.snippet ?? '';

test('README and docs/clients.md say how to connect, word for word', () => {
  const textOf = (name: string) => readFileSync(join(import.meta.dirname, '../..', name), 'utf8');
  const section = /^## Connect a client\n\n(.*?)\n\n## /ms.exec(textOf('README.md'))?.[1];
  expect(section).toBe(toConnectMarkdown(DEFAULT_URL, 'one'));
  expect(textOf('docs/clients.md')).toBe(`# Connect a client\n\n${toConnectMarkdown(DEFAULT_URL)}\n`);
});

describe('snippets', () => {
  test('every client is told the public address', () => {
    const connections = listConnections('https://admin.example.com');
    expect(connections.map(({ client }) => client)).toEqual([
      'claude.ai',
      'ChatGPT',
      'Claude Code',
      'Claude Desktop',
      'Cursor',
      'VS Code',
      'Codex',
      'Gemini CLI',
      'Gemini Enterprise',
      'Copilot Studio',
      'MCP Inspector',
      'curl',
    ]);
    for (const { snippet } of connections) expect(snippet).toContain('https://admin.example.com/mcp');
  });

  test('those in JSON are JSON', () => {
    for (const { language, snippet } of listConnections(DEFAULT_URL)) {
      if (language === 'json') expect(JSON.parse(snippet)).toBeTypeOf('object');
    }
  });

  test('mcp-remote is let use http only where the address is http', () => {
    expect(snippetOf('Claude Desktop')).toContain('--allow-http');
    expect(snippetOf('Claude Desktop', 'https://admin.example.com')).not.toContain('--allow-http');
  });

  test('what curl sends is answered', async () => {
    const body = /-d '(.*)'$/.exec(snippetOf('curl'))?.[1] ?? '';
    const headers = [...snippetOf('curl').matchAll(/-H "([^:]+): ([^"]+)"/g)].map(
      ([, name = '', value = '']) => [name, value.replace('$ACCESS_TOKEN', mcp.token)],
    );
    const response = await fetch(mcp.url, { method: 'POST', headers: Object.fromEntries(headers), body });
    expect(await response.json()).toMatchObject({ result: { structuredContent: { count: 0 } } });
  });
});
