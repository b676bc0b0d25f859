import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { oauthAccessTokens, oauthClients, oauthConsents, oauthRefreshTokens } from '@/db/schema';
import { commandActor } from '@/lib/audit/audit-log';
import { disconnectApp, listConnectedApps } from '@/lib/oauth/connected-apps';
import { findRefreshToken, verifyOAuthToken } from '@/lib/oauth/grant';
import { clearOver } from '@/lib/oauth/register-client';
import { changeOwnPassword, setStaffPassword } from '@/lib/staff/credentials';
import { addStaffUser, changeStaffRole, removeStaffUser } from '@/lib/staff/manage-staff';
import { verifyAccessToken } from '@/lib/tokens/access-token';
import { ADA, ALL_SCOPES, CALLBACK, ISSUER, type Tokens, useFlow } from './flow';

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

test('a disconnected OAuth client cannot refresh its token', async () => {
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
  'a NUL character in %s of a token request is answered as a client error',
  async (_, form, headers, status) => {
    const asked = {
      grant_type: 'authorization_code',
      client_id: 'x',
      code: 'y',
      redirect_uri: CALLBACK,
      ...form,
    };
    expect((await flow.token(asked, headers)).status).toBe(status);
    expect((await flow.post('revoke', { token: 't', ...form }, headers)).status).toBe(status);
  },
);

describe('authorization codes', () => {
  test.each<[string, Record<string, string | null>, string]>([
    [
      'a wrong verifier',
      { code_verifier: 'another-verifier-with-enough-characters-for-it' },
      'invalid_grant',
    ],
    ['no verifier', { code_verifier: null }, 'invalid_grant'],
    ['another redirect address', { redirect_uri: 'http://127.0.0.1:1/callback' }, 'invalid_grant'],
    ['another resource', { resource: ELSEWHERE }, 'invalid_target'],
    ['another grant type', { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
  ])('an authorization code exchanged with %s yields no tokens', async (_, form, error) => {
    const client = await flow.client();
    expect(await flow.exchange(client, await flow.code(client), form)).toMatchObject(refusal(error));
  });

  test('an authorization code of another client yields no tokens', async () => {
    const code = await flow.code(await flow.client());
    expect(await flow.exchange(await flow.client(), code)).toMatchObject(refusal('invalid_grant'));
  });

  test('a narrower consent does not restrict an authorization code issued earlier', async () => {
    const client = await flow.client();
    const before = await flow.code(client);
    const now = await flow.code(client, {}, ['servers:read'], true);
    for (const code of [now, before]) {
      const { body } = await flow.exchange(client, code);
      expect(await flow.status(body.access_token)).toBe(200);
    }
  });

  test('reusing an authorization code revokes the tokens that it issued', async () => {
    const client = await flow.client();
    const code = await flow.code(client);
    const { body } = await flow.exchange(client, code);
    expect(await flow.status(body.access_token)).toBe(200);
    expect(await flow.exchange(client, code)).toMatchObject(refusal('invalid_grant'));
    await expectEnded({ client, ...body });
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

  test('reusing a refresh token more than ten minutes after its rotation ends the grant', async () => {
    const { db } = flow.server.runtime;
    const { client, ...first } = await connected();
    const second = await flow.refresh(client, first.refresh_token);
    expect(await flow.status(second.body.access_token)).toBe(200);
    const retried = await flow.refresh(client, first.refresh_token);
    expect(retried.body.refresh_token).toBe(second.body.refresh_token);
    const used = await findRefreshToken(flow.server.runtime, client, first.refresh_token);
    expect(used?.state).toBe('rotated');
    const later = (minutes: number) => ({ db, now: () => new Date(Date.now() + minutes * 60_000) });
    expect(await findRefreshToken(later(9.9), client, first.refresh_token)).toMatchObject({
      state: 'rotated',
    });
    expect(await findRefreshToken(later(10.1), client, first.refresh_token)).toMatchObject({
      state: 'stale',
    });

    await endGrace(client);
    expect(await flow.refresh(client, first.refresh_token)).toMatchObject(refusal('invalid_grant'));
    await expectEnded({ client, ...second.body });
    expect(await listConnectedApps(db, flow.userId())).not.toContainEqual(
      expect.objectContaining({ clientId: client }),
    );
  });

  test('a refresh token that is used five times at once gets the same response each time', async () => {
    const { client, refresh_token } = await connected();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => flow.refresh(client, refresh_token, { scope: 'mcp:read' })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1);
    expect(new Set(answers.map(({ body }) => body.access_token)).size).toBe(1);
    const [{ body } = answers[0] as never] = answers;
    expect(await flow.status(body.access_token)).toBe(200);
    expect((await flow.refresh(client, body.refresh_token)).status).toBe(200);
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

    test('reusing a stale refresh token of one device leaves the second device connected', async () => {
      const { client, one, two } = await devices();
      const rotated = await flow.refresh(client, one.refresh_token);
      await endGrace(client);
      expect(await flow.refresh(client, one.refresh_token)).toMatchObject(refusal('invalid_grant'));
      await expectEnded({ client, ...rotated.body });
      await expectConnected(client, two);
    });

    test.each([{}, { token_type_hint: 'refresh_token' }, { token_type_hint: 'access_token' }])(
      'revoking the refresh token of one device with %j leaves the second device connected',
      async (form) => {
        const { client, one, two } = await devices();
        expect((await revoke(client, one.refresh_token, form)).status).toBe(200);
        await expectEnded({ client, ...one });
        await expectConnected(client, two);
      },
    );

    test('revoking a rotated refresh token of one device leaves the second device connected', async () => {
      const { client, one, two } = await devices();
      const rotated = await flow.refresh(client, one.refresh_token);
      const tokens = [one.refresh_token, one.refresh_token, `Bearer ${one.refresh_token}`];
      await Promise.all(tokens.map((token) => revoke(client, token)));
      await expectEnded({ client, ...rotated.body });
      expect((await revoke(client, one.refresh_token)).status).toBe(200);
      await expectConnected(client, two);
    });

    test('a narrower consent on one device leaves the second device connected', async () => {
      const client = await flow.client();
      const wide = await flow.connect(client);
      const narrow = await flow.connect(client, ['servers:read'], true);
      await expectConnected(client, wide);
      const steppedUp = await flow.connect(client, ['servers:read', 'customers:read']);
      for (const device of [narrow, steppedUp]) await expectConnected(client, device);
    });

    test('reusing the authorization code of one device leaves the second device connected', async () => {
      const client = await flow.client();
      const code = await flow.code(client);
      await flow.exchange(client, code);
      const two = await flow.connect(client);
      expect(await flow.exchange(client, code)).toMatchObject(refusal('invalid_grant'));
      await expectConnected(client, two);
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

    test('a stale refresh token without a consent reference revokes only its own device’s tokens', async () => {
      const { db } = flow.server.runtime;
      const { client, one, two } = await devices();
      const rotated = await flow.refresh(client, one.refresh_token);
      for (const table of [oauthAccessTokens, oauthRefreshTokens, oauthConsents]) {
        await db.update(table).set({ referenceId: null }).where(eq(table.clientId, client));
      }
      await endGrace(client);
      expect(await flow.refresh(client, one.refresh_token)).toMatchObject(refusal('invalid_grant'));
      await expectEnded({ client, ...rotated.body });
      await expectConnected(client, two);
    });
  });

  test('a stale refresh token sent without the client secret revokes no tokens', async () => {
    const made = await flow.register({
      redirect_uris: [CALLBACK],
      token_endpoint_auth_method: 'client_secret_post',
    });
    const { client_id, client_secret } = (await made.json()) as { client_id: string; client_secret: string };
    const { body } = await flow.exchange(client_id, await flow.code(client_id), { client_secret });
    const rotated = await flow.refresh(client_id, body.refresh_token, { client_secret });
    await endGrace(client_id);
    expect(await flow.refresh(client_id, body.refresh_token)).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    });
    const revoked = await flow.post('revoke', { client_id, token: body.refresh_token });
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

  test('an expired refresh token yields no tokens', async () => {
    const { client, refresh_token } = await connected();
    const other = await flow.client();
    expect(await flow.refresh(other, refresh_token)).toMatchObject(refusal('invalid_grant'));
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
  test('the MCP endpoint refuses authorization codes, refresh tokens and session tokens', async () => {
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

  test.each(['access_token', 'refresh_token'] as const)(
    'an OAuth access token is refused after its %s is revoked',
    async (name) => {
      const made = await connected();
      const revoke = (token: string) => flow.post('revoke', { client_id: made.client, token });
      expect((await revoke(made[name])).status).toBe(200);
      expect(await flow.status(made.access_token)).toBe(401);
      expect((await revoke('unknown')).status).toBe(200);
    },
  );
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

  test('connected apps are disconnected when an admin resets the password of their owner', async () => {
    const { runtime } = flow.server;
    const made = await connected();
    const code = await flow.code(made.client);
    await setStaffPassword(runtime, { email }, { password }, CLI);
    await expectEnded(made);
    expect(await flow.exchange(made.client, code)).toMatchObject(refusal('invalid_grant'));
    expect(await listConnectedApps(runtime.db, flow.userId())).toEqual([]);
  });

  test('connected apps stay connected when their owner changes the password', async () => {
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
