import { expect, test } from 'vitest';
import * as root from '@/app/.well-known/[...path]/route';
import * as beneath from '@/app/mcp/.well-known/[...path]/route';
import { useApi } from '../support/api';

const server = useApi({
  '/.well-known/.*': root,
  '/mcp/.well-known/.*': beneath,
});

test.each([
  '/.well-known/webfinger',
  '/.well-known/oauth-authorization-server/other',
  '/mcp/.well-known/openid-configuration',
])('%s is 404 in JSON', async (path) => {
  for (const method of ['GET', 'OPTIONS', 'POST']) {
    const response = await fetch(server.url + path, { method });
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toMatchObject({ error: 'not_found' });
  }
  const head = await fetch(server.url + path, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([404, '']);
});

test('metadata is read, by pages too, and not written', async () => {
  const path = `${server.url}/.well-known/oauth-protected-resource`;
  expect((await fetch(path)).headers.get('access-control-allow-origin')).toBe('*');
  expect((await fetch(path, { method: 'OPTIONS' })).status).toBe(204);
  expect((await fetch(path, { method: 'POST' })).status).toBe(405);
  const head = await fetch(path, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
});
