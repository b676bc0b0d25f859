import { eq } from 'drizzle-orm';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { REFUSAL_TEXTS, refusalText } from '@/app/oauth/refused/refusal-texts';
import { oauthAccessTokens, oauthConsents, oauthRefreshTokens, staffSettings, staffUsers } from '@/db/schema';
import { commandActor } from '@/lib/audit/audit-log';
import { demandTwoFactor } from '@/lib/auth/find-staff';
import { listConnectedApps } from '@/lib/oauth/connected-apps';
import { readWayBack } from '@/lib/oauth/consent-request';
import { addOwnClient } from '@/lib/oauth/own-clients';
import { createCustomer } from '../../support/factories';
import { SECRET } from '../../support/sign-in';
import { ALL_SCOPES, CALLBACK, CHALLENGE, ISSUER, PUBLIC_URL, RESOURCE, useFlow } from './flow';

const flow = useFlow();
const REFUSED = '/oauth/refused';
const SITE = 'https://app.example/callback?of=1';
const EVIL = 'https://evil.example/callback';

type Params = Record<string, string | null>;

/** Expects our page that explains why an authorization was refused. */
function expectRefused(page: URL, error: string | null): void {
  expect([page.pathname, page.searchParams.get('error')]).toEqual([REFUSED, error]);
}

describe('OAuth metadata', () => {
  const get = (path: string, method = 'GET') => fetch(flow.server.url + path, { method });

  test('the metadata of the protected resource names the MCP endpoint and the issuer', async () => {
    for (const path of ['', '/mcp']) {
      const read = await get(`/.well-known/oauth-protected-resource${path}`);
      expect(await read.json()).toMatchObject({ resource: RESOURCE, authorization_servers: [ISSUER] });
    }
  });

  test.each(['', '/mcp', '/api/auth'])(
    'the OAuth metadata of the issuer path "%s" names the endpoints below /api/auth',
    async (path) => {
      for (const address of [
        `/.well-known/oauth-authorization-server${path}`,
        `/.well-known/openid-configuration${path}`,
        `${path}/.well-known/openid-configuration`,
        `${path}/.well-known/oauth-authorization-server`,
      ]) {
        const read = (await (await get(address)).json()) as Record<string, unknown>;
        expect(read).toMatchObject({
          issuer: PUBLIC_URL + path,
          authorization_endpoint: `${ISSUER}/oauth2/authorize`,
          token_endpoint: `${ISSUER}/oauth2/token`,
          registration_endpoint: `${ISSUER}/oauth2/register`,
          client_id_metadata_document_supported: true,
          code_challenge_methods_supported: ['S256'],
        });
        // Authorization responses name /api/auth as their issuer, so only the metadata of that path announces `iss`.
        const hasIssuer = path === '/api/auth' || undefined;
        expect(read.authorization_response_iss_parameter_supported).toBe(hasIssuer);
      }
    },
  );

  test.each([
    '/.well-known/webfinger',
    '/.well-known/oauth-authorization-server/other',
    '/.well-known/oauth-authorization-server/',
    '/mcp/.well-known/other',
  ])('the unknown OAuth metadata URL %s is answered with 404 and JSON', async (path) => {
    for (const method of ['GET', 'OPTIONS', 'POST']) {
      const response = await get(path, method);
      expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/json']);
      expect(await response.json()).toMatchObject({ error: 'not_found' });
    }
    const head = await get(path, 'HEAD');
    expect([head.status, await head.text()]).toEqual([404, '']);
  });

  test('pages of any site can read the metadata of the protected resource, but only with GET or HEAD', async () => {
    const path = '/.well-known/oauth-protected-resource';
    expect((await get(path)).headers.get('access-control-allow-origin')).toBe('*');
    expect((await get(path, 'OPTIONS')).status).toBe(204);
    expect((await get(path, 'POST')).status).toBe(405);
    const head = await get(path, 'HEAD');
    expect([head.status, await head.text()]).toEqual([200, '']);
  });
});

const WRONG: [string, Params, string][] = [
  ['without PKCE', { code_challenge: null, code_challenge_method: null }, 'invalid_request'],
  ['with plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
  ['with a code challenge that is not a SHA-256 hash', { code_challenge: 'a' }, 'invalid_request'],
  ['with a padded code challenge', { code_challenge: `${CHALLENGE}=` }, 'invalid_request'],
  ['with response_mode=fragment', { response_mode: 'fragment' }, 'invalid_request'],
  ['with response_mode=form_post', { response_mode: 'form_post' }, 'invalid_request'],
  ['for a resource on another host', { resource: 'https://other.example/mcp' }, 'invalid_target'],
  ['for another resource on our host', { resource: `${PUBLIC_URL}/api` }, 'invalid_target'],
  ['with an unknown scope', { scope: 'mcp:write' }, 'invalid_scope'],
  ['with the scope payments:write', { scope: 'payments:write' }, 'invalid_scope'],
  ['with a request object', { request: 'eyJ' }, 'request_not_supported'],
  ['with a request_uri', { request_uri: 'https://x.example/r' }, 'request_uri_not_supported'],
  ['with prompt=none', { prompt: 'none' }, 'interaction_required'],
];

describe('invalid authorization requests', () => {
  test.each(WRONG)(
    'an authorization request %s is redirected to a loopback client with an error',
    async (_, params, error) => {
      const back = await flow.authorize(await flow.client(), params);
      expect(back.href.split('?')[0]).toBe(CALLBACK);
      expect(Object.fromEntries(back.searchParams)).toMatchObject({ error, iss: ISSUER, state: 'a state' });
    },
  );

  const TOKEN: Params = { response_type: 'token' };
  const atSite: typeof WRONG = [...WRONG, ['with response_type=token', TOKEN, 'unsupported_response_type']];
  test.each(atSite)(
    'an authorization request %s by a client of a website ends on our refusal page',
    async (_, params, error) => {
      const client = await flow.client({ redirect_uris: [SITE] });
      for (const signedIn of [true, false]) {
        const page = await flow.authorize(client, { redirect_uri: SITE, ...params }, signedIn);
        expect(page.origin).toBe(PUBLIC_URL);
        expectRefused(page, error);
        const back = await readWayBack(flow.server.runtime, page.searchParams);
        expect(back).toMatchObject({ name: 'Test client', host: 'app.example' });
        const to = new URL(back?.href ?? '');
        expect(to.href).toMatch(/^https:\/\/app\.example\/callback\?/);
        const told = { of: '1', error, iss: ISSUER, state: 'a state' };
        expect(Object.fromEntries(to.searchParams)).toEqual(told);
      }
    },
  );

  test('an invalid authorization request redirects to an admin-registered client with an error', async () => {
    const typed = { name: 'Copilot Studio', redirects: SITE, hasSecret: false };
    const by = { actor: commandActor('test'), secret: SECRET };
    const { clientId } = await addOwnClient(flow.server.runtime, typed, by);
    for (const [, params, error] of atSite) {
      const back = await flow.authorize(clientId, { redirect_uri: SITE, ...params });
      expect(back.host).toBe('app.example');
      expect(back.search + back.hash).toContain(`error=${error}`);
    }
  });

  test('an invalid authorization request redirects to a private-use URI scheme with an error', async () => {
    const redirect_uri = 'cursor://anysphere.cursor-mcp/oauth/callback';
    const client = await flow.client({ redirect_uris: [redirect_uri] });
    const back = await flow.authorize(client, { redirect_uri, scope: 'mcp:write' });
    expect(back.href).toMatch(/^cursor:.*error=invalid_scope/);
  });

  test('the refusal page links back only to a redirect URL that its client has registered', async () => {
    const client = await flow.client({ redirect_uris: [SITE] });
    for (const named of [
      { client_id: client, redirect_uri: 'https://evil.example/' },
      { client_id: client, redirect_uri: `${SITE}&more=1` },
      { client_id: 'unknown', redirect_uri: SITE },
      { client_id: client },
      { redirect_uri: SITE },
    ]) {
      const query = new URLSearchParams({ error: 'invalid_scope', ...named } as Record<string, string>);
      expect(await readWayBack(flow.server.runtime, query)).toBeNull();
    }
  });

  test.each<[string, Params]>([
    ['to an unregistered website', { redirect_uri: EVIL }],
    ['to another path on the loopback address', { redirect_uri: 'http://127.0.0.1:4711/other' }],
    ['to another name of the loopback host', { redirect_uri: 'http://localhost:4711/callback' }],
    ['to a path below the registered one', { redirect_uri: `${CALLBACK}/../evil` }],
    ['to a redirect with a fragment', { redirect_uri: `${CALLBACK}#x` }],
    ['to a javascript: address', { redirect_uri: 'javascript:alert(1)' }],
    ['without a redirect address', { redirect_uri: null }],
    ['of an unknown client', { client_id: 'unknown' }],
    ['without a client', { client_id: null }],
    ['with the response type token', TOKEN],
    ...['request', 'request_uri', 'response_type', 'code_challenge_method', 'response_mode'].map(
      (name): [string, Params] => [
        `to an unregistered website with an invalid ${name}`,
        { redirect_uri: EVIL, [name]: 'wrong' },
      ],
    ),
    ['without a client to an unregistered website', { client_id: null, redirect_uri: EVIL }],
  ])('an authorization request %s does not redirect to an unregistered URL', async (_, params) => {
    const back = await flow.authorize(await flow.client(), params);
    const isOwn = back.origin === PUBLIC_URL && back.pathname === REFUSED;
    const isError = back.href.startsWith(CALLBACK) && /[?#]error=/.test(back.href);
    expect(isOwn || isError).toBe(true);
    expect(back.searchParams.get('code')).toBeNull();
  });

  test.each(['client_id', 'redirect_uri', 'state', 'resource', 'scope', 'code_challenge'])(
    'an authorization request with a NUL character in %s is refused',
    async (name) => {
      expectRefused(await flow.authorize(await flow.client(), { [name]: 'a\0b' }), 'invalid_request');
    },
  );

  test.each(['client_id=other', 'client_id=', 'prompt=&prompt='])(
    'an authorization request with the repeated parameter %s is refused',
    async (repeated) => {
      const query = `client_id=${await flow.client()}&response_type=code&${repeated}`;
      const address = `${flow.server.url}/api/auth/oauth2/authorize?${query}`;
      const page = await fetch(address, { redirect: 'manual' });
      expect(page.headers.get('location')).toBe(`${REFUSED}?error=invalid_request`);
    },
  );

  test.each([CALLBACK, SITE])(
    'an authorization error for the client at %s keeps a state of 5000 characters',
    async (redirect_uri) => {
      const client = await flow.client({ redirect_uris: [redirect_uri] });
      const params = { redirect_uri, state: 's'.repeat(5000), prompt: 'none' };
      const to = await flow.authorize(client, params);
      const way = await readWayBack(flow.server.runtime, to.searchParams);
      const back = redirect_uri === SITE ? new URL(way?.href ?? '') : to;
      const told = { error: 'interaction_required', state: params.state };
      expect(Object.fromEntries(back.searchParams)).toMatchObject(told);
    },
  );

  test('an authorization error for a request with an empty state contains no state', async () => {
    const back = await flow.authorize(await flow.client(), { prompt: 'none', state: '' });
    expect(back.searchParams.get('error')).toBe('interaction_required');
    expect(back.searchParams.has('state')).toBe(false);
  });
});

test.each([...Object.keys(REFUSAL_TEXTS), 'another_error'])(
  'the refusal page for the OAuth error %s says what to do',
  (error) => {
    expect(refusalText(error)).toMatch(/\. (In the app, |Start |Ask |Wait |Update the app|Try again)/);
  },
);

describe('valid authorization requests', () => {
  test('an authorization request without a session redirects to the sign-in page', async () => {
    const to = await flow.authorize(await flow.client(), {}, false);
    expect(to.pathname).toBe('/sign-in');
    expect(to.searchParams.get('next')).toMatch(/^\/api\/auth\/oauth2\/authorize\?/);
  });

  test.each(['request', 'request_uri', 'response_mode', 'resource'])(
    'an authorization request with an empty %s is handled as if it were omitted',
    async (name) => {
      for (const signedIn of [true, false]) {
        const to = await flow.authorize(await flow.client(), { [name]: '' }, signedIn);
        expect(to.pathname).toBe(signedIn ? '/oauth/consent' : '/sign-in');
      }
    },
  );

  test('every authorization request asks for consent again', async () => {
    const client = await flow.client();
    await flow.connect(client);
    for (const params of [{}, { prompt: 'login' }]) {
      expect((await flow.authorize(client, params)).pathname).toBe('/oauth/consent');
    }
  });

  test.each([`${RESOURCE}/`, PUBLIC_URL, `${PUBLIC_URL}/`])(
    'a token for the resource %s is accepted by the MCP endpoint',
    async (resource) => {
      const client = await flow.client();
      const { body } = await flow.exchange(client, await flow.code(client, { resource }), { resource });
      expect(await flow.status(body.access_token)).toBe(200);
    },
  );

  test('a loopback client can use a redirect URL with any port', async () => {
    const client = await flow.client({ application_type: 'web' });
    const redirect_uri = 'http://127.0.0.1:59999/callback';
    const code = await flow.code(client, { redirect_uri });
    expect((await flow.exchange(client, code, { redirect_uri })).status).toBe(200);
  });
});

describe('consent', () => {
  test('consent cannot grant a scope that the client did not request, even if the URL of its page is modified', async () => {
    const page = await flow.authorize(await flow.client(), { scope: 'customers:read' });
    expect((await flow.consent(page, ['customers:read', 'billing:read'])).pathname).toBe(REFUSED);
    page.searchParams.set('scope', 'customers:read billing:read offline_access');
    expect((await flow.consent(page, ['billing:read'])).pathname).toBe(REFUSED);
  });

  test.each([
    ['allowed cannot be allowed again', ALL_SCOPES, ALL_SCOPES],
    ['denied cannot be allowed afterwards', [], ALL_SCOPES],
    ['allowed cannot be denied afterwards', ALL_SCOPES, []],
  ] as const)('a consent request that was %s', async (_, first, second) => {
    const page = await flow.authorize(await flow.client());
    expect((await flow.consent(page, [...first])).href).toMatch(/^http:\/\/127\.0\.0\.1:4711/);
    expectRefused(await flow.consent(page, [...second]), 'expired');
  });

  test('a consent page submitted five times at once issues one authorization code', async () => {
    const page = await flow.authorize(await flow.client());
    const sent = await Promise.all(Array.from({ length: 5 }, () => flow.consent(page, ALL_SCOPES)));
    expect(sent.filter(({ searchParams }) => searchParams.has('code'))).toHaveLength(1);
  });

  test.each([CALLBACK, SITE])(
    'denying consent redirects to the client at %s with access_denied',
    async (redirect_uri) => {
      const client = await flow.client({ redirect_uris: [redirect_uri] });
      const back = await flow.consent(await flow.authorize(client, { redirect_uri }), []);
      expect(back.host).toBe(new URL(redirect_uri).host);
      expect(Object.fromEntries(back.searchParams)).toMatchObject({ error: 'access_denied', iss: ISSUER });
    },
  );

  test('a token and its refreshed tokens are limited to the scopes to which the person consented', async () => {
    const client = await flow.client();
    const tokens = await flow.connect(client, ['servers:read'], true);
    expect(tokens.scope.split(' ').sort()).toEqual(['offline_access', 'servers:read']);
    const refresh = (scope: string) => flow.refresh(client, tokens.refresh_token, { scope });
    expect(await refresh('mcp:read')).toMatchObject({ status: 400, body: { error: 'invalid_scope' } });
    expect((await refresh('servers:read')).status).toBe(200);
    const called = await flow.call(tokens.access_token, 'tools/call', { name: 'find-customer-tool' });
    const challenge = 'error="insufficient_scope", scope="servers:read customers:read"';
    expect([called.status, called.headers.get('www-authenticate')]).toEqual([
      ...[403, expect.stringContaining(challenge)],
    ]);
  });
});

describe('hiding personal data', () => {
  const OLD_SCOPE = 'without_personal_data';
  /** Returns the customer's name as a caller with this token sees it. */
  const nameFor = async (token: string) => {
    const params = { name: 'get-customer-tool', arguments: { customer_number: 'K-HIDE' } };
    const { result } = (await (await flow.call(token, 'tools/call', params)).json()) as {
      result: { structuredContent: { name: string } };
    };
    return result.structuredContent.name;
  };
  beforeAll(async () => {
    await createCustomer(flow.server.runtime.db, { customer_number: 'K-HIDE', company: 'Müller GmbH' });
  });

  test('a client receives customer names even if it requests the former masking scope', async () => {
    const read = await fetch(`${flow.server.url}/.well-known/oauth-protected-resource/mcp`);
    const { scopes_supported } = (await read.json()) as { scopes_supported: string[] };
    for (const asked of [scopes_supported, [...scopes_supported, OLD_SCOPE], [OLD_SCOPE]]) {
      const client = await flow.client();
      const { body } = await flow.exchange(client, await flow.code(client, { scope: asked.join(' ') }));
      expect(body.scope).not.toContain(OLD_SCOPE);
      expect(await nameFor(body.access_token)).toBe('Müller GmbH');
    }
  });

  test('no OAuth metadata, challenge or registration response names a scope that hides personal data', async () => {
    const { call, client, connect, register, server } = flow;
    const narrow = await connect(await client(), ['servers:read'], true);
    const refused = await call(narrow.access_token, 'tools/call', { name: 'find-customer-tool' });
    const answers = [await call(null), refused, await register({ redirect_uris: [SITE] })];
    for (const path of ['oauth-protected-resource', 'oauth-authorization-server']) {
      answers.push(await fetch(`${server.url}/.well-known/${path}`));
    }
    for (const answer of answers) {
      const all = JSON.stringify([...answer.headers]) + (await answer.text());
      expect(all).not.toContain('personal');
    }
  });

  test('hiding personal data on one device does not affect another device', async () => {
    const client = await flow.client();
    const hidden = await flow.connect(client, ALL_SCOPES, true);
    const open = await flow.connect(client);
    const refreshed = await flow.refresh(client, hidden.refresh_token, { scope: 'customers:read' });
    for (const token of [hidden.access_token, refreshed.body.access_token]) {
      expect(await nameFor(token)).toBe('[masked]');
    }
    expect(await nameFor(open.access_token)).toBe('Müller GmbH');
    const apps = await listConnectedApps(flow.server.runtime.db, flow.userId());
    const own = apps.filter(({ clientId }) => clientId === client);
    expect(own.map(({ hidesPersonalData }) => hidesPersonalData).sort()).toEqual([false, true]);
  });

  test('an OAuth grant with the former masking scope still hides personal data', async () => {
    const { db } = flow.server.runtime;
    const client = await flow.client();
    const tokens = await flow.connect(client);
    // Rewrite the rows as the previous version of the app stored them.
    const scopes = ['customers:read', OLD_SCOPE, 'offline_access'];
    for (const table of [oauthAccessTokens, oauthRefreshTokens, oauthConsents]) {
      await db.update(table).set({ scopes, referenceId: null }).where(eq(table.clientId, client));
    }
    const refreshed = await flow.refresh(client, tokens.refresh_token);
    const narrower = await flow.refresh(client, refreshed.body.refresh_token, { scope: 'customers:read' });
    for (const token of [tokens, refreshed.body, narrower.body]) {
      expect(await nameFor(token.access_token)).toBe('[masked]');
    }
    const app = (await listConnectedApps(db, null)).find(({ clientId }) => clientId === client);
    expect(app?.hidesPersonalData).toBe(true);
  });
});

describe('staff who still have to secure their account', () => {
  const owe = {
    'a password of their own': (is: boolean) =>
      flow.server.runtime.db.update(staffUsers).set({ passwordTemporary: is }),
    'a second factor': (is: boolean) => demandTwoFactor(flow.server.runtime.db, is, commandActor('test')),
  };
  afterEach(async () => {
    await owe['a password of their own'](false);
    await flow.server.runtime.db.delete(staffSettings);
  });

  test.each(Object.entries(owe))(
    'a member of staff who still needs %s gets no authorization code',
    async (_, set) => {
      const { db } = flow.server.runtime;
      await db.delete(oauthConsents);
      const client = await flow.client();
      const before = await flow.authorize(client);
      await set(true);
      const to = await flow.authorize(client);
      expect(to.pathname).toBe('/sign-in/due');
      const page = new URL(to.searchParams.get('next') ?? '', to);
      expect(page.pathname).toBe('/oauth/consent');
      for (const signed of [before, page]) expectRefused(await flow.consent(signed, ALL_SCOPES), 'expired');
      expect(await listConnectedApps(db, null)).toEqual([]);
      await set(false);
      expect((await flow.consent(page, ALL_SCOPES)).searchParams.get('code')).not.toBeNull();
    },
  );
});
