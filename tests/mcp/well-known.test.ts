import { afterAll, beforeAll, expect, test } from 'vitest';
import * as root from '@/app/.well-known/[...path]/route';
import * as beneath from '@/app/mcp/.well-known/[...path]/route';
import { serveRoutes } from '../support/serve-routes';

let served: Awaited<ReturnType<typeof serveRoutes>>;
beforeAll(async () => {
  served = await serveRoutes({
    '/.well-known/[one]': root,
    '/.well-known/[one]/mcp': root,
    '/mcp/.well-known/[one]': beneath,
  });
});
afterAll(() => served.close());

const NAMES = ['oauth-protected-resource', 'oauth-authorization-server', 'openid-configuration'];

test.each(
  NAMES.flatMap((name) => [`/.well-known/${name}`, `/.well-known/${name}/mcp`, `/mcp/.well-known/${name}`]),
)('%s is 404 in JSON', async (path) => {
  for (const method of ['GET', 'OPTIONS', 'POST']) {
    const response = await fetch(served.url + path, { method });
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toMatchObject({ error: 'not_found' });
  }
  const head = await fetch(served.url + path, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([404, '']);
});
