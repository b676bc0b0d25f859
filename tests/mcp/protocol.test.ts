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

describe('the initialize request', () => {
  test.each([
    ['2025-06-18', '2025-06-18'],
    ['2025-11-25', '2025-11-25'],
    ['2025-03-26', '2025-03-26'],
    ['2024-11-05', '2024-11-05'],
    ['2024-10-07', '2025-11-25'],
    ['2026-07-28', '2025-11-25'],
    ['soon', '2025-11-25'],
  ])('initialize with protocol version %s is answered with version %s', async (protocolVersion, answered) => {
    const params = { protocolVersion, capabilities: {}, clientInfo };
    expect(await answerOf(await mcp.post(request('initialize', params)))).toEqual({
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

  test.each(['2099-01-01', '2026-07-28', '2024-11-05', 'x'])(
    'initialize uses the protocol version in its body instead of the header value %s',
    async (header) => {
      const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
      const headers = { 'mcp-protocol-version': header, 'mcp-method': 'initialize' };
      const answer = await mcp.post(request('initialize', params), headers);
      expect((await answerOf(answer)).result).toMatchObject({ protocolVersion: '2025-06-18' });
    },
  );

  test.each([undefined, {}, { protocolVersion: '2025-06-18' }])(
    'initialize with the params %j is answered with the error -32602',
    async (params) => {
      const { id, error } = await answerOf(await mcp.post(request('initialize', params)));
      expect(id).toBe(7);
      expect(error).toEqual({
        code: -32602,
        message: expect.stringMatching(/^Invalid params: initialize takes/),
      });
    },
  );
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
    const response = await mcp.post(body);
    expect(response.status).toBe(400);
    expect((await answerOf(response)).error?.code).toBe(code);
  });

  test.each(['notifications/initialized', 'notifications/cancelled', 'notifications/unknown'])(
    'the notification %s is answered with 202 and no body',
    async (method) => {
      const response = await mcp.post({ jsonrpc: '2.0', method });
      expect(response.status).toBe(202);
      expect(await response.text()).toBe('');
    },
  );

  test('an unknown JSON-RPC method is answered with the error -32601', async () => {
    expect(await mcp.rpc('ping')).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    for (const method of ['nope', 'resources/subscribe', 'prompts/get', 'toString', '__proto__']) {
      expect((await mcp.rpc(method)).error, method).toEqual({ code: -32601, message: 'Method not found' });
    }
  });

  test('prompts/list is answered with an empty list in MCP protocols before 2026-07-28', async () => {
    const empty = { prompts: [] };
    expect(await mcp.rpc('prompts/list')).toEqual({ jsonrpc: '2.0', id: 1, result: empty });
    expect((await mcp.rpc('prompts/list', { cursor: 'x' })).result).toEqual(empty);
    const refused = await mcp.post(...stateless('prompts/list'));
    expect([refused.status, (await answerOf(refused)).error?.code]).toEqual([404, -32601]);
  });

  test('resources/templates/list is answered with an empty list', async () => {
    const empty = { resourceTemplates: [] };
    expect(await mcp.rpc('resources/templates/list', { cursor: 'x' })).toMatchObject({ result: empty });
    const { result } = await answerOf(await mcp.post(...stateless('resources/templates/list')));
    expect(result).toMatchObject(empty);
  });

  test.each(['list-servers-tool', 'nope'])(
    'a tool call of %s with null arguments gets the same response as one without arguments',
    async (name) => {
      const ask = async (message: readonly [object, Record<string, string>?]) =>
        (await mcp.post(...message)).text();
      for (const of of [
        (params: object) => [request('tools/call', params)] as const,
        stateless.bind(null, 'tools/call'),
      ]) {
        expect(await ask(of({ name, arguments: null }))).toBe(await ask(of({ name })));
      }
    },
  );

  test('the MCP endpoint opens no session', async () => {
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const response = await mcp.post(request('initialize', params));
    expect(response.headers.get('mcp-session-id')).toBeNull();
    expect((await mcp.post(request('tools/list'), { 'mcp-session-id': 'old' })).status).toBe(200);
  });
});

describe('the MCP-Protocol-Version header', () => {
  test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'the MCP endpoint supports protocol version %s',
    async (version) => {
      expect((await mcp.post(request('tools/list'), { 'mcp-protocol-version': version })).status).toBe(200);
    },
  );

  test.each(['1999-01-01', '2024-10-07', '2099-01-01', 'x'.repeat(100)])(
    'the unknown MCP protocol version %s is answered with 400',
    async (version) => {
      const response = await mcp.post(request('tools/list'), { 'mcp-protocol-version': version });
      expect(response.status).toBe(400);
      expect(await answerOf(response)).toMatchObject({
        id: 7,
        error: {
          code: -32022,
          data: {
            supported: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
            requested: version.slice(0, 40),
          },
        },
      });
    },
  );
});

describe('protocol 2026-07-28', () => {
  test('initialize is an unknown method in MCP protocol 2026-07-28', async () => {
    const refused = await mcp.post(...stateless('initialize'));
    expect([refused.status, (await answerOf(refused)).error?.code]).toEqual([404, -32601]);
  });

  test('an unknown MCP protocol version is answered with the versions that server/discover lists', async () => {
    const [body, headers] = stateless('server/discover');
    const discovered = (await answerOf(await mcp.post(body, headers))).result;
    const unknown = await mcp.post(body, { ...headers, 'mcp-protocol-version': '2099-01-01' });
    expect(unknown.status).toBe(400);
    expect(await answerOf(unknown)).toMatchObject({
      error: { code: -32022, data: { supported: discovered?.supportedVersions, requested: '2099-01-01' } },
    });
  });

  test.each([
    ['tools/list', {}],
    ['resources/list', {}],
    ['resources/templates/list', {}],
    ['resources/read', { uri: 'ui://w5t/view' }],
  ])('clients may cache the result of %s privately for five minutes', async (method, params) => {
    const { result } = await answerOf(await mcp.post(...stateless(method, params)));
    expect(result).toMatchObject({ ttlMs: 300_000, cacheScope: 'private' });
    expect((await mcp.rpc(method, params)).result).not.toHaveProperty('ttlMs');
  });

  test('an MCP subscription to changes of the tool list is refused', async () => {
    const listen = stateless('subscriptions/listen', { notifications: { toolsListChanged: true } });
    expect((await answerOf(await mcp.post(...listen))).error?.code).toBe(-32603);
  });

  test('an MCP request whose protocol headers do not match its body is refused with 400', async () => {
    const [body] = stateless('tools/list');
    expect((await mcp.post(body)).status).toBe(400);
    const [, headers] = stateless('tools/list');
    expect((await mcp.post(request('tools/list'), headers)).status).toBe(400);
  });
});

describe('the fast path of tools/call', () => {
  test.each([
    ['list-servers-tool', {}],
    ['list-servers-tool', undefined],
    ['find-customer-tool', { query: 'nobody' }],
    ['find-customer-tool', { query: 5, limit: 1 }],
    ['get-customer-tool', { id: 1 }],
    ['nope', {}],
  ])(
    'a call of %s with %j gets the same response on the fast path as from mcp-handler',
    async (name, args) => {
      const call = { name, arguments: args };
      const short = await mcp.post(request('tools/call', { ...call, _meta: { progressToken: 1 } }));
      // The fast path does not support unknown members, so this call goes through mcp-handler.
      const long = await mcp.post(request('tools/call', { ...call, unknown: true }));
      expect(short.status).toBe(long.status);
      expect(await short.text()).toBe(await long.text());
    },
  );

  test('a tool call of MCP protocol 2026-07-28 without its protocol header is answered with 400', async () => {
    const [body] = stateless('tools/call', { name: 'list-servers-tool', arguments: {} });
    expect((await mcp.post(body, { 'mcp-protocol-version': '2025-11-25' })).status).toBe(400);
    expect((await mcp.post(body)).status).toBe(400);
  });
});

test('a tool call with deeply nested JSON is answered as a client error', async () => {
  const deep = `${'['.repeat(400_000)}${']'.repeat(400_000)}`;
  const call = (args: string) =>
    mcp.post(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find-customer-tool","arguments":${args}}}`,
    );
  expect((await answerOf(await call(deep))).error?.code).toBe(-32602);
  expect((await answerOf(await call(`{"query":${deep}}`))).result).toMatchObject({
    isError: true,
    content: [{ text: 'query must be a string (got a list).' }],
  });
});
