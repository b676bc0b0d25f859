import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { oauthAccessTokens, oauthClients, oauthConsents, oauthRefreshTokens } from '@/db/schema';
import { auditNumber, commandActor, listAudit } from '@/lib/audit/audit-log';
import { disconnectApp, listConnectedApps } from '@/lib/oauth/connected-apps';
import { findRefreshToken, hashOAuthToken, verifyOAuthToken } from '@/lib/oauth/grant';
import { clearOver } from '@/lib/oauth/register-client';
import { changeOwnPassword, setStaffPassword } from '@/lib/staff/credentials';
import { addStaffUser, changeStaffRole, removeStaffUser } from '@/lib/staff/manage-staff';
import { verifyAccessToken } from '@/lib/tokens/access-token';
import { ADA, ALL_SCOPES, CALLBACK, ISSUER, type Tokens, useFlow, VERIFIER } from './flow';

const flow = useFlow();
const CLI = commandActor('test');
const ELSEWHERE = 'https://other.example/mcp';

const refusal = (error: string) => ({ status: 400, body: { error } });
/** Connects a new client. @returns its id and tokens */
const connected = async () => {
  const client = await flow.client();
  return { client, ...(await flow.connect(client)) };
};
async function expectEnded({ client, access_token, refresh_token }: Awaited<ReturnType<typeof connected>>) {
  expect(await flow.status(access_token)).toBe(401);
  expect(await flow.refresh(client, refresh_token)).toMatchObject(refusal('invalid_grant'));
}

test('an OAuth client gets and refreshes tokens until it is disconnected', async () => {
  const { db } = flow.server.runtime;
  const client = await flow.client();
  const page = await flow.authorize(client);
  expect(page.pathname).toBe('/oauth/consent');
  const back = await flow.consent(page, ALL_SCOPES);
  expect(back.href.split('?')[0]).toBe(CALLBACK);
  expect(Object.fromEntries(back.searchParams)).toMatchObject({ state: 'a state', iss: ISSUER });

  const first = await flow.exchange(client, back.searchParams.get('code') ?? '');
  expect(first).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 3600 } });
  expect(await flow.status(first.body.access_token)).toBe(200);

  const second = await flow.refresh(client, first.body.refresh_token);
  expect(second.status).toBe(200);
  expect(await flow.status(second.body.access_token)).toBe(200);

  const [app] = await listConnectedApps(db, flow.userId());
  expect(app).toMatchObject({ clientId: client, name: 'Test client' });
  await disconnectApp(db, app?.id ?? '', { of: flow.userId(), actor: CLI });
  await expectEnded({ client, ...second.body });
});

test.each<[string, Record<string, string | null>, Record<string, string>, number]>([
  ['the client id', { client_id: 'a\0b' }, {}, 400],
  ['the authorization code', { code: 'a\0b' }, {}, 400],
  ['the client secret', { client_secret: 'a\0b' }, {}, 400],
  ['a percent-encoded Basic header', { client_id: null }, { authorization: `Basic ${btoa('a%00b:c')}` }, 401],
  ['a Basic header', { client_id: null }, { authorization: `Basic ${btoa('a\0b:c')}` }, 401],
])(
  'a NUL character in %s of a token or revocation request is answered as a client error',
  async (_, form, headers, status) => {
    const asked = { grant_type: 'authorization_code', client_id: 'x', code: 'y', redirect_uri: CALLBACK };
    expect((await flow.token({ ...asked, ...form }, headers)).status).toBe(status);
    expect((await flow.post('revoke', { token: 't', ...form }, headers)).status).toBe(status);
  },
);

describe('authorization codes', () => {
  test.each<[string, Record<string, string | null>, string]>([
    ['a wrong verifier', { code_verifier: `${VERIFIER}-of-another` }, 'invalid_grant'],
    ['no verifier', { code_verifier: null }, 'invalid_grant'],
    ['another redirect address', { redirect_uri: 'http://127.0.0.1:1/callback' }, 'invalid_grant'],
    ['another resource', { resource: ELSEWHERE }, 'invalid_target'],
    ['another grant type', { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
    ['an empty grant type', { grant_type: '' }, 'invalid_request'],
  ])('an authorization code exchanged with %s yields no tokens', async (_, form, error) => {
    const client = await flow.client();
    expect(await flow.exchange(client, await flow.code(client), form)).toMatchObject(refusal(error));
  });

  test('an authorization code of another client yields no tokens', async () => {
    const code = await flow.code(await flow.client());
    expect(await flow.exchange(await flow.client(), code)).toMatchObject(refusal('invalid_grant'));
  });

  test('an authorization code exchanged five times at once leaves no valid token', async () => {
    const client = await flow.client();
    const code = await flow.code(client);
    const answers = await Promise.all(Array.from({ length: 5 }, () => flow.exchange(client, code)));
    const given = answers.flatMap(({ body }) => body.access_token ?? []);
    const states = await Promise.all(given.map((one) => flow.status(one)));
    expect(states.every((status) => status === 401)).toBe(true);
  });
});

describe('refresh tokens', () => {
  /** Ends the grace period in which the client may use a rotated refresh token again. */
  const endGrace = (client: string) =>
    flow.server.runtime.db
      .update(oauthRefreshTokens)
      .set({ rotationReplayExpiresAt: new Date(0) })
      .where(eq(oauthRefreshTokens.clientId, client));
  /** Rotates a refresh token and uses it again after the grace period. @returns the newer tokens */
  async function reuseStale(client: string, token: string, meanwhile = async () => {}): Promise<Tokens> {
    const rotated = await flow.refresh(client, token);
    expect(await flow.status(rotated.body.access_token)).toBe(200);
    await meanwhile();
    await endGrace(client);
    expect(await flow.refresh(client, token)).toMatchObject(refusal('invalid_grant'));
    return rotated.body;
  }

  test('reusing a refresh token more than ten minutes after its rotation ends the grant', async () => {
    const { db } = flow.server.runtime;
    const { client, refresh_token } = await connected();
    const stateIn = async (minutes: number) => {
      const deps = { db, now: () => new Date(Date.now() + minutes * 60_000) };
      return (await findRefreshToken(deps, client, refresh_token))?.state;
    };
    const newer = await reuseStale(client, refresh_token, async () => {
      expect([await stateIn(9), await stateIn(10.1)]).toEqual(['rotated', 'stale']);
    });
    await expectEnded({ client, ...newer });
    const apps = await listConnectedApps(db, flow.userId());
    expect(apps.map(({ clientId }) => clientId)).not.toContain(client);
  });

  test('a refresh token that is used five times at once, and then again, yields the same new tokens each time', async () => {
    const { client, refresh_token } = await connected();
    const use = () => flow.refresh(client, refresh_token, { scope: 'mcp:read' });
    const [first, ...others] = await Promise.all([use(), use(), use(), use(), use()]);
    const { access_token, refresh_token: next } = first.body;
    for (const answer of [...others, await use()]) {
      expect(answer).toMatchObject({ status: 200, body: { access_token, refresh_token: next } });
    }
    expect(await flow.status(access_token)).toBe(200);
    expect((await flow.refresh(client, next)).status).toBe(200);
  });

  describe('two devices of one client', () => {
    const devices = async () => {
      const client = await flow.client();
      return { client, one: await flow.connect(client), two: await flow.connect(client) };
    };
    const expectConnected = async (client: string, { access_token, refresh_token }: Tokens) => {
      expect(await flow.status(access_token)).toBe(200);
      const again = await flow.refresh(client, refresh_token);
      expect(again.status).toBe(200);
      expect(await flow.status(again.body.access_token)).toBe(200);
    };
    const revoke = (client: string, token: string, form = {}) =>
      flow.post('revoke', { client_id: client, token, ...form });

    /** Gives the grants of a client the form that they had before each grant had its own reference. */
    async function dropReferences(client: string): Promise<void> {
      for (const table of [oauthAccessTokens, oauthRefreshTokens, oauthConsents]) {
        await flow.server.runtime.db
          .update(table)
          .set({ referenceId: null })
          .where(eq(table.clientId, client));
      }
    }
    const revokeWith =
      (form = {}) =>
      async (client: string, one: Tokens) => {
        expect((await revoke(client, one.refresh_token, form)).status).toBe(200);
        return one;
      };
    /** Ways to end the grant of one device. Each returns the device's latest tokens. */
    const WAYS: Record<string, (client: string, one: Tokens) => Promise<Tokens>> = {
      'reusing a stale refresh token': (client, { refresh_token }) => reuseStale(client, refresh_token),
      'reusing a stale refresh token without a consent reference': (client, { refresh_token }) =>
        reuseStale(client, refresh_token, () => dropReferences(client)),
      'reusing an authorization code': async (client) => {
        const code = await flow.code(client);
        const { body } = await flow.exchange(client, code);
        expect(await flow.exchange(client, code)).toMatchObject(refusal('invalid_grant'));
        return body;
      },
      'revoking the refresh token': revokeWith(),
      'revoking the refresh token with its hint': revokeWith({ token_type_hint: 'refresh_token' }),
      'revoking the refresh token with a wrong hint': revokeWith({ token_type_hint: 'access_token' }),
      'revoking a rotated refresh token several times': async (client, { refresh_token }) => {
        const rotated = await flow.refresh(client, refresh_token);
        const tokens = [refresh_token, refresh_token, `Bearer ${refresh_token}`];
        await Promise.all(tokens.map((token) => revoke(client, token)));
        expect((await revoke(client, refresh_token)).status).toBe(200);
        return rotated.body;
      },
    };

    test.each(Object.entries(WAYS))(
      '%s ends the tokens of its device with one audit entry, and leaves the second device connected',
      async (way, end) => {
        const { client, one, two } = await devices();
        await expectEnded({ client, ...(await end(client, one)) });
        await expectConnected(client, two);
        const entries = await listAudit(flow.server.runtime.db, 'oauth_client', auditNumber(client));
        const ended = entries.filter(({ action }) => action === 'oauth_client.disconnect');
        const reason = way.startsWith('reusing') ? 'reused' : 'revoked';
        expect(ended).toMatchObject([
          { actor_name: ADA.email, before: { client_id: client }, after: { reason } },
        ]);
      },
    );

    test('consent to other scopes on one device changes neither the codes nor the tokens of other devices', async () => {
      const client = await flow.client();
      const [wide, code] = [await flow.connect(client), await flow.code(client)];
      const narrow = await flow.connect(client, ['servers:read'], true);
      const later = (await flow.exchange(client, code)).body;
      for (const device of [wide, later]) await expectConnected(client, device);
      const steppedUp = await flow.connect(client, ['servers:read', 'customers:read']);
      for (const device of [narrow, steppedUp]) await expectConnected(client, device);
    });

    test('disconnecting one device of a client leaves the second device connected', async () => {
      const { db } = flow.server.runtime;
      const { client, one, two } = await devices();
      const apps = (await listConnectedApps(db, flow.userId())).filter(({ clientId }) => clientId === client);
      expect(apps).toHaveLength(2);
      await disconnectApp(db, apps[0]?.id ?? '', { of: flow.userId(), actor: CLI });
      const states = await Promise.all([one, two].map(({ access_token }) => flow.status(access_token)));
      expect(states.sort()).toEqual([200, 401]);
    });

    test('disconnecting a grant without a consent reference keeps the code of a newer grant of its client', async () => {
      const { db } = flow.server.runtime;
      const { client, access_token } = await connected();
      await dropReferences(client);
      const apps = await listConnectedApps(db, flow.userId());
      const old = apps.find(({ clientId }) => clientId === client);
      const code = await flow.code(client);
      await disconnectApp(db, old?.id ?? '', { of: flow.userId(), actor: CLI });
      expect(await flow.status(access_token)).toBe(401);
      await expectConnected(client, (await flow.exchange(client, code)).body);
    });
  });

  test('a stale refresh token sent without the client secret revokes no tokens', async () => {
    const { id, secret: client_secret } = await flow.secretClient();
    const { body } = await flow.exchange(id, await flow.code(id), { client_secret });
    const rotated = await flow.refresh(id, body.refresh_token, { client_secret });
    await endGrace(id);
    const refused = { status: 401, body: { error: 'invalid_client' } };
    expect(await flow.refresh(id, body.refresh_token)).toMatchObject(refused);
    const revoked = await flow.post('revoke', { client_id: id, token: body.refresh_token });
    expect(revoked.status).toBe(401);
    expect(await flow.status(rotated.body.access_token)).toBe(200);
  });

  test('an OAuth consent is deleted once its tokens have expired', async () => {
    const { db, now } = flow.server.runtime;
    const { client } = await connected();
    const count = () => db.$count(oauthConsents, eq(oauthConsents.clientId, client));
    const inDays = (days: number) => new Date(Math.max(now().getTime(), Date.now()) + days * 86_400_000);
    await clearOver(db, inDays(29));
    expect(await count()).toBe(1);
    await clearOver(db, inDays(31));
    expect(await count()).toBe(0);
    // The client was authorized once, so it stays registered.
    expect(await db.$count(oauthClients, eq(oauthClients.clientId, client))).toBe(1);
    expect((await flow.authorize(client)).pathname).toBe('/oauth/consent');
  });

  test('a refresh for fewer scopes narrows the access token, and leaves the refresh token its scopes', async () => {
    const client = await flow.client();
    const granted = await flow.connect(client, ['customers:read', 'servers:read']);
    const narrow = () => flow.refresh(client, granted.refresh_token, { scope: 'servers:read' });
    const { body } = await narrow();
    expect(body.scope).toBe('servers:read offline_access');
    const { db } = flow.server.runtime;
    const isNew = eq(oauthRefreshTokens.token, hashOAuthToken(body.refresh_token));
    const stored = async () => (await db.select().from(oauthRefreshTokens).where(isNew))[0]?.scopes.join(' ');
    expect(await stored()).toBe(granted.scope);
    // The process may end before the new refresh token has its scopes. The client then repeats its request.
    await db
      .update(oauthRefreshTokens)
      .set({ scopes: body.scope.split(' ') })
      .where(isNew);
    expect((await narrow()).body.refresh_token).toBe(body.refresh_token);
    expect((await flow.refresh(client, body.refresh_token)).body.scope).toBe(granted.scope);
  });

  test.each(['offline_access', 'openid profile', ' '])(
    'a refresh with the scope "%s", which names no read scope, keeps the scopes of a narrow grant',
    async (scope) => {
      const client = await flow.client();
      const granted = await flow.connect(client, ['servers:read']);
      const { body } = await flow.refresh(client, granted.refresh_token, { scope });
      expect(body.scope).toBe(granted.scope);
    },
  );

  test('a refresh token of another client, for another resource or that is expired yields no tokens', async () => {
    const { client, refresh_token } = await connected();
    expect(await flow.refresh(await flow.client(), refresh_token)).toMatchObject(refusal('invalid_grant'));
    const elsewhere = await flow.refresh(client, refresh_token, { resource: ELSEWHERE });
    expect(elsewhere).toMatchObject(refusal('invalid_target'));
    await flow.server.runtime.db
      .update(oauthRefreshTokens)
      .set({ expiresAt: new Date(0) })
      .where(eq(oauthRefreshTokens.clientId, client));
    expect(await flow.refresh(client, refresh_token)).toMatchObject(refusal('invalid_grant'));
  });

  test('a refresh token whose consent was deleted yields no tokens', async () => {
    const { db } = flow.server.runtime;
    const { client, access_token, refresh_token } = await connected();
    await db.delete(oauthConsents); // This is like a disconnect that runs before the new tokens are stored.
    expect(await flow.refresh(client, refresh_token)).toMatchObject(refusal('invalid_grant'));
    expect(await flow.status(access_token)).toBe(401);
    expect(await db.$count(oauthRefreshTokens, eq(oauthRefreshTokens.clientId, client))).toBe(0);
  });
});

describe('access tokens', () => {
  test('an authorization code, session token, access token or refresh token works only for its own purpose', async () => {
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
    // The payments API verifies tokens with this function, and must not accept an OAuth token.
    expect(await verifyAccessToken(db, access_token, new Date())).toBeNull();
    const elsewhere = { resource: ELSEWHERE, now: new Date() };
    expect(await verifyOAuthToken(db, access_token, elsewhere)).toBeNull();
    expect(await flow.refresh(client, access_token)).toMatchObject(refusal('invalid_grant'));
    const less = await flow.code(client, {}, ['servers:read'], true);
    const more = await flow.exchange(client, less, { refresh_token, scope: 'mcp:read' });
    expect(more.body.scope).toBe('servers:read offline_access');
  });

  test('an OAuth client with a secret must also use PKCE', async () => {
    const { id, secret: client_secret } = await flow.secretClient();
    const none = { code_challenge: null, code_challenge_method: null };
    const back = await flow.authorize(id, { ...none, scope: 'servers:read' });
    expect(back.searchParams.get('error')).toBe('invalid_request');
    const bare = await flow.exchange(id, await flow.code(id), { client_secret, code_verifier: null });
    expect(bare).toMatchObject(refusal('invalid_request'));
  });

  test('an OAuth access token is refused after it expires', async () => {
    const { client, access_token } = await connected();
    await flow.server.runtime.db
      .update(oauthAccessTokens)
      .set({ expiresAt: new Date(0) })
      .where(eq(oauthAccessTokens.clientId, client));
    expect(await flow.status(access_token)).toBe(401);
  });

  test.each([null, 'access_token', 'refresh_token', 'other'])(
    'an OAuth access token is refused after it is revoked with the type hint %s',
    async (token_type_hint) => {
      const { client, access_token } = await connected();
      for (const token of [access_token, 'unknown']) {
        const form = { client_id: client, token, token_type_hint };
        expect((await flow.post('revoke', form)).status).toBe(200);
      }
      expect(await flow.status(access_token)).toBe(401);
    },
  );
});

describe('parameters without a value', () => {
  test('empty parameters of a token or revocation request count as omitted', async () => {
    const { id, secret } = await flow.secretClient(CALLBACK, 'client_secret_basic');
    const basic = { authorization: `Basic ${btoa(`${id}:${secret}`)}` };
    const empty = { client_id: '', client_secret: '', scope: '', resource: '' };
    const code = await flow.code(id);
    const asked = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: VERIFIER };
    const { status, body } = await flow.token({ ...asked, ...empty }, basic);
    expect(status).toBe(200);
    const again = { grant_type: 'refresh_token', refresh_token: body.refresh_token };
    expect((await flow.token({ ...again, ...empty }, basic)).status).toBe(200);
    expect((await flow.post('revoke', { token: '', ...empty }, basic)).status).toBe(400);
    const ended = await flow.post('revoke', { token: body.refresh_token, ...empty }, basic);
    expect(ended.status).toBe(200);
  });

  test('a repeated parameter of a token request is refused even if a value is empty', async () => {
    const { client, refresh_token } = await connected();
    const form = { grant_type: 'refresh_token', client_id: client, refresh_token, scope: '' };
    const body = new URLSearchParams(form);
    body.append('scope', 'mcp:read');
    const answer = await fetch(`${flow.server.url}/api/auth/oauth2/token`, { method: 'POST', body });
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: 'invalid_request' }]);
  });
});

describe('unknown clients', () => {
  test.each<[string, Record<string, string>]>([
    ['token', { grant_type: 'refresh_token', refresh_token: 'w5r_none' }],
    ['token', { grant_type: 'authorization_code', code: 'x', redirect_uri: CALLBACK, code_verifier: 'y' }],
    ['revoke', { token: 'w5r_none' }],
  ])('an unknown OAuth client gets 401 from the %s endpoint for the form %j', async (path, form) => {
    for (const client_id of ['gone', 'https://app.example/gone.json']) {
      const answer = await flow.post(path, { client_id, ...form });
      expect([answer.status, await answer.json()]).toMatchObject([401, { error: 'invalid_client' }]);
    }
    const basic = await flow.post(path, form, { authorization: `Basic ${btoa('gone:secret')}` });
    expect(basic.status).toBe(401);
  });
});

// These tests depend on their order, because each changes the same member of staff.
describe('connected apps of a member of staff', () => {
  const { email, password } = ADA;

  test('connected apps are disconnected when the password of their owner is reset', async () => {
    const { runtime } = flow.server;
    const made = await connected();
    const code = await flow.code(made.client);
    await setStaffPassword(runtime, { email }, { password }, CLI);
    await expectEnded(made);
    expect(await flow.exchange(made.client, code)).toMatchObject(refusal('invalid_grant'));
    expect(await listConnectedApps(runtime.db, flow.userId())).toEqual([]);
  });

  test('connected apps stay connected when their owner loses the admin role and changes the password', async () => {
    const { runtime } = flow.server;
    await flow.signIn();
    const { access_token } = await connected();
    await addStaffUser(runtime, { email: 'b@example.com', role: 'admin' }, CLI);
    await changeStaffRole(runtime.db, { email }, 'staff', CLI);
    const staff = { id: flow.userId(), email, name: 'ada', role: 'staff' as const };
    const typed = { current: password, password: `${password} 2`, repeated: `${password} 2` };
    await changeOwnPassword(runtime, { staff, sessionId: 'none' }, typed);
    expect(await flow.status(access_token)).toBe(200);
  });

  test('removing a staff login disconnects the apps that its owner connected', async () => {
    await flow.signIn(`${password} 2`);
    const made = await connected();
    await removeStaffUser(flow.server.runtime, { email }, CLI);
    expect(await flow.status(made.access_token)).toBe(401);
    expect((await flow.refresh(made.client, made.refresh_token)).status).toBe(400);
  });
});
