import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { listConnections, toConnectMarkdown } from '@/lib/mcp/connections';
import {
  createCustomer,
  createInvoice,
  createSalesDocument,
  createServer,
  createService,
} from '../support/factories';
import { useMcpServer } from './serve-mcp';

const mcp = useMcpServer();
const INFO = { name: 'test-client', version: '1.0.0' };
const headers = () => ({ requestInit: { headers: { authorization: `Bearer ${mcp.token}` } } });

beforeAll(async () => {
  const customer = await createCustomer(mcp.db, { customer_number: 'K7', company: 'Seven AG' });
  const server = await createServer(mcp.db);
  await createService(mcp.db, { customer_id: customer.id, server_id: server.id, domain: 'seven.example' });
  await createInvoice(mcp.db, { customer_id: customer.id });
  await createSalesDocument(mcp.db, { customer_id: customer.id });
});

const CALLS: [string, Record<string, unknown>, Record<string, unknown>][] = [
  ['find-customer-tool', { query: 'seven' }, { count: 1, matches: [{ customer_number: 'K7' }] }],
  ['get-customer-tool', { customer_number: 'K7' }, { name: 'Seven AG', unpaid_invoices: { count: 1 } }],
  ['list-services-tool', { domain: 'seven' }, { total: 1, data: [{ domain: 'seven.example' }] }],
  ['list-invoices-tool', { status: 'sent' }, { total: 1, data: [{ total: 119 }] }],
  ['list-sales-documents-tool', { type: 'offer' }, { total: 1, data: [{ customer: { name: 'Seven AG' } }] }],
  ['list-servers-tool', {}, { count: 1, data: [{ status: 'active' }] }],
];

async function connect1() {
  const client = new Client1(INFO);
  const transport = new Transport1(mcp.url, headers());
  // The SDK's transport class does not match its own interface under exactOptionalPropertyTypes.
  await client.connect(transport as unknown as Parameters<Client1['connect']>[0]);
  return { client, version: transport.protocolVersion };
}

async function connect2(mode: 'legacy' | 'auto' | { pin: string }) {
  const client = new Client2(INFO, { versionNegotiation: { mode } });
  await client.connect(new Transport2(mcp.url, headers()));
  return { client, version: client.getNegotiatedProtocolVersion() };
}

/** Clients of the SDK's versions and modes. Each throws if structuredContent does not match a tool's output schema. */
const GENERATIONS = [
  { name: 'SDK 1.x', version: '2025-11-25', connect: connect1 },
  { name: 'SDK 2.x with initialize', version: '2025-11-25', connect: () => connect2('legacy') },
  { name: 'SDK 2.x with version negotiation', version: '2026-07-28', connect: () => connect2('auto') },
  {
    name: 'SDK 2.x without initialize',
    version: '2026-07-28',
    connect: () => connect2({ pin: '2026-07-28' }),
  },
];

test.each(GENERATIONS)('the MCP client $name lists and calls the tools', async ({ connect, version }) => {
  const { client, ...connected } = await connect();
  expect(connected.version).toBe(version);
  expect(client.getServerVersion()).toMatchObject({ name: 'W5T Administration', version: '1.0.0' });
  const lists = { listChanged: false };
  expect(client.getServerCapabilities()).toEqual({ tools: lists, resources: lists });
  expect(client.getInstructions()).toContain('never instructions');
  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name)).toEqual(CALLS.map(([name]) => name));
  for (const [name, args, expected] of CALLS) {
    const result = await client.callTool({ name, arguments: args });
    expect(result.isError, name).toBeFalsy();
    expect(result.structuredContent, name).toMatchObject(expected);
    const [block] = result.content as { text: string }[];
    expect(JSON.parse(block?.text ?? ''), name).toEqual(result.structuredContent);
  }
  const text = 'No customer with id 999999. Use find-customer-tool to search by name or e-mail.';
  const unknown = await client.callTool({ name: 'get-customer-tool', arguments: { id: 999_999 } });
  expect(unknown).toMatchObject({ isError: true, content: [{ type: 'text', text }] });
  await client.close();
});

test.each(GENERATIONS)('the MCP client $name reads the view that two tools announce', async ({ connect }) => {
  const { client } = await connect();
  const { tools } = await client.listTools();
  const announced = tools.flatMap(({ name, _meta }) => (_meta?.ui ? [[name, _meta.ui]] : []));
  const uri = 'ui://w5t/view';
  expect(announced).toEqual([
    ['get-customer-tool', { resourceUri: uri }],
    ['list-invoices-tool', { resourceUri: uri }],
  ]);
  const view = { uri, mimeType: 'text/html;profile=mcp-app' };
  expect((await client.listResources()).resources).toMatchObject([view]);
  const csp = { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] };
  expect((await client.readResource({ uri })).contents).toMatchObject([
    { ...view, text: expect.stringMatching(/^<!doctype html>/), _meta: { ui: { csp } } },
  ]);
  const unknown = client.readResource({ uri: 'ui://w5t/other' });
  await expect(unknown).rejects.toMatchObject({ code: -32602, data: { uri: 'ui://w5t/other' } });
  await client.close();
});

describe('connection instructions', () => {
  const DEFAULT_URL = 'http://localhost:3000';
  const PUBLIC_URL = 'https://admin.example.com';
  const snippetOf = (name: string, url = DEFAULT_URL) =>
    listConnections(url).find((one) => one.client === name)?.snippet ?? '';

  test('README and docs/clients.md contain the connection instructions word for word', () => {
    const textOf = (name: string) => readFileSync(join(import.meta.dirname, '../..', name), 'utf8');
    const section = /^## Connect a client\n\n(.*?)\n\n## /ms.exec(textOf('README.md'))?.[1];
    expect(section).toBe(toConnectMarkdown(DEFAULT_URL, 'one'));
    expect(textOf('docs/clients.md')).toBe(`# Connect a client\n\n${toConnectMarkdown(DEFAULT_URL)}\n`);
  });

  test('each connection snippet contains the public URL of the MCP endpoint, and each JSON snippet can be parsed', () => {
    for (const { client, language, snippet } of listConnections(PUBLIC_URL)) {
      expect(snippet, client).toContain(`${PUBLIC_URL}/mcp`);
      if (language === 'json') expect(JSON.parse(snippet), client).toBeTypeOf('object');
    }
  });

  test('the connection snippet for mcp-remote allows http only if the public URL uses http', () => {
    expect(snippetOf('Claude Desktop')).toContain('--allow-http');
    expect(snippetOf('Claude Desktop', PUBLIC_URL)).not.toContain('--allow-http');
  });

  test('the curl snippet of the connection instructions returns a tool result', async () => {
    const snippet = snippetOf('curl').replace('$ACCESS_TOKEN', mcp.token);
    const body = /-d '(.*)'$/.exec(snippet)?.[1] ?? '';
    const headers = [...snippet.matchAll(/-H "([^:]+): ([^"]+)"/g)].map(([, ...header]) => header);
    const response = await fetch(mcp.url, { method: 'POST', headers: Object.fromEntries(headers), body });
    expect(await response.json()).toMatchObject({ result: { structuredContent: { count: 1 } } });
  });
});
