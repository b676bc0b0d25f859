import { base32 } from '@better-auth/utils/base32';
import { createOTP } from '@better-auth/utils/otp';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { eq } from 'drizzle-orm';
import type { Page } from 'playwright';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { staffUsers } from '@/db/schema';
import { commandActor } from '@/lib/audit/audit-log';
import { demandTwoFactor } from '@/lib/auth/find-staff';
import { PUBLISHED } from '../http/oauth/published-documents';
import { ADMIN, STAFF } from './support/company';
import { pressHydrated, signIn } from './support/forms';
import { violationsOf } from './support/looks';
import { awaitCallback, browserProvider, publishDocuments, SITE_CLIENT } from './support/oauth-clients';
import { useSite } from './support/use-site';

const INFO = { name: 'test-client', version: '1.0.0' };

let host: Awaited<ReturnType<typeof publishDocuments>>;
beforeAll(async () => {
  host = await publishDocuments([SITE_CLIENT, ...PUBLISHED.map(({ document }) => document)]);
});
afterAll(() => host?.close());
// Use a fresh site, because its server reads the documents from `host`, and the last test requires two-factor
// authentication of all staff.
const site = useSite('company', { fresh: true, env: () => host.env });

let page: Page;
let sent: () => Promise<URLSearchParams>;
beforeEach(async () => {
  page = await site.open('/', { own: true, as: ADMIN });
  sent = await awaitCallback(page);
});

type Provider = ReturnType<typeof browserProvider>;

/** Both generations of the client SDK. Each opens a client for an OAuth provider. */
const GENERATIONS = [
  {
    name: '@modelcontextprotocol/sdk 1.x',
    open: (authProvider: Provider) => {
      const client = new Client1(INFO);
      const transport = () =>
        new Transport1(new URL('/mcp', site.url), { authProvider: authProvider as never });
      return {
        connect: () => client.connect(transport() as never),
        finish: (params: URLSearchParams) => transport().finishAuth(params.get('code') ?? ''),
        listTools: () => client.listTools(),
        call: (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args }),
      };
    },
  },
  {
    name: '@modelcontextprotocol/client 2.x',
    open: (authProvider: Provider) => {
      const client = new Client2(INFO);
      const transport = () =>
        new Transport2(new URL('/mcp', site.url), { authProvider: authProvider as never });
      return {
        connect: () => client.connect(transport()),
        finish: (params: URLSearchParams) => transport().finishAuth(params),
        listTools: () => client.listTools(),
        call: (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args }),
      };
    },
  },
];

const call = (token: string) =>
  fetch(`${site.url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });

describe.each(GENERATIONS)('clients built with $name', ({ open }) => {
  test('an MCP client can connect, call tools and refresh its token until staff disconnect it', {
    timeout: 90_000,
  }, async () => {
    const provider = browserProvider(page);
    const client = open(provider);
    await expect(client.connect()).rejects.toThrow();

    await page.getByRole('heading', { name: 'Connect Browser client?' }).waitFor();
    expect(await page.getByText('Not verified').count()).toBe(1);
    expect(await page.getByText(ADMIN.email).count()).toBe(1);
    expect(await violationsOf(page)).toEqual([]);
    await page.getByLabel('Servers').uncheck();
    await page.getByRole('button', { name: 'Allow' }).click();
    const params = await sent();
    expect(params.get('iss')).toBe(`${site.url}/api/auth`);
    await client.finish(params);

    const again = open(provider);
    await again.connect();
    const { tools } = await again.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('list-servers-tool');
    await again.call('list-invoices-tool', { per_page: 1 });

    const before = provider.stored.tokens?.access_token ?? '';
    const ended = await fetch(`${site.url}/api/auth/oauth2/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: String(provider.stored.client?.client_id), token: before }),
    });
    expect(ended.status).toBe(200);
    await again.call('list-invoices-tool', { per_page: 2 });
    const token = provider.stored.tokens?.access_token ?? '';
    expect(token).not.toBe(before);

    await page.goto(`${site.url}/admin/apps`);
    expect(await violationsOf(page, 'all')).toEqual([]);
    await page
      .getByRole('button', { name: /^Disconnect Browser client/ })
      .first()
      .click();
    await page.getByRole('button', { name: 'Disconnect app' }).click();
    await page.getByText('The app is disconnected').waitFor();
    expect((await call(token)).status).toBe(401);
  });
});

test('an MCP client that an admin registered by hand can connect', { timeout: 60_000 }, async () => {
  await page.goto(`${site.url}/admin/tokens/clients`);
  expect(await violationsOf(page)).toEqual([]);
  await page.getByLabel('Name').fill('Copilot Studio');
  await page.getByLabel('Redirect addresses').fill('http://127.0.0.1/callback');
  await page.getByRole('button', { name: 'Register client' }).click();
  const text = (await page.getByLabel('credentials').first().textContent()) ?? '';
  const [, client_id = '', client_secret = ''] = /ID: (\S+)\s+Client secret: (\S+)/.exec(text) ?? [];
  const provider = browserProvider(page, { client_id, client_secret });
  for (const { open } of GENERATIONS) {
    await expect(open(provider).connect()).rejects.toThrow();
    await page.getByRole('heading', { name: 'Connect Copilot Studio?' }).waitFor();
    expect(await page.getByText('Not verified').count()).toBe(0);
    await page.getByRole('button', { name: 'Allow' }).click();
    await open(provider).finish(await sent());
    expect((await call(provider.stored.tokens?.access_token ?? '')).status).toBe(200);
    delete provider.stored.tokens;
  }
});

test('an MCP client identified by its metadata document can connect', { timeout: 60_000 }, async () => {
  for (const { open } of GENERATIONS) {
    const provider = browserProvider(page, { document: SITE_CLIENT });
    await expect(open(provider).connect()).rejects.toThrow();
    expect(provider.stored.client?.client_id).toBe(SITE_CLIENT.client_id);
    await page.getByRole('heading', { name: 'Connect the app of app.example?' }).waitFor();
    expect(await page.getByText('app.example', { exact: true }).count()).toBe(2);
    await page.getByText('It chose this name itself.').waitFor();
    expect(await page.getByText('Not verified').count()).toBe(0);
    await page.getByRole('button', { name: 'Allow' }).click();
    await open(provider).finish(await sent());
    const client = open(provider);
    await client.connect();
    expect((await client.listTools()).tools).toHaveLength(6);
  }
  await page.goto(`${site.url}/admin/apps`);
  await page.getByText('Example app').first().waitFor();
});

test('an invalid authorization request returns to the client’s website only after a click', {
  timeout: 60_000,
}, async () => {
  const { client_id, redirect_uris } = SITE_CLIENT;
  const query = new URLSearchParams({
    response_type: 'code',
    client_id,
    redirect_uri: redirect_uris[0] ?? '',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    scope: 'mcp:write',
    state: 'a state',
  });
  await page.goto(`${site.url}/api/auth/oauth2/authorize?${query}`);
  await page.getByRole('heading', { name: 'The app is not connected' }).waitFor();
  expect(await page.getByText('asks for permissions that do not exist here').count()).toBe(1);
  expect(await violationsOf(page)).toEqual([]);
  await page.getByRole('link', { name: 'Back to app.example' }).click();
  expect(Object.fromEntries(await sent())).toMatchObject({ error: 'invalid_scope', state: 'a state' });
});

test('the link back to an OAuth client fits a phone screen despite a long host name', {
  timeout: 60_000,
}, async () => {
  const redirect_uri = `https://${'a-long-name-'.repeat(4)}x.of-somebody-else.example/callback`;
  const made = await fetch(`${site.url}/api/auth/oauth2/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [redirect_uri], token_endpoint_auth_method: 'none' }),
  });
  const { client_id } = (await made.json()) as { client_id: string };
  const query = new URLSearchParams({ response_type: 'code', client_id, redirect_uri, state: 'a state' });
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(`${site.url}/api/auth/oauth2/authorize?${query}`);
  await page.getByRole('link', { name: /^Back to a-long-name/ }).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
});

test('an OAuth client receives the error access_denied when consent is denied', async () => {
  const provider = browserProvider(page);
  await expect(GENERATIONS[0]?.open(provider).connect()).rejects.toThrow();
  await page.getByRole('button', { name: 'Deny' }).click();
  expect((await sent()).get('error')).toBe('access_denied');
});

test('the connection check page reports no problem except the local URL', {
  timeout: 60_000,
}, async () => {
  await page.goto(`${site.url}/admin/tokens/calls?tool=list-invoices-tool`);
  await page.getByRole('table', { name: 'Calls' }).waitFor();
  expect(await page.getByRole('cell', { name: `Browser client, ${ADMIN.email}` }).count()).toBe(4);
  expect(await violationsOf(page)).toEqual([]);

  await page.goto(`${site.url}/admin/connect`);
  expect(await violationsOf(page)).toEqual([]);
  await page.getByRole('button', { name: 'Check the connection' }).click();
  await page.getByText('6 of 10 clients can connect.').waitFor();
  const told = await page.getByRole('status').getByRole('listitem').allTextContents();
  const failed = told.filter((sentence) => !sentence.includes(': It can connect'));
  // The test server has no public URL, so these clients cannot reach it.
  for (const sentence of failed) expect(sentence).toContain(`cannot reach ${site.url}`);
  expect(await violationsOf(page)).toEqual([]);
  await page.getByRole('tab', { name: 'Claude Code' }).click();
  expect(await violationsOf(page)).toEqual([]);
  await page.getByRole('button', { name: 'Issue a token and fill it in' }).click();
  await page.getByText(/Bearer w5t_[\w-]{43}/).waitFor();
});

test('staff must set a password and a second factor before consenting to an MCP client', {
  timeout: 90_000,
}, async () => {
  await site.restart(async (db) => {
    await db.update(staffUsers).set({ passwordTemporary: true }).where(eq(staffUsers.email, STAFF.email));
    await demandTwoFactor(db, true, commandActor('test'));
  });
  await page.context().clearCookies();
  const provider = browserProvider(page);
  await expect(GENERATIONS[1]?.open(provider).connect()).rejects.toThrow();
  await signIn(page, STAFF.email, STAFF.password);

  await page.getByRole('heading', { name: 'Choose your password' }).waitFor();
  const password = 'a password of my own';
  await page.getByLabel('Current password').fill(STAFF.password);
  await page.getByLabel('New password', { exact: true }).fill(password);
  await page.getByLabel('New password again').fill(password);
  await page.getByRole('button', { name: 'Change password' }).click();

  await page.getByRole('heading', { name: 'Set up two-factor authentication' }).waitFor();
  await page.getByLabel('Your password').fill(password);
  await pressHydrated(page, 'Set up authenticator app');
  const key = (await page.locator('code').first().textContent()) ?? '';
  const secret = new TextDecoder().decode(base32.decode(key));
  const code = await createOTP(secret, { digits: 6, period: 30 }).totp();
  await page.getByLabel('Code from the app').fill(code);
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByRole('link', { name: 'I have saved them' }).click();

  await page.getByRole('heading', { name: 'Connect Browser client?' }).waitFor();
  await page.getByText(STAFF.email).waitFor();
  await page.getByRole('button', { name: 'Allow' }).click();
  const params = await sent();
  expect(params.get('error')).toBeNull();
  await GENERATIONS[1]?.open(provider).finish(params);
  expect((await call(provider.stored.tokens?.access_token ?? '')).status).toBe(200);
});
