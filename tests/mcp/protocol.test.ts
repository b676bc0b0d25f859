import { describe, expect, test } from 'vitest';
import { type RpcAnswer, useMcpServer } from './serve-mcp';

const mcp = useMcpServer();
const request = (method: string, params?: unknown) => ({ jsonrpc: '2.0', id: 7, method, params });
const clientInfo = { name: 'test', version: '1' };

/** Builds a request of the 2026-07-28 protocol, which repeats the data of `initialize` in each request. */
function stateless(method: string, params: Record<string, unknown> = {}) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': clientInfo,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const named = params.name ?? params.uri;
  const name = named === undefined ? {} : { 'mcp-name': String(named) };
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...name };
  return [request(method, { ...params, _meta }), headers] as const;
}

async function answerOf(response: Response): Promise<RpcAnswer> {
  expect(response.headers.get('content-type')).toBe('application/json');
  return (await response.json()) as RpcAnswer;
}

/** Returns the HTTP status of a response and the code of its JSON-RPC error. */
const failureOf = async (response: Response) => [response.status, (await answerOf(response)).error?.code];

describe('the initialize request', () => {
  test.each([
    ['2025-06-18', null, '2025-06-18'],
    ['2025-11-25', null, '2025-11-25'],
    ['2025-03-26', null, '2025-03-26'],
    ['2024-11-05', null, '2024-11-05'],
    ['2024-10-07', null, '2025-11-25'],
    ['2026-07-28', null, '2025-11-25'],
    ['soon', null, '2025-11-25'],
    ['2025-06-18', '2099-01-01', '2025-06-18'],
    ['2025-06-18', '2026-07-28', '2025-06-18'],
    ['2025-06-18', '2024-11-05', '2025-06-18'],
    ['2025-06-18', 'x', '2025-06-18'],
  ])('initialize with version %s and header %s is answered with %s', async (sent, header, answered) => {
    const body = request('initialize', { protocolVersion: sent, capabilities: {}, clientInfo });
    const named = { 'mcp-protocol-version': header ?? '', 'mcp-method': 'initialize' };
    const response = await (header === null ? mcp.post(body) : mcp.post(body, named));
    expect(response.headers.get('mcp-session-id')).toBeNull();
    expect(await answerOf(response)).toEqual({
      jsonrpc: '2.0',
      id: 7,
      result: {
        protocolVersion: answered,
        capabilities: { tools: { listChanged: false }, resources: { listChanged: false } },
        serverInfo: {
          ...{ name: 'W5T Administration', version: '1.0.0', websiteUrl: 'http://localhost:3000' },
          icons: [{ src: 'http://localhost:3000/icon.svg', mimeType: 'image/svg+xml', sizes: ['any'] }],
        },
        instructions: expect.stringContaining('find-customer-tool'),
      },
    });
  });
});

describe('JSON-RPC messages', () => {
  test.each([
    ['', -32700],
    ['{', -32700],
    ['"\u0001"', -32700],
    ['5', -32600],
    ['null', -32600],
    ['[]', -32600],
    [JSON.stringify([request('tools/list')]), -32600],
    ['{"id":1,"method":"tools/list"}', -32600],
    ['{"jsonrpc":"2.0","id":null,"method":"tools/list"}', -32600],
    ['{"jsonrpc":"1.0","id":1,"method":"tools/list"}', -32600],
  ])('the JSON-RPC body “%s” is answered with 400 and the error %i', async (body, code) => {
    expect(await failureOf(await mcp.post(body))).toEqual([400, code]);
  });

  test.each([
    ['initialize', undefined, /^Invalid params: initialize takes/],
    ['initialize', {}, /^Invalid params: initialize takes/],
    ['initialize', { protocolVersion: '2025-06-18' }, /^Invalid params: initialize takes/],
    ['tools/call', { name: 'nope', arguments: {} }, /^Unknown tool\. The tools are find-customer-tool, /],
    ['tools/call', { name: '__proto__' }, /^Unknown tool\./],
    ['tools/call', { arguments: {} }, /^Invalid params: tools\/call takes name/],
    ['tools/call', { name: 'list-servers-tool', arguments: [] }, /^Invalid params: /],
    ['tools/call', { name: 'list-servers-tool', arguments: 'none' }, /^Invalid params: /],
    ['tools/call', undefined, /^Invalid params: /],
  ])('%s with the params %j is answered with the error -32602', async (method, params, message) => {
    const { id, error } = await answerOf(await mcp.post(request(method, params)));
    expect({ id, error }).toEqual({
      id: 7,
      error: { code: -32602, message: expect.stringMatching(message) },
    });
  });

  test('a notification is answered with 202 and no body', async () => {
    for (const name of ['initialized', 'cancelled', 'unknown']) {
      const response = await mcp.post({ jsonrpc: '2.0', method: `notifications/${name}` });
      expect([response.status, await response.text()]).toEqual([202, '']);
    }
  });

  test('an unknown JSON-RPC method is answered with the error -32601', async () => {
    expect(await mcp.rpc('ping')).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    for (const method of ['nope', 'resources/subscribe', 'prompts/get', 'toString', '__proto__']) {
      expect((await mcp.rpc(method)).error, method).toEqual({ code: -32601, message: 'Method not found' });
    }
  });

  test('prompts/list and resources/templates/list are answered with empty lists', async () => {
    const answer = { jsonrpc: '2.0', id: 1 };
    for (const params of [undefined, { cursor: 'x' }]) {
      expect(await mcp.rpc('prompts/list', params)).toEqual({ ...answer, result: { prompts: [] } });
      const templates = await mcp.rpc('resources/templates/list', params);
      expect(templates).toEqual({ ...answer, result: { resourceTemplates: [] } });
    }
  });

  test.each(['list-servers-tool', 'nope'])('null as the arguments of %s counts as absent', async (name) => {
    const ask = async (...message: readonly [object, Record<string, string>?]) =>
      (await mcp.post(...message)).text();
    const nothing = { name, arguments: null };
    expect(await ask(request('tools/call', nothing))).toBe(await ask(request('tools/call', { name })));
    expect(await ask(...stateless('tools/call', nothing))).toBe(
      await ask(...stateless('tools/call', { name })),
    );
  });

  test('a tool call with deeply nested JSON is refused because its arguments are invalid', async () => {
    const deep = `${'['.repeat(400_000)}${']'.repeat(400_000)}`;
    const params = (args: string) => `{"name":"find-customer-tool","arguments":${args}}`;
    const call = async (args: string) =>
      answerOf(await mcp.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params(args)}}`));
    expect((await call(deep)).error?.code).toBe(-32602);
    expect((await call(`{"query":${deep}}`)).result).toMatchObject({
      isError: true,
      content: [{ text: 'query must be a string (got a list).' }],
    });
  });
});

describe('the MCP-Protocol-Version header', () => {
  const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

  test.each(VERSIONS)('the MCP endpoint ignores a session id in protocol version %s', async (version) => {
    const headers = { 'mcp-protocol-version': version, 'mcp-session-id': 'old' };
    expect((await mcp.post(request('tools/list'), headers)).status).toBe(200);
  });

  test.each(['1999-01-01', '2024-10-07', '2099-01-01', 'x'.repeat(100)])(
    'the unknown MCP protocol version %s is answered with 400 and the supported versions',
    async (version) => {
      const response = await mcp.post(request('tools/list'), { 'mcp-protocol-version': version });
      const data = { supported: ['2026-07-28', ...VERSIONS], requested: version.slice(0, 40) };
      const answer = { id: 7, error: { code: -32022, data } };
      expect([response.status, await answerOf(response)]).toMatchObject([400, answer]);
    },
  );
});

describe('protocol 2026-07-28', () => {
  test.each([
    ['initialize', {}, [404, -32601]],
    ['prompts/list', {}, [404, -32601]],
    ['subscriptions/listen', { notifications: { toolsListChanged: true } }, [200, -32603]],
  ])('%s with %j is refused in MCP protocol 2026-07-28 with %j', async (method, params, failure) => {
    expect(await failureOf(await mcp.post(...stateless(method, params)))).toEqual(failure);
  });

  test('an unknown MCP protocol version is answered with the versions that server/discover lists', async () => {
    const [body, headers] = stateless('server/discover');
    const discovered = (await answerOf(await mcp.post(body, headers))).result;
    const unknown = await mcp.post(body, { ...headers, 'mcp-protocol-version': '2099-01-01' });
    expect([unknown.status, await answerOf(unknown)]).toMatchObject([
      400,
      {
        error: { code: -32022, data: { supported: discovered?.supportedVersions, requested: '2099-01-01' } },
      },
    ]);
  });

  test.each([
    ['tools/list', {}],
    ['resources/list', {}],
    ['resources/templates/list', {}],
    ['resources/read', { uri: 'ui://w5t/view' }],
  ])(
    'only in MCP protocol 2026-07-28, the result of %s may be cached privately for five minutes',
    async (method, params) => {
      const { result: plain } = await mcp.rpc(method, params);
      const { result } = await answerOf(await mcp.post(...stateless(method, params)));
      expect(result).toMatchObject({ ...plain, ttlMs: 300_000, cacheScope: 'private' });
      expect(plain).not.toHaveProperty('ttlMs');
    },
  );

  test('an MCP request whose protocol headers do not match its body is refused with 400', async () => {
    const [list, headers] = stateless('tools/list');
    const [call] = stateless('tools/call', { name: 'list-servers-tool', arguments: {} });
    const older = { 'mcp-protocol-version': '2025-11-25' };
    expect((await mcp.post(list)).status).toBe(400);
    expect((await mcp.post(request('tools/list'), headers)).status).toBe(400);
    expect((await mcp.post(call)).status).toBe(400);
    expect((await mcp.post(call, older)).status).toBe(400);
  });
});

test.each([
  ['list-servers-tool', {}],
  ['list-servers-tool', undefined],
  ['find-customer-tool', { query: 'nobody' }],
  ['find-customer-tool', { query: 5, limit: 1 }],
  ['get-customer-tool', { id: 1 }],
  ['nope', {}],
])('a call of %s with %j gets the same response on the fast path as from mcp-handler', async (name, args) => {
  const call = { name, arguments: args };
  const short = await mcp.post(request('tools/call', { ...call, _meta: { progressToken: 1 } }));
  // The fast path does not support unknown members, so this call goes through mcp-handler.
  const long = await mcp.post(request('tools/call', { ...call, unknown: true }));
  expect([short.status, await short.text()]).toEqual([long.status, await long.text()]);
});
