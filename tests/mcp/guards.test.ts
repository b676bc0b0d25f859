import { afterEach, describe, expect, test, vi } from 'vitest';
import { openPostgres } from '@/db/client';
import { accessTokens } from '@/db/schema';
import { handleMcpRequest } from '@/lib/mcp/handle-request';
import { setRuntime } from '@/lib/runtime';
import { testRuntime } from '../support/runtime';
import { useMcpServer } from './serve-mcp';

const mcp = useMcpServer({
  PUBLIC_URL: 'https://admin.example.com',
  MCP_ALLOWED_ORIGINS: 'https://chat.example.org',
});
afterEach(() => setRuntime(mcp.runtime));

const LIST = { jsonrpc: '2.0', id: 7, method: 'tools/list' };
const MiB = 1_048_576;

test.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'])('the MCP endpoint answers 405 to %s', async (method) => {
  const response = await fetch(mcp.url, { method });
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  expect((await response.text()) === '').toBe(method === 'HEAD');
});

describe('the Origin header', () => {
  test.each([
    ['https://admin.example.com', 200],
    ['https://chat.example.org', 200],
    ['https://evil.example', 403],
    ['http://admin.example.com', 403],
    ['https://admin.example.com.evil.example', 403],
    ['http://localhost:3000', 403],
    ['null', 403],
  ])('the MCP endpoint answers the Origin %s with %i', async (origin, status) => {
    const response = await mcp.post(LIST, { origin });
    expect(response.status).toBe(status);
    expect(response.headers.get('vary')).toMatch(/\bOrigin\b/);
    expect(response.headers.get('access-control-allow-origin')).toBe(status === 200 ? origin : null);
  });

  test('the MCP endpoint refuses a foreign Origin before it checks the token', async () => {
    const headers = { origin: 'https://evil.example', authorization: 'none' };
    expect((await mcp.post(LIST, headers)).status).toBe(403);
  });

  test('a page on an allowed Origin can send a preflight request to the MCP endpoint', async () => {
    const preflight = await fetch(mcp.url, {
      method: 'OPTIONS',
      headers: { origin: 'https://chat.example.org', 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(204);
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      'access-control-allow-origin': 'https://chat.example.org',
      'access-control-allow-methods': 'POST, GET, DELETE',
    });
    const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase().split(', ');
    expect(allowed).toEqual(
      expect.arrayContaining([
        ...['authorization', 'content-type', 'accept', 'mcp-protocol-version', 'mcp-method', 'mcp-name'],
        ...['mcp-session-id', 'last-event-id'],
      ]),
    );
    const refused = await mcp.post(LIST, { origin: 'https://chat.example.org', authorization: '' });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('access-control-allow-origin')).toBe('https://chat.example.org');
    const foreign = await fetch(mcp.url, { method: 'OPTIONS', headers: { origin: 'https://evil.example' } });
    expect(foreign.status).toBe(403);
  });

  test.each([
    ['http://localhost:6274', 200],
    ['http://127.0.0.1:1', 200],
    ['http://[::1]:9', 200],
    ['https://localhost', 200],
    ['http://localhost.evil.example', 403],
    ['http://localhost:80:80', 403],
    ['file://localhost', 403],
  ])('an MCP endpoint on localhost answers the Origin %s with %i', async (origin, status) => {
    setRuntime({ ...mcp.runtime, env: testRuntime(mcp.db).env });
    expect((await mcp.post(LIST, { origin })).status).toBe(status);
  });
});

describe('tokens of the MCP endpoint', () => {
  const CHALLENGE =
    'Bearer realm="mcp", resource_metadata="https://admin.example.com/.well-known/oauth-protected-resource/mcp"';
  const MISSING = `${CHALLENGE}, scope="mcp:read"`;
  const INVALID = `${CHALLENGE}, error="invalid_token", scope="mcp:read"`;

  test.each([
    ['', MISSING, 'unauthorized'],
    ['Basic dXNlcjpwYXNz', MISSING, 'unauthorized'],
    ['Bearer', MISSING, 'unauthorized'],
    ['Bearer nonsense', INVALID, 'invalid_token'],
    [`Bearer w5t_${'A'.repeat(43)}`, INVALID, 'invalid_token'],
    [`Bearer w5t_${'A'.repeat(43)} more`, INVALID, 'invalid_token'],
  ])('the MCP endpoint refuses the authorization %j with 401', async (authorization, challenge, error) => {
    const response = await mcp.post(LIST, { authorization });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe(challenge);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toEqual({ error, error_description: expect.any(String) });
  });

  test('the authorization scheme of the MCP endpoint is case-insensitive', async () => {
    for (const scheme of ['bearer ', 'BEARER  ', 'Bearer    ']) {
      expect((await mcp.post(LIST, { authorization: `${scheme}${mcp.token}` })).status).toBe(200);
    }
  });

  test('the MCP endpoint answers 403 to a token without the scope mcp:read', async () => {
    const { token } = await mcp.newToken(['payments:read', 'payments:write']);
    const response = await mcp.post(LIST, { authorization: `Bearer ${token}` });
    expect(response.status).toBe(403);
    expect(response.headers.get('www-authenticate')).toBe(
      `${CHALLENGE}, error="insufficient_scope", scope="mcp:read"`,
    );
  });

  test('the MCP endpoint records the last use of a token', async () => {
    const { id, token } = await mcp.newToken(['mcp:read']);
    await mcp.post(LIST, { authorization: `Bearer ${token}` });
    await expect
      .poll(async () => (await mcp.db.select().from(accessTokens)).find((row) => row.id === id)?.last_used_at)
      .toEqual(mcp.runtime.now());
  });

  test('the MCP endpoint answers 503 if it cannot look up the token', async () => {
    const down = openPostgres('postgres://nobody@127.0.0.1:1/nothing', { max: 1 });
    setRuntime({ ...mcp.runtime, db: down.db });
    const response = await mcp.post(LIST);
    await down.close();
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await response.text()).not.toMatch(/select|127\.0\.0\.1|ECONN/i);
  });
});

describe('headers and request bodies', () => {
  test.each([
    ['application/json', 200],
    ['text/event-stream', 200],
    ['application/json, text/event-stream', 200],
    ['*/*', 200],
    ['text/html, application/*;q=0.8', 200],
    ['text/html', 406],
    ['application/json;q=0', 406],
    ['application/jsonx', 406],
  ])('the MCP endpoint answers Accept: %s with %i', async (accept, status) => {
    const response = await mcp.post(LIST, { accept });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/json');
  });

  test('the MCP endpoint accepts a request without an Accept header', async () => {
    const headers = { authorization: `Bearer ${mcp.token}`, 'content-type': 'application/json' };
    const request = new Request(mcp.url, { method: 'POST', headers, body: JSON.stringify(LIST) });
    expect(request.headers.has('accept')).toBe(false);
    expect((await handleMcpRequest(request)).status).toBe(200);
  });

  test('the MCP endpoint checks the Origin before the token and the token before the body', async () => {
    const answer = async (headers: Record<string, string>, body: string, method = 'POST') =>
      (await handleMcpRequest(new Request(mcp.url, { method, headers, body }))).status;
    const broken = '{'.padEnd(MiB + 1);
    const authorization = `Bearer ${mcp.token}`;
    const headers = { 'content-type': 'text/plain', accept: 'x/y' };
    expect(await answer({ ...headers, origin: 'https://evil.example' }, broken, 'PUT')).toBe(405);
    expect(await answer({ ...headers, origin: 'https://evil.example' }, broken)).toBe(403);
    expect(await answer(headers, broken)).toBe(401);
    expect(await answer({ ...headers, authorization }, broken)).toBe(413);
    expect(await answer({ ...headers, authorization }, '{')).toBe(415);
    expect(await answer({ ...headers, authorization, 'content-type': 'application/json' }, '{')).toBe(406);
    expect(await answer({ authorization, 'content-type': 'application/json' }, '{')).toBe(400);
  });
});

test('the MCP endpoint answers an unexpected error with a reference and no details', async () => {
  const { log } = mcp.runtime;
  const error = vi.fn();
  const info = () => {
    throw new Error('no space left on /var/log/service');
  };
  setRuntime({ ...mcp.runtime, log: { ...log, error, info } as unknown as typeof log });
  const params = { name: 'list-servers-tool', arguments: {} };
  const response = await mcp.post({ jsonrpc: '2.0', id: 7, method: 'tools/call', params });
  const logged = error.mock.calls.map(([fields]) => fields).at(-1);
  expect(response.status).toBe(500);
  expect(await response.json()).toEqual({
    jsonrpc: '2.0',
    id: 7,
    error: { code: -32603, message: `Internal error (ref ${logged.ref}). Try again later.` },
  });
});

test('the MCP endpoint answers 503 if the service cannot start', async () => {
  const failed = Promise.reject(new Error('no database at db.internal'));
  failed.catch(() => {}); // An unhandled rejection would end the process.
  Object.assign(globalThis, { [Symbol.for('w5t.runtime')]: failed });
  const response = await fetch(mcp.url, { method: 'POST' });
  expect(response.status).toBe(503);
  expect(await response.text()).not.toContain('db.internal');
});
