import { and, eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { oauthAccessTokens, oauthRefreshTokens } from '@/db/schema';
import { commandActor } from '@/lib/audit/record-audit';
import { addStaffUser } from '@/lib/auth/staff/add-staff-user';
import { removeStaffUser } from '@/lib/auth/staff/remove-staff-user';
import { verifyAccessToken } from '@/lib/auth/tokens/access-token';
import { verifyOAuthToken } from '@/lib/oauth/oauth-token';
import { addOwnClient } from '@/lib/oauth/own-clients';
import { readWayBack } from '@/lib/oauth/way-back';
import { SECRET } from '../../support/sign-in';
import { CALLBACK, ISSUER, PUBLIC_URL, RESOURCE, useFlow } from './flow';

const flow = useFlow();
const REFUSED = '/oauth/refused';

describe('an authorization', () => {
  test.each<[string, Record<string, string | null>, string]>([
    ['without PKCE', { code_challenge: null, code_challenge_method: null }, 'invalid_request'],
    ['with plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['for somebody else', { resource: 'https://other.example/mcp' }, 'invalid_target'],
    ['for our other paths', { resource: `${PUBLIC_URL}/api` }, 'invalid_target'],
    ['with a scope there is not', { scope: 'mcp:write' }, 'invalid_scope'],
    ['with the scope of payments', { scope: 'payments:write' }, 'invalid_scope'],
    ['with a request object', { request: 'eyJ' }, 'request_not_supported'],
    ['with a request address', { request_uri: 'https://x.example/r' }, 'request_uri_not_supported'],
    ['without a word to the person', { prompt: 'none' }, 'interaction_required'],
  ])('%s comes back as an error', async (_, params, error) => {
    const back = await flow.authorize(await flow.client(), params);
    expect(back.href.split('?')[0]).toBe(CALLBACK);
    expect(Object.fromEntries(back.searchParams)).toMatchObject({ error, iss: ISSUER, state: 'a state' });
  });

  test.each<[string, Record<string, string | null>]>([
    ['to a foreign redirect', { redirect_uri: 'https://evil.example/callback' }],
    ['to another path of the loopback', { redirect_uri: 'http://127.0.0.1:4711/other' }],
    ['to another host of the loopback', { redirect_uri: 'http://localhost:4711/callback' }],
    ['to a longer path', { redirect_uri: `${CALLBACK}/../evil` }],
    ['to one with a fragment', { redirect_uri: `${CALLBACK}#x` }],
    ['to a script', { redirect_uri: 'javascript:alert(1)' }],
    ['without a redirect', { redirect_uri: null }],
    ['of an unknown client', { client_id: 'nobody' }],
    ['without a client', { client_id: null }],
    ['with another response type', { response_type: 'token' }],
    ...['request', 'request_uri', 'response_type', 'code_challenge_method', 'response_mode'].map(
      (name): [string, Record<string, string | null>] => [
        `to a foreign redirect with a wrong ${name}`,
        { redirect_uri: 'https://evil.example/callback', [name]: 'wrong' },
      ],
    ),
    ['of nobody, to a foreign redirect', { client_id: null, redirect_uri: 'https://evil.example/callback' }],
  ])('%s leads nowhere', async (_, params) => {
    const back = await flow.authorize(await flow.client(), params);
    const isOwn = back.origin === PUBLIC_URL && back.pathname === REFUSED;
    const isError = back.href.startsWith(CALLBACK) && /[?#]error=/.test(back.href);
    expect(isOwn || isError).toBe(true);
    expect(back.searchParams.get('code')).toBeNull();
  });

  describe('that is wrong, of a client that answers at a site', () => {
    const redirect_uri = 'https://app.example/callback?of=1';
    const wrong: [string, Record<string, string | null>, string][] = [
      ['without PKCE', { code_challenge: null, code_challenge_method: null }, 'invalid_request'],
      ['for somebody else', { resource: 'https://other.example/mcp' }, 'invalid_target'],
      ['with a scope there is not', { scope: 'mcp:write' }, 'invalid_scope'],
      ['with a request object', { request: 'eyJ' }, 'request_not_supported'],
      ['with an answer in the fragment', { response_type: 'token' }, 'unsupported_response_type'],
      ['without a word to the person', { prompt: 'none' }, 'interaction_required'],
    ];

    test.each(wrong)('%s ends on a page of ours, which offers the way back', async (_, params, error) => {
      const client = await flow.client({ redirect_uris: [redirect_uri] });
      for (const signedIn of [true, false]) {
        const page = await flow.authorize(client, { redirect_uri, ...params }, signedIn);
        expect([page.origin, page.pathname]).toEqual([PUBLIC_URL, REFUSED]);
        expect(page.searchParams.get('error')).toBe(error);
        const back = await readWayBack(flow.server.runtime, page.searchParams);
        expect(back).toMatchObject({ name: 'Test client', host: 'app.example' });
        const to = new URL(back?.href ?? '');
        expect(to.origin + to.pathname).toBe('https://app.example/callback');
        expect(Object.fromEntries(to.searchParams)).toEqual({
          of: '1',
          error,
          iss: ISSUER,
          state: 'a state',
        });
      }
    });

    test('goes back at once where an admin has entered the client', async () => {
      const typed = { name: 'Copilot Studio', redirects: redirect_uri, hasSecret: false };
      const by = { actor: commandActor('test'), secret: SECRET };
      const { clientId } = await addOwnClient(flow.server.runtime, typed, by);
      for (const [, params, error] of wrong) {
        const back = await flow.authorize(clientId, { redirect_uri, ...params });
        expect(back.host).toBe('app.example');
        expect(back.search + back.hash).toContain(`error=${error}`);
      }
    });

    test('goes back at once to an app of a private scheme', async () => {
      const cursor = 'cursor://anysphere.cursor-mcp/oauth/callback';
      const client = await flow.client({ redirect_uris: [cursor] });
      const back = await flow.authorize(client, { redirect_uri: cursor, scope: 'mcp:write' });
      expect(back.href).toMatch(/^cursor:.*error=invalid_scope/);
    });

    test('still tells the client by a click on Deny', async () => {
      const client = await flow.client({ redirect_uris: [redirect_uri] });
      const back = await flow.consent(await flow.authorize(client, { redirect_uri }), []);
      expect([back.host, back.searchParams.get('error')]).toEqual(['app.example', 'access_denied']);
    });

    test('has no way back but to what the client has registered', async () => {
      const client = await flow.client({ redirect_uris: [redirect_uri] });
      for (const named of [
        { client_id: client, redirect_uri: 'https://evil.example/' },
        { client_id: client, redirect_uri: `${redirect_uri}&more=1` },
        { client_id: 'nobody', redirect_uri },
        { client_id: client },
        { redirect_uri },
      ] as Record<string, string>[]) {
        const query = new URLSearchParams({ error: 'invalid_scope', ...named });
        expect(await readWayBack(flow.server.runtime, query)).toBeNull();
      }
    });
  });

  test('with a parameter twice is refused', async () => {
    const client = await flow.client();
    const page = await fetch(
      `${flow.server.url}/api/auth/oauth2/authorize?client_id=${client}&client_id=other&response_type=code`,
      { redirect: 'manual' },
    );
    expect(page.headers.get('location')).toBe(`${REFUSED}?error=invalid_request`);
  });

  test('of nobody leads to the sign-in, and from there back', async () => {
    const to = await flow.authorize(await flow.client(), {}, false);
    expect(to.pathname).toBe('/sign-in');
    expect(to.searchParams.get('next')).toMatch(/^\/api\/auth\/oauth2\/authorize\?/);
  });

  test('asks for consent each time', async () => {
    const client = await flow.client();
    await flow.connect(client);
    expect((await flow.authorize(client)).pathname).toBe('/oauth/consent');
    expect((await flow.authorize(client, { prompt: 'login' })).pathname).toBe('/oauth/consent');
  });

  test.each([`${RESOURCE}/`, PUBLIC_URL, `${PUBLIC_URL}/`])('takes %s for the endpoint', async (resource) => {
    const client = await flow.client();
    const { body } = await flow.exchange(client, await flow.code(client, { resource }), { resource });
    expect(await flow.status(body.access_token)).toBe(200);
  });

  test('takes any port of the loopback', async () => {
    const client = await flow.client({ application_type: 'web' });
    const redirect_uri = 'http://127.0.0.1:59999/callback';
    const code = await flow.code(client, { redirect_uri });
    expect((await flow.exchange(client, code, { redirect_uri })).status).toBe(200);
  });
});

describe('a consent', () => {
  test('that was changed on its way gives nothing', async () => {
    const page = await flow.authorize(await flow.client(), { scope: 'customers:read' });
    page.searchParams.set('scope', 'customers:read billing:read offline_access without_personal_data');
    expect((await flow.consent(page, ['billing:read'])).pathname).toBe(REFUSED);
  });

  test('cannot give more than was asked for', async () => {
    const page = await flow.authorize(await flow.client(), { scope: 'customers:read' });
    expect((await flow.consent(page, ['customers:read', 'billing:read'])).pathname).toBe(REFUSED);
  });

  test('that is refused tells the client', async () => {
    const back = await flow.consent(await flow.authorize(await flow.client()), []);
    expect(Object.fromEntries(back.searchParams)).toMatchObject({ error: 'access_denied', iss: ISSUER });
  });

  test('with fewer scopes gives fewer, and a refresh no more', async () => {
    const client = await flow.client();
    const tokens = await flow.connect(client, ['servers:read'], true);
    expect(tokens.scope.split(' ').sort()).toEqual([
      'offline_access',
      'servers:read',
      'without_personal_data',
    ]);
    const more = await flow.refresh(client, tokens.refresh_token, { scope: 'mcp:read' });
    expect(more).toMatchObject({ status: 400, body: { error: 'invalid_scope' } });
    const again = await flow.refresh(client, tokens.refresh_token, { scope: 'servers:read' });
    expect(again.body.scope).toContain('without_personal_data');
    const called = await flow.call(tokens.access_token, 'tools/call', { name: 'find-customer-tool' });
    expect(called.status).toBe(403);
    expect(called.headers.get('www-authenticate')).toContain(
      'error="insufficient_scope", scope="servers:read customers:read without_personal_data"',
    );
  });
});

describe('a code', () => {
  test('of before a narrower consent gives nothing', async () => {
    const client = await flow.client();
    const before = await flow.code(client);
    const now = await flow.code(client, {}, ['servers:read'], true);
    expect(await flow.exchange(client, before)).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
    const { body } = await flow.exchange(client, now);
    expect(await flow.status(body.access_token)).toBe(200);
  });

  test.each<[string, Record<string, string | null>, string]>([
    [
      'with a wrong verifier',
      { code_verifier: 'another-verifier-with-enough-characters-for-it' },
      'invalid_grant',
    ],
    ['without a verifier', { code_verifier: null }, 'invalid_grant'],
    ['with another redirect', { redirect_uri: 'http://127.0.0.1:1/callback' }, 'invalid_grant'],
    ['for another resource', { resource: 'https://other.example/mcp' }, 'invalid_target'],
    ['of another grant', { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
  ])('%s gives nothing', async (_, form, error) => {
    const client = await flow.client();
    const answer = await flow.exchange(client, await flow.code(client), form);
    expect(answer).toMatchObject({ status: 400, body: { error } });
  });

  test('of another client gives nothing', async () => {
    const code = await flow.code(await flow.client());
    const answer = await flow.exchange(await flow.client(), code);
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  test('used twice ends both tokens', async () => {
    const client = await flow.client();
    const code = await flow.code(client);
    const { body } = await flow.exchange(client, code);
    expect(await flow.status(body.access_token)).toBe(200);
    expect((await flow.exchange(client, code)).body.error).toBe('invalid_grant');
    expect(await flow.status(body.access_token)).toBe(401);
    expect((await flow.refresh(client, body.refresh_token)).body.error).toBe('invalid_grant');
  });

  test('used many times at once leaves no token', async () => {
    const client = await flow.client();
    const code = await flow.code(client);
    const answers = await Promise.all(Array.from({ length: 5 }, () => flow.exchange(client, code)));
    const given = answers.flatMap(({ body }) => body.access_token ?? []);
    const states = await Promise.all(given.map((one) => flow.status(one)));
    expect(states.every((status) => status === 401)).toBe(true);
  });
});

describe('a refresh token', () => {
  test('is answered again for a moment, then ends everything', async () => {
    const client = await flow.client();
    const first = await flow.connect(client);
    const second = await flow.refresh(client, first.refresh_token);
    const retried = await flow.refresh(client, first.refresh_token);
    expect(retried.body.refresh_token).toBe(second.body.refresh_token);

    const { db } = flow.server.runtime;
    await db
      .update(oauthRefreshTokens)
      .set({ rotationReplayExpiresAt: new Date(0) })
      .where(and(eq(oauthRefreshTokens.clientId, client)));
    expect((await flow.refresh(client, first.refresh_token)).body.error).toBe('invalid_grant');
    expect(await flow.status(second.body.access_token)).toBe(401);
    expect((await flow.refresh(client, second.body.refresh_token)).body.error).toBe('invalid_grant');
  });

  test('that is over, of another client, or for another resource gives nothing', async () => {
    const client = await flow.client();
    const { refresh_token } = await flow.connect(client);
    expect((await flow.refresh(await flow.client(), refresh_token)).body.error).toBe('invalid_grant');
    const resource = 'https://other.example/mcp';
    expect((await flow.refresh(client, refresh_token, { resource })).body.error).toBe('invalid_target');
    await flow.server.runtime.db
      .update(oauthRefreshTokens)
      .set({ expiresAt: new Date(0) })
      .where(eq(oauthRefreshTokens.clientId, client));
    expect((await flow.refresh(client, refresh_token)).body.error).toBe('invalid_grant');
  });

  test('keeps the first resource', async () => {
    const client = await flow.client();
    const { refresh_token } = await flow.connect(client);
    const { body } = await flow.refresh(client, refresh_token);
    expect(await flow.status(body.access_token)).toBe(200);
  });
});

describe('an access token', () => {
  test('is nothing else that was given, and nothing at another door', async () => {
    const client = await flow.client();
    const code = await flow.code(client);
    expect(await flow.status(code)).toBe(401);
    const { access_token, refresh_token } = await flow.connect(client);
    const [, session = ''] = /session_token=([^;.]+)/.exec(decodeURIComponent(flow.cookie())) ?? [];
    expect(session).not.toBe('');
    for (const text of [refresh_token, session, `${access_token}x`, access_token.slice(4)]) {
      expect(await flow.status(text)).toBe(401);
    }
    const { db } = flow.server.runtime;
    expect(await verifyAccessToken(db, access_token, new Date())).toBeNull(); // as payments ask
    expect((await flow.refresh(client, access_token)).body.error).toBe('invalid_grant');
    const less = await flow.code(client, {}, ['servers:read'], true);
    const more = await flow.exchange(client, less, { refresh_token, scope: 'mcp:read' });
    expect(more.body.scope).toBe('servers:read without_personal_data offline_access');
  });

  test('of a client with a secret needs the proof too', async () => {
    const made = await flow.register({
      redirect_uris: [CALLBACK],
      token_endpoint_auth_method: 'client_secret_post',
    });
    const { client_id, client_secret } = (await made.json()) as { client_id: string; client_secret: string };
    const none = { code_challenge: null, code_challenge_method: null };
    const back = await flow.authorize(client_id, { ...none, scope: 'servers:read' });
    expect(back.searchParams.get('error')).toBe('invalid_request');
    const code = await flow.code(client_id);
    const bare = await flow.exchange(client_id, code, { client_secret, code_verifier: null });
    expect(bare).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });

  test('ends with its time, its revocation, and for another resource it is none', async () => {
    const { db } = flow.server.runtime;
    const client = await flow.client();
    const { access_token, refresh_token } = await flow.connect(client);
    const elsewhere = { resource: 'https://other.example/mcp', now: new Date() };
    expect(await verifyOAuthToken(db, access_token, elsewhere)).toBeNull();
    const revoked = await flow.post('revoke', { client_id: client, token: access_token });
    expect(revoked.status).toBe(200);
    expect(await flow.status(access_token)).toBe(401);

    const again = await flow.refresh(client, refresh_token);
    await db
      .update(oauthAccessTokens)
      .set({ expiresAt: new Date(0) })
      .where(eq(oauthAccessTokens.clientId, client));
    expect(await flow.status(again.body.access_token)).toBe(401);
  });

  test('ends with its refresh token', async () => {
    const client = await flow.client();
    const { access_token, refresh_token } = await flow.connect(client);
    expect((await flow.post('revoke', { client_id: client, token: refresh_token })).status).toBe(200);
    expect(await flow.status(access_token)).toBe(401);
    expect((await flow.post('revoke', { client_id: client, token: 'unknown' })).status).toBe(200);
  });

  test('ends when its member of staff is removed', async () => {
    const client = await flow.client();
    const { access_token, refresh_token } = await flow.connect(client);
    await addStaffUser(flow.server.runtime, { email: 'b@example.com', role: 'admin' }, commandActor('test'));
    await removeStaffUser(flow.server.runtime, { email: 'ada@example.com' }, commandActor('test'));
    expect(await flow.status(access_token)).toBe(401);
    expect((await flow.refresh(client, refresh_token)).status).toBe(400);
  });
});
