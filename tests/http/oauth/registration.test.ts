import { eq, like } from 'drizzle-orm';
import { describe, expect, test, vi } from 'vitest';
import { oauthClients } from '@/db/schema';
import { clearUnusedClients } from '@/lib/oauth/register-client';
import { readWayBack } from '@/lib/oauth/way-back';
import { RESOURCE, useFlow } from './flow';
import { PUBLISHED } from './published-documents';

const documents = vi.hoisted(() => new Map<string, () => unknown>());
vi.mock('@/lib/oauth/fetch-document', () => ({
  fetchDocument: async (url: URL) => {
    const document = documents.get(url.href);
    if (!document) throw new Error('the address is not public');
    return document();
  },
}));

const flow = useFlow();

describe('dynamic registration', () => {
  test.each<[string, Record<string, unknown>]>([
    [
      'Claude Code, any port',
      { redirect_uris: ['http://localhost:54545/callback'], application_type: 'web' },
    ],
    ['Gemini CLI', { redirect_uris: ['http://localhost:7777/oauth/callback'], scope: 'mcp:read' }],
    ['Cursor', { redirect_uris: ['cursor://anysphere.cursor-mcp/oauth/callback'] }],
    [
      'VS Code, of both kinds at once',
      { redirect_uris: ['http://127.0.0.1:33418', 'http://127.0.0.1/', 'https://vscode.dev/redirect'] },
    ],
    ['the IPv6 loopback', { redirect_uris: ['http://[::1]:3000/callback'] }],
    [
      'a web client with a secret',
      {
        redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    [
      'more than is known',
      { redirect_uris: ['https://x.example/cb'], contacts: [7], logo_uri: 'ftp://x', jwks: {} },
    ],
  ])('%s is registered', async (_, metadata) => {
    const answer = await flow.register(metadata);
    expect(answer.status).toBe(201);
    expect(await answer.json()).toMatchObject({
      client_id: expect.stringMatching(/^[\w-]{22}$/),
      redirect_uris: metadata.redirect_uris,
    });
  });

  test.each([
    ['of invisible characters', '\u200b\u2060'],
    ['that turns the text around', 'Claude\u202e'],
    ['with NUL', 'a\0b'],
  ])('a name %s is none', async (_, client_name) => {
    const answer = await flow.register({ client_name, redirect_uris: ['https://x.example/cb'] });
    expect(answer.status).toBe(201);
    expect(await answer.json()).not.toHaveProperty('client_name', client_name);
  });

  test('of many at once from one address, as many are registered as one after the other', async () => {
    const made = await Promise.all(
      Array.from({ length: 25 }, () =>
        flow.register({ redirect_uris: ['https://x.example/cb'] }, '10.9.9.9'),
      ),
    );
    expect(made.filter(({ status }) => status === 201)).toHaveLength(20);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['http', { redirect_uris: ['http://x.example/cb'] }, 'invalid_redirect_uri'],
    ['a script', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    ['a scheme that is not listed', { redirect_uris: ['evil://callback'] }, 'invalid_redirect_uri'],
    ['a fragment', { redirect_uris: ['https://x.example/cb#x'] }, 'invalid_redirect_uri'],
    ['credentials', { redirect_uris: ['https://a:b@x.example/cb'] }, 'invalid_redirect_uri'],
    [
      'a host that only begins like the loopback',
      { redirect_uris: ['http://localhost.evil.example/'] },
      'invalid_redirect_uri',
    ],
    ['no redirect', { redirect_uris: [] }, 'invalid_redirect_uri'],
    [
      'another grant',
      { redirect_uris: ['https://x.example/cb'], grant_types: ['client_credentials'] },
      'invalid_client_metadata',
    ],
    [
      'a key',
      { redirect_uris: ['https://x.example/cb'], token_endpoint_auth_method: 'private_key_jwt' },
      'invalid_client_metadata',
    ],
  ])('%s is refused', async (_, metadata, error) => {
    const answer = await flow.register(metadata);
    expect([answer.status, (await answer.json()) as unknown]).toMatchObject([400, { error }]);
  });

  test('private schemes and secrets go the whole way', async () => {
    const redirect_uri = 'cursor://anysphere.cursor-mcp/oauth/callback';
    for (const method of ['client_secret_basic', 'client_secret_post']) {
      const answer = await flow.register({
        redirect_uris: [redirect_uri],
        token_endpoint_auth_method: method,
      });
      const { client_id, client_secret } = (await answer.json()) as Record<string, string>;
      const [id = '', secret = ''] = [client_id, client_secret];
      const code = () => flow.code(id, { redirect_uri });
      const wrong = await flow.exchange(id, await code(), { redirect_uri, client_secret: 'wrong' });
      expect(wrong).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
      const none = await flow.exchange(id, await code(), { redirect_uri });
      expect(none.body.error).toBe('invalid_client');
      // Whichever way it is registered, either is taken.
      const inForm = await flow.exchange(id, await code(), { redirect_uri, client_secret: secret });
      expect(inForm.status).toBe(200);
      const basic = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
      const form = { grant_type: 'refresh_token', refresh_token: inForm.body.refresh_token };
      expect((await flow.token(form, { authorization: basic })).status).toBe(200);
    }
  });

  test('is limited per address, and what nobody let in goes after a day', async () => {
    const metadata = { redirect_uris: ['https://x.example/cb'] };
    const statuses = [];
    for (let i = 0; i < 22; i++) statuses.push((await flow.register(metadata, '198.51.100.9')).status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
    const { db, now } = flow.server.runtime;
    const used = await flow.client();
    await flow.connect(used);
    await clearUnusedClients(db, new Date(now().getTime() + 90_000_000));
    const left = await db.select({ id: oauthClients.clientId }).from(oauthClients);
    expect(left.map(({ id }) => id)).toContain(used);
    expect(left.length).toBeLessThan(10);
  });
});

describe('a metadata document', () => {
  const ID = 'https://claude.ai/oauth/mcp-oauth-client-metadata';
  const redirect_uri = 'https://claude.ai/api/mcp/auth_callback';
  const document = {
    client_id: ID,
    client_name: 'Claude',
    redirect_uris: [redirect_uri],
    token_endpoint_auth_method: 'none',
  };

  test('introduces a client, which goes the whole way', async () => {
    documents.set(ID, () => document);
    const code = await flow.code(ID, { redirect_uri });
    const { body } = await flow.exchange(ID, code, { redirect_uri });
    expect(await flow.status(body.access_token)).toBe(200);
    // What was consented to goes on where the document is gone.
    documents.delete(ID);
    expect((await flow.refresh(ID, body.refresh_token)).status).toBe(200);
  });

  test.each(PUBLISHED)('of $document.client_name is taken as it is published', async (published) => {
    const { document, redirect_uri } = published;
    const id = document.client_id;
    documents.set(id, () => document);
    const code = await flow.code(id, { redirect_uri, scope: 'mcp:read offline_access' });
    const { body } = await flow.exchange(id, code, { redirect_uri, resource: RESOURCE });
    expect(await flow.status(body.access_token)).toBe(200);
    expect((await flow.refresh(id, body.refresh_token)).status).toBe(200);
  });

  test('confirms nobody: what is wrong ends on a page of ours', async () => {
    documents.set(ID, () => document);
    const page = await flow.authorize(ID, { redirect_uri, scope: 'mcp:write' });
    expect([page.pathname, page.searchParams.get('error')]).toEqual(['/oauth/refused', 'invalid_scope']);
    const back = await readWayBack(flow.server.runtime, page.searchParams);
    expect(back).toMatchObject({ name: 'Claude', host: 'claude.ai' });
  });

  test('are stored so far as somebody might let them in: twenty of a host', async () => {
    const host = 'https://many.example';
    for (let n = 1; n <= 21; n += 1) {
      const id = `${host}/${n}.json`;
      documents.set(id, () => ({ client_id: id, redirect_uris: [`${host}/callback`] }));
      const page = await flow.authorize(id, { redirect_uri: `${host}/callback` }, false);
      expect(page.pathname).toBe(n <= 20 ? '/sign-in' : '/oauth/refused');
    }
    // They take no place away from clients that register themselves.
    expect((await flow.register({ redirect_uris: ['https://x.example/cb'] })).status).toBe(201);
    const hourLater = new Date(flow.server.runtime.now().getTime() + 3_600_001);
    await clearUnusedClients(flow.server.runtime.db, hourLater);
    const isOne = like(oauthClients.clientId, `${host}/%`);
    expect(await flow.server.runtime.db.$count(oauthClients, isOne)).toBe(0);
  });

  test('that changes its redirects takes the old ones away', async () => {
    const id = 'https://app.example/client.json';
    const [old, other] = ['https://app.example/old', 'https://app.example/new'];
    documents.set(id, () => ({ client_id: id, redirect_uris: [old] }));
    expect((await flow.authorize(id, { redirect_uri: old })).pathname).toBe('/oauth/consent');
    documents.set(id, () => ({ client_id: id, redirect_uris: [other] }));
    const { db } = flow.server.runtime;
    await db
      .update(oauthClients)
      .set({ updatedAt: new Date(0) })
      .where(eq(oauthClients.clientId, id));
    expect((await flow.authorize(id, { redirect_uri: old })).pathname).toBe('/oauth/refused');
    expect((await flow.authorize(id, { redirect_uri: other })).pathname).toBe('/oauth/consent');
  });

  test.each<[string, string, unknown]>([
    ['lies about its id', 'https://app.example/lies.json', { client_id: ID, redirect_uris: [redirect_uri] }],
    [
      'has a secret',
      'https://app.example/secret.json',
      { client_id: 'https://app.example/secret.json', redirect_uris: [redirect_uri], client_secret: 'x' },
    ],
    [
      'can prove itself by a key alone',
      'https://app.example/key.json',
      {
        client_id: 'https://app.example/key.json',
        redirect_uris: [redirect_uri],
        token_endpoint_auth_method: 'private_key_jwt',
      },
    ],
    ['has no redirects', 'https://app.example/none.json', { client_id: 'https://app.example/none.json' }],
    ['is a list', 'https://app.example/list.json', []],
    ['cannot be read', 'https://app.example/gone.json', undefined],
  ])('that %s is refused', async (_, id, given) => {
    if (given !== undefined) documents.set(id, () => given);
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
  ])('%s is no address of one', async (id) => {
    documents.set(id, () => ({ client_id: id, redirect_uris: [redirect_uri] }));
    expect((await flow.authorize(id, { redirect_uri })).pathname).toBe('/oauth/refused');
  });
});
