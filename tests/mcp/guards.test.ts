import { afterEach, describe, expect, test, vi } from 'vitest';
import { openPostgres } from '@/db/client';
import { accessTokens } from '@/db/schema';
import { handleMcpRequest } from '@/lib/mcp/handle-request';
import { setRuntime } from '@/lib/runtime';
import { readRow } from '../support/database';
import { testRuntime } from '../support/runtime';
import { useMcpServer } from './serve-mcp';

const CHAT = 'https://chat.example.org';
const EVIL = 'https://evil.example';
const mcp = useMcpServer({ PUBLIC_URL: 'https://admin.example.com', MCP_ALLOWED_ORIGINS: CHAT });
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
    [CHAT, 200],
    [EVIL, 403],
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

  test('a page on an allowed Origin can send a preflight request to the MCP endpoint and read a refusal', async () => {
    const ask = { origin: CHAT, 'access-control-request-method': 'POST' };
    const { status, headers } = await fetch(mcp.url, { method: 'OPTIONS', headers: ask });
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe(CHAT);
    expect(headers.get('access-control-allow-methods')).toBe('POST, GET, DELETE');
    const needed = 'authorization content-type accept mcp-protocol-version mcp-method mcp-name';
    expect(headers.get('access-control-allow-headers')?.toLowerCase().split(', ')).toEqual(
      expect.arrayContaining([...needed.split(' '), 'mcp-session-id', 'last-event-id']),
    );
    const refused = await mcp.post(LIST, { origin: CHAT, authorization: '' });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, CHAT]);
    expect((await fetch(mcp.url, { method: 'OPTIONS', headers: { origin: EVIL } })).status).toBe(403);
  });
});

describe('tokens of the MCP endpoint', () => {
  const CHALLENGE =
    'Bearer realm="mcp", resource_metadata="https://admin.example.com/.well-known/oauth-protected-resource/mcp"';
  const UNKNOWN = `w5t_${'A'.repeat(43)}`;

  test.each([
    ['', '', 'unauthorized'],
    ['Basic dXNlcjpwYXNz', '', 'unauthorized'],
    ['Bearer', '', 'unauthorized'],
    ['Bearer nonsense', ', error="invalid_token"', 'invalid_token'],
    [`Bearer ${UNKNOWN}`, ', error="invalid_token"', 'invalid_token'],
    [`Bearer ${UNKNOWN} more`, ', error="invalid_token"', 'invalid_token'],
  ])('the MCP endpoint refuses the authorization %j with 401%s', async (authorization, reason, error) => {
    const response = await mcp.post(LIST, { authorization });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe(`${CHALLENGE}${reason}, scope="mcp:read"`);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toEqual({ error, error_description: expect.any(String) });
  });

  test('the authorization scheme of the MCP endpoint is case-insensitive', async () => {
    for (const scheme of ['bearer ', 'BEARER  ', 'Bearer    '])
      expect((await mcp.post(LIST, { authorization: `${scheme}${mcp.token}` })).status).toBe(200);
  });

  test('the MCP endpoint answers 403 to a token that has only scopes of the payments API', async () => {
    const { token } = await mcp.newToken(['payments:read', 'payments:write']);
    const { status, headers } = await mcp.post(LIST, { authorization: `Bearer ${token}` });
    const challenge = `${CHALLENGE}, error="insufficient_scope", scope="mcp:read"`;
    expect([status, headers.get('www-authenticate')]).toEqual([403, challenge]);
  });

  test('the MCP endpoint records the last use of a token', async () => {
    const { id, token } = await mcp.newToken(['mcp:read']);
    await mcp.post(LIST, { authorization: `Bearer ${token}` });
    const lastUse = async () => (await readRow(mcp.db, accessTokens, id)).last_used_at;
    await expect.poll(lastUse).toEqual(mcp.runtime.now());
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
    expect([response.status, response.headers.get('content-type')]).toEqual([status, 'application/json']);
  });

  /** Sends a request without fetch, which adds an Accept header. @returns the status of the response */
  const statusOf = async (headers: Record<string, string>, body: string, method = 'POST') =>
    (await handleMcpRequest(new Request(mcp.url, { method, headers, body }))).status;

  test('the MCP endpoint accepts a request without an Accept header', async () => {
    const headers = { authorization: `Bearer ${mcp.token}`, 'content-type': 'application/json' };
    expect(await statusOf(headers, JSON.stringify(LIST))).toBe(200);
  });

  test('the MCP endpoint checks method, Origin, token, body size, Content-Type, Accept and JSON in this order', async () => {
    const tooLong = '{'.padEnd(MiB + 1);
    const unfit = { 'content-type': 'text/plain', accept: 'x/y' };
    const foreign = { ...unfit, origin: EVIL };
    const known = { ...unfit, authorization: `Bearer ${mcp.token}` };
    const json = { 'content-type': 'application/json' };
    expect(await statusOf(foreign, tooLong, 'PUT')).toBe(405);
    expect(await statusOf(foreign, tooLong)).toBe(403);
    expect(await statusOf(unfit, tooLong)).toBe(401);
    expect(await statusOf(known, tooLong)).toBe(413);
    expect(await statusOf(known, '{')).toBe(415);
    expect(await statusOf({ ...known, ...json }, '{')).toBe(406);
    expect(await statusOf({ ...known, ...json, accept: '*/*' }, '{')).toBe(400);
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
  const message = `Internal error (ref ${error.mock.calls.at(-1)?.[0].ref}). Try again later.`;
  const answer = { jsonrpc: '2.0', id: 7, error: { code: -32603, message } };
  expect([response.status, await response.json()]).toEqual([500, answer]);
});

test('the MCP endpoint answers 503 if the service cannot start', async () => {
  const failed = Promise.reject(new Error('no database at db.internal'));
  failed.catch(() => {}); // An unhandled rejection would end the process.
  Object.assign(globalThis, { [Symbol.for('w5t.runtime')]: failed });
  const response = await fetch(mcp.url, { method: 'POST' });
  expect(response.status).toBe(503);
  expect(await response.text()).not.toContain('db.internal');
});
