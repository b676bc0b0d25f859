import { setTimeout as sleep } from 'node:timers/promises';
import { eq, like } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { oauthClients, oauthConsents } from '@/db/schema';
import { checkHealth, listAlerts } from '@/lib/health/check-health';
import { readWayBack } from '@/lib/oauth/consent-request';
import { clearUnusedClients, maxRegistrations } from '@/lib/oauth/register-client';
import { RESOURCE, useFlow } from './flow';
import { PUBLISHED } from './published-documents';

const flow = useFlow();
const { documents } = flow;

const uris = (...redirect_uris: unknown[]) => ({ redirect_uris });
const REDIRECTS = uris('https://x.example/cb');

/** Requests an authorization with a redirect URL. @returns the path of the page that opens */
const pageFor = async (id: string, redirect_uri: string) =>
  (await flow.authorize(id, { redirect_uri })).pathname;

describe('dynamic registration', () => {
  test.each<[string, { redirect_uris: unknown[]; [field: string]: unknown }]>([
    ['at a loopback port', { ...uris('http://localhost:54545/callback'), application_type: 'web' }],
    ['with a scope', { ...uris('http://localhost:7777/oauth/callback'), scope: 'mcp:read' }],
    ['with a private URI scheme', uris('cursor://anysphere.cursor-mcp/oauth/callback')],
    ['at loopback and website addresses', uris('http://127.0.0.1:33418', 'https://vscode.dev/redirect')],
    ['at the IPv6 loopback', uris('http://[::1]:3000/callback')],
    ['with a secret', { ...REDIRECTS, token_endpoint_auth_method: 'client_secret_post' }],
    ['with unknown metadata', { ...REDIRECTS, contacts: [7], logo_uri: 'ftp://x', jwks: {} }],
  ])('dynamic registration accepts a client %s', async (_, metadata) => {
    const answer = await flow.register(metadata);
    const { redirect_uris } = metadata;
    const made = { client_id: expect.stringMatching(/^[\w-]{22}$/), redirect_uris };
    expect([answer.status, await answer.json()]).toMatchObject([201, made]);
  });

  test('dynamic registration drops a client name with invisible or control characters', async () => {
    for (const client_name of ['\u200b\u2060', 'Claude\u202e', 'a\0b']) {
      const answer = await flow.register({ client_name, ...REDIRECTS });
      expect(answer.status).toBe(201);
      expect(await answer.json()).not.toHaveProperty('client_name');
    }
  });

  const INVALID = 'invalid_client_metadata';
  test.each<[string, Record<string, unknown>, string?]>([
    ...[
      ...['http://x.example/cb', 'javascript:alert(1)', 'evil://callback', 'https://x.example/cb#x'],
      ...['https://a:b@x.example/cb', 'http://localhost.evil.example/', 'vendor-app://cb'],
      ...['https:evil.example', 'https:/evil.example/cb', 'HTTPS:///evil.example', 'http:127.0.0.1/cb'],
    ].map((url): [string, Record<string, unknown>] => [`the redirect URL ${url}`, uris(url)]),
    ['no redirect URL', uris()],
    ['two redirect URLs that are not allowed', uris('vendor-app://cb', 'http://x.example/')],
    ['a number as redirect URL', uris(7)],
    ['a text as list of redirect URLs', { redirect_uris: 'https://x.example/cb' }],
    ['the grant type client_credentials', { ...REDIRECTS, grant_types: ['client_credentials'] }, INVALID],
    ['the method private_key_jwt', { ...REDIRECTS, token_endpoint_auth_method: 'private_key_jwt' }, INVALID],
  ])(
    'an OAuth client registration with %s is refused',
    async (_, metadata, error = 'invalid_redirect_uri') => {
      const answer = await flow.register(metadata);
      expect([answer.status, await answer.json()]).toMatchObject([400, { error }]);
    },
  );

  test('an OAuth client with a secret must send the secret to get tokens', async () => {
    const redirect_uri = 'cursor://anysphere.cursor-mcp/oauth/callback';
    for (const method of ['client_secret_basic', 'client_secret_post']) {
      const { id, secret } = await flow.secretClient(redirect_uri, method);
      const exchange = async (client_secret: string | null) =>
        flow.exchange(id, await flow.code(id, { redirect_uri }), { redirect_uri, client_secret });
      for (const wrong of ['wrong', null]) {
        const refusal = { status: 401, body: { error: 'invalid_client' } };
        expect(await exchange(wrong)).toMatchObject(refusal);
      }
      // The client may send the secret in the form or in a header, no matter which of the two it registered.
      const inForm = await exchange(secret);
      expect(inForm.status).toBe(200);
      const basic = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
      const form = { grant_type: 'refresh_token', refresh_token: inForm.body.refresh_token };
      expect((await flow.token(form, { authorization: basic })).status).toBe(200);
    }
  });

  test('one public IP address can register twenty OAuth clients within an hour, and refused ones raise an alert', async () => {
    const { db, env, now } = flow.server.runtime;
    const from = '203.0.113.9';
    const many = await Promise.all(Array.from({ length: 22 }, () => flow.register(REDIRECTS, from)));
    expect(many.filter(({ status }) => status === 201)).toHaveLength(20);
    const refused = many.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(2);
    const refusal = { error: 'slow_down', error_description: expect.stringContaining(from) };
    expect(await refused[0]?.json()).toMatchObject(refusal);
    const message = `20 apps registered from ${from} within an hour, so more of them are refused. If this is the address of a proxy, add it to TRUSTED_PROXIES.`;
    expect((await listAlerts(db, now(), env)).alerts).toEqual([{ code: 'registrations_refused', message }]);
    // Anyone can register clients, so a full quota must not degrade the health status.
    expect((await checkHealth(flow.server.runtime)).status).toBe('ok');
  });

  test('one private or unknown IP address can register at most 200 OAuth clients within an hour', async () => {
    const { db, now } = flow.server.runtime;
    const client = { redirectUris: ['https://x.example/cb'], registeredFrom: '10.9.9.9', createdAt: now() };
    const ids = Array.from({ length: 199 }, (_, n) => ({ id: `shared-${n}`, clientId: `shared-${n}` }));
    await db.insert(oauthClients).values(ids.map((one) => ({ ...client, ...one, updatedAt: now() })));
    expect((await flow.register(REDIRECTS, '10.9.9.9')).status).toBe(201);
    expect((await flow.register(REDIRECTS, '10.9.9.9')).status).toBe(429);
    await db.delete(oauthClients).where(eq(oauthClients.registeredFrom, '10.9.9.9'));
    for (const shared of ['127.0.0.1', '192.168.1.1', '0:0:0:0::', 'fd00:0:0:1::', 'unknown']) {
      expect(maxRegistrations(shared)).toBe(200);
    }
    for (const own of ['203.0.113.9', '172.32.0.1', '2001:db8:7:1::']) expect(maxRegistrations(own)).toBe(20);
  });

  test('disallowed redirect URLs are dropped from an OAuth client registration', async () => {
    const [site, loopback] = ['https://x.example/cb', 'http://127.0.0.1/cb'];
    const given = uris('vendor-app://cb', site, 7, 'http://x.example/cb', loopback, `${site}#x`);
    const answer = await flow.register({ ...given, token_endpoint_auth_method: 'none' });
    const { client_id, redirect_uris } = (await answer.json()) as { client_id: string } & typeof given;
    expect([answer.status, redirect_uris]).toEqual([201, [site, loopback]]);
    expect(await pageFor(client_id, 'vendor-app://cb')).toBe('/oauth/refused');
    expect(await pageFor(client_id, loopback)).toBe('/oauth/consent');
  });

  test('an IPv6 /56 network can have at most 60 unused OAuth clients, and its /48 network at most 120', async () => {
    const register = async (network: number, i: number) =>
      (await flow.register(REDIRECTS, `2001:db8:7:${(network * 256 + i).toString(16)}::1`)).status;
    for (const network of [1, 2]) {
      for (let i = 0; i < 60; i += 1) expect(await register(network, i)).toBe(201);
      expect(await register(network, 60)).toBe(429);
    }
    expect(await register(3, 1)).toBe(429);
    expect((await flow.register(REDIRECTS, '2001:db8:8:100::1')).status).toBe(201);
    expect((await flow.register(REDIRECTS)).status).toBe(201);
    const { db, now } = flow.server.runtime;
    await clearUnusedClients(db, new Date(now().getTime() + 90_000_000));
    expect(await register(1, 1)).toBe(201);
  });

  test('a self-registered OAuth client is deleted after a day if it was never authorized', async () => {
    const { db, now } = flow.server.runtime;
    const [used, unused, disconnected] = [await flow.client(), await flow.client(), await flow.client()];
    await flow.connect(used);
    await flow.connect(disconnected);
    await db.delete(oauthConsents).where(eq(oauthConsents.clientId, disconnected));
    const ids = async () =>
      (await db.select({ id: oauthClients.clientId }).from(oauthClients)).map(({ id }) => id);
    await clearUnusedClients(db, new Date(now().getTime() + 85_000_000));
    expect(await ids()).toEqual(expect.arrayContaining([used, unused]));
    await clearUnusedClients(db, new Date(now().getTime() + 90_000_000));
    expect(await ids()).toEqual(expect.arrayContaining([used, disconnected]));
    expect(await ids()).not.toContain(unused);
    // A disconnected app keeps its client id, so it must be able to connect again.
    expect((await flow.authorize(disconnected)).pathname).toBe('/oauth/consent');
  });
});

describe('client metadata documents', () => {
  const ID = 'https://claude.ai/oauth/mcp-oauth-client-metadata';
  const redirect_uri = 'https://claude.ai/api/mcp/auth_callback';

  test.each(PUBLISHED)(
    'a client identified by the metadata document of $document.client_name gets tokens',
    async ({ document, redirect_uri }) => {
      const id = document.client_id;
      documents.set(id, document);
      const code = await flow.code(id, { redirect_uri, scope: 'mcp:read offline_access' });
      const { body } = await flow.exchange(id, code, { redirect_uri, resource: RESOURCE });
      expect(await flow.status(body.access_token)).toBe(200);
      documents.delete(id); // A consent must outlive the document.
      expect((await flow.refresh(id, body.refresh_token)).status).toBe(200);
    },
  );

  test('an invalid authorization request of a metadata-document client ends on our refusal page', async () => {
    documents.set(ID, PUBLISHED[0]?.document);
    const page = await flow.authorize(ID, { redirect_uri, scope: 'mcp:write' });
    expect([page.pathname, page.searchParams.get('error')]).toEqual(['/oauth/refused', 'invalid_scope']);
    const back = await readWayBack(flow.server.runtime, page.searchParams);
    expect(back).toMatchObject({ name: 'Claude', host: 'claude.ai' });
  });

  test('at most twenty unused client metadata documents are stored per host, and only for an hour', async () => {
    const host = 'https://many.example';
    const authorize = async (n: number, start?: Promise<void>) => {
      const id = `${host}/${n}.json`;
      const document = { client_id: id, redirect_uris: [`${host}/callback`] };
      documents.set(id, start ? start.then(() => document) : document);
      return (await flow.authorize(id, { redirect_uri: `${host}/callback` }, false)).pathname;
    };
    for (let n = 1; n <= 18; n += 1) expect(await authorize(n)).toBe('/sign-in');
    const start = sleep(500); // Until then, all four requests are waiting for their documents.
    const concurrent = await Promise.all([19, 20, 21, 22].map((n) => authorize(n, start)));
    expect(concurrent.sort()).toEqual(['/oauth/refused', '/oauth/refused', '/sign-in', '/sign-in']);
    // Documents do not count towards the limits for self-registered clients.
    expect((await flow.register(REDIRECTS)).status).toBe(201);
    const hourLater = new Date(flow.server.runtime.now().getTime() + 3_600_001);
    await clearUnusedClients(flow.server.runtime.db, hourLater);
    const isOne = like(oauthClients.clientId, `${host}/%`);
    expect(await flow.server.runtime.db.$count(oauthClients, isOne)).toBe(0);
  });

  test('disallowed redirect URLs of a client metadata document are refused', async () => {
    const id = 'https://app.example/mixed.json';
    documents.set(id, { client_id: id, redirect_uris: ['vendor-app://cb', redirect_uri] });
    expect(await pageFor(id, redirect_uri)).toBe('/oauth/consent');
    expect(await pageFor(id, 'vendor-app://cb')).toBe('/oauth/refused');
  });

  test('a redirect URL removed from a client metadata document is refused', async () => {
    const id = 'https://app.example/client.json';
    const [old, other] = ['https://app.example/old', 'https://app.example/new'];
    documents.set(id, { client_id: id, redirect_uris: [old] });
    expect(await pageFor(id, old)).toBe('/oauth/consent');
    documents.set(id, { client_id: id, redirect_uris: [other] });
    await flow.server.runtime.db.update(oauthClients).set({ updatedAt: new Date(0) });
    expect(await pageFor(id, old)).toBe('/oauth/refused');
    expect(await pageFor(id, other)).toBe('/oauth/consent');
  });

  test.each<[string, object | undefined]>([
    ['names another id', { client_id: ID }],
    ['has a secret', { client_secret: 'x' }],
    ['requires private_key_jwt', { token_endpoint_auth_method: 'private_key_jwt' }],
    ['has no redirects', { redirect_uris: undefined }],
    ['is a list', []],
    ['cannot be read', undefined],
  ])('a client metadata document that %s is refused', async (reason, given) => {
    const id = `https://app.example/${reason.replaceAll(' ', '-')}.json`;
    const right = { client_id: id, redirect_uris: [redirect_uri] };
    if (given) documents.set(id, Array.isArray(given) ? given : { ...right, ...given });
    const to = await flow.authorize(id, { redirect_uri });
    expect(to.pathname + to.search).toBe('/oauth/refused?error=invalid_client');
  });

  test.each([
    'http://app.example/client.json',
    'https://app.example/',
    'https://app.example:8443/client.json',
    'https://user@app.example/client.json',
    'https://app.example/a/../client.json',
    'https://app.example/client.json#x',
  ])('a client metadata document at the URL %s is refused', async (id) => {
    documents.set(id, { client_id: id, redirect_uris: [redirect_uri] });
    expect(await pageFor(id, redirect_uri)).toBe('/oauth/refused');
  });
});
