import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Page } from 'playwright';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PUBLISHED } from '../http/oauth/published-documents';
import { CERTIFICATE, KEY } from '../support/certificate';
import { postRpc } from '../support/post-json';
import { temporaryFolder } from '../support/run-command';
import { ADMIN } from './support/company';
import { press, pressAndSee, see } from './support/forms';
import { violationsOf } from './support/looks';
import { useSite } from './support/use-site';

const PRELOADED = pathToFileURL(join(import.meta.dirname, 'support/small-internet.mjs'));

const CALLBACK = 'http://127.0.0.1:47110/callback';

/** A client whose metadata document and redirect URL are both on its website. */
const SITE_CLIENT = {
  client_id: 'https://app.example/client.json',
  client_name: 'Example app',
  redirect_uris: ['https://app.example/callback'],
  token_endpoint_auth_method: 'none',
};

const folder = temporaryFolder();
const INFO = { name: 'test-client', version: '1.0.0' };

let host: Awaited<ReturnType<typeof publishDocuments>>;
beforeAll(async () => {
  host = await publishDocuments([SITE_CLIENT, ...PUBLISHED.map(({ document }) => document)]);
});
afterAll(() => host?.close());
// Use a fresh site, because its server reads the documents from `host`.
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
] as const;
const [, NEWER] = GENERATIONS;

const seeQuestion = (client: string) => page.getByRole('heading', { name: `Connect ${client}?` }).waitFor();

/** Allows the access on the consent page. @returns the parameters of the redirect to the client */
async function allow(): Promise<URLSearchParams> {
  await press(page, 'Allow');
  return sent();
}

const call = async (token = '') => (await postRpc(site.url, token, 'tools/list')).status;

describe.each(GENERATIONS)('clients built with $name', ({ open }) => {
  test('an MCP client can connect with the chosen permissions, call tools and refresh its token until it is disconnected', {
    timeout: 90_000,
  }, async () => {
    const provider = browserProvider(page);
    const client = open(provider);
    await expect(client.connect()).rejects.toThrow();

    await seeQuestion('Browser client');
    expect(await page.getByText('Not verified').count()).toBe(1);
    expect(await page.getByText(ADMIN.email).count()).toBe(1);
    expect(await violationsOf(page)).toEqual([]);
    await page.getByLabel('Servers').uncheck();
    const params = await allow();
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
    await pressAndSee(page, 'Disconnect app', 'The app is disconnected');
    expect(await call(token)).toBe(401);
  });
});

test('an MCP client that an admin registered by hand can connect', async () => {
  await page.goto(`${site.url}/admin/tokens/clients`);
  expect(await violationsOf(page)).toEqual([]);
  await page.getByLabel('Name').fill('Copilot Studio');
  await page.getByLabel('Redirect addresses').fill('http://127.0.0.1/callback');
  await press(page, 'Register client');
  const text = (await page.getByLabel('credentials').first().textContent()) ?? '';
  const [, client_id = '', client_secret = ''] = /ID: (\S+)\s+Client secret: (\S+)/.exec(text) ?? [];
  const provider = browserProvider(page, { client_id, client_secret });
  for (const { open } of GENERATIONS) {
    await expect(open(provider).connect()).rejects.toThrow();
    await seeQuestion('Copilot Studio');
    expect(await page.getByText('Not verified').count()).toBe(0);
    await open(provider).finish(await allow());
    expect(await call(provider.stored.tokens?.access_token)).toBe(200);
    delete provider.stored.tokens;
  }
});

test('an MCP client identified by its metadata document can connect', async () => {
  for (const { open } of GENERATIONS) {
    const provider = browserProvider(page, { document: SITE_CLIENT });
    await expect(open(provider).connect()).rejects.toThrow();
    expect(provider.stored.client?.client_id).toBe(SITE_CLIENT.client_id);
    await seeQuestion('the app of app.example');
    expect(await page.getByText('app.example', { exact: true }).count()).toBe(2);
    await see(page, 'It chose this name itself.');
    expect(await page.getByText('Not verified').count()).toBe(0);
    await open(provider).finish(await allow());
    const client = open(provider);
    await client.connect();
    expect((await client.listTools()).tools).toHaveLength(6);
  }
  await page.goto(`${site.url}/admin/apps`);
  await see(page, 'Example app');
});

test('an invalid authorization request returns to the client’s website only after a click', async () => {
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

test('the link back to an OAuth client fits a phone screen despite a long host name', async () => {
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
  await expect(NEWER.open(provider).connect()).rejects.toThrow();
  await press(page, 'Deny');
  expect((await sent()).get('error')).toBe('access_denied');
});

test('admins see the tool calls of clients, no connection problem except the local URL, and a newly issued token', async () => {
  await page.goto(`${site.url}/admin/tokens/calls?tool=list-invoices-tool`);
  await page.getByRole('table', { name: 'Calls' }).waitFor();
  expect(await page.getByRole('cell', { name: `Browser client, ${ADMIN.email}` }).count()).toBe(4);
  expect(await violationsOf(page)).toEqual([]);

  await page.goto(`${site.url}/admin/connect`);
  expect(await violationsOf(page)).toEqual([]);
  await pressAndSee(page, 'Check the connection', '6 of 10 clients can connect.');
  const told = await page.getByRole('status').getByRole('listitem').allTextContents();
  const failed = told.filter((sentence) => !sentence.includes(': It can connect'));
  // The test server has a local URL, which clients in the cloud cannot reach.
  for (const sentence of failed) expect(sentence).toContain(`cannot reach ${site.url}`);
  expect(await violationsOf(page)).toEqual([]);
  await page.getByRole('tab', { name: 'Claude Code' }).click();
  expect(await violationsOf(page)).toEqual([]);
  await press(page, 'Issue a token and fill it in');
  await page.getByText(/Bearer w5t_[\w-]{43}/).waitFor();
});

/** A client that does not register itself. It has an id and perhaps a secret, or publishes a metadata document. */
type Known = { client_id: string; client_secret?: string } | { document: typeof SITE_CLIENT };

interface Stored {
  client?: Record<string, unknown>;
  tokens?: { access_token: string; refresh_token?: string };
  verifier?: string;
  discovery?: unknown;
}

/**
 * Creates an OAuth provider for both generations of the SDK. The provider keeps its state in memory and opens URLs in
 * `page`.
 */
function browserProvider(page: Page, known?: Known) {
  const document = known && 'document' in known ? known.document : undefined;
  const entered = known && !('document' in known) ? known : undefined;
  const stored: Stored = { ...(entered && { client: { ...entered } }) };
  const redirectUrl = document?.redirect_uris[0] ?? CALLBACK;
  return {
    stored,
    redirectUrl,
    ...(document && { clientMetadataUrl: document.client_id }),
    clientMetadata: {
      client_name: 'Browser client',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: entered?.client_secret ? 'client_secret_basic' : 'none',
    },
    state: () => 'a state of the test',
    clientInformation: () => stored.client as { client_id: string } | undefined,
    saveClientInformation(client: unknown) {
      stored.client = client as Record<string, unknown>;
    },
    tokens: () => stored.tokens as { access_token: string; token_type: string } | undefined,
    saveTokens(tokens: unknown) {
      stored.tokens = tokens as NonNullable<Stored['tokens']>;
    },
    saveCodeVerifier(verifier: string) {
      stored.verifier = verifier;
    },
    codeVerifier: () => stored.verifier ?? '',
    saveDiscoveryState(state: unknown) {
      stored.discovery = state;
    },
    discoveryState: () => stored.discovery as undefined,
    async redirectToAuthorization(url: URL) {
      await page.goto(url.href);
    },
  };
}

const ANSWERED_AT = /^(http:\/\/127\.0\.0\.1:47110|https:\/\/app\.example)\//;

/** Intercepts the OAuth redirect to a local client or website. @returns a function that waits for the parameters */
async function awaitCallback(page: Page): Promise<() => Promise<URLSearchParams>> {
  let sent: URLSearchParams | undefined;
  await page.route(ANSWERED_AT, (route) => {
    sent = new URL(route.request().url()).searchParams;
    return route.fulfill({ body: 'Connected.' });
  });
  return async () => {
    await page.waitForURL(ANSWERED_AT);
    if (!sent) throw new Error('the program was sent nothing');
    return sent;
  };
}

/**
 * Publishes metadata documents at their own https URLs, for a server that is started with `env`. The product needs
 * no change, because `env` redirects the name resolution and the connections of the server.
 */
async function publishDocuments(documents: { client_id: string }[]) {
  const found = new Map(documents.map((document) => [document.client_id, document]));
  const server = createServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
    const document = found.get(`https://${request.headers.host}${request.url}`);
    response.writeHead(document ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(document ?? {}));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const certificate = join(folder, 'certificate.pem');
  writeFileSync(certificate, CERTIFICATE);
  const names = new Set([...found.keys()].map((id) => new URL(id).host));
  return {
    /** Environment variables that make a server load the documents from their published URLs. */
    env: {
      NODE_OPTIONS: `--import ${PRELOADED}`,
      NODE_EXTRA_CA_CERTS: certificate,
      SMALL_INTERNET: [port, ...names].join(','),
    },
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
