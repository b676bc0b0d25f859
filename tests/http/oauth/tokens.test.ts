import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { oauthAccessTokens, oauthConsents, oauthRefreshTokens } from '@/db/schema';
import { commandActor } from '@/lib/audit/record-audit';
import { changeOwnPassword } from '@/lib/auth/account/change-own-password';
import { addStaffUser } from '@/lib/auth/staff/add-staff-user';
import { changeStaffRole } from '@/lib/auth/staff/change-staff-role';
import { removeStaffUser } from '@/lib/auth/staff/remove-staff-user';
import { setStaffPassword } from '@/lib/auth/staff/set-staff-password';
import { verifyAccessToken } from '@/lib/auth/tokens/access-token';
import { disconnectApp, listConnectedApps } from '@/lib/oauth/connected-apps';
import { verifyOAuthToken } from '@/lib/oauth/oauth-token';
import { ADA, ALL_SCOPES, CALLBACK, ISSUER, useFlow } from './flow';

const flow = useFlow();
const CLI = commandActor('test');
const ELSEWHERE = 'https://other.example/mcp';

const refusal = (error: string) => ({ status: 400, body: { error } });
/** A new client that is connected, with its tokens. */
const connected = async () => {
  const client = await flow.client();
  return { client, ...(await flow.connect(client)) };
};
async function expectEnded({ client, access_token, refresh_token }: Awaited<ReturnType<typeof connected>>) {
  expect(await flow.status(access_token)).toBe(401);
  expect(await flow.refresh(client, refresh_token)).toMatchObject(refusal('invalid_grant'));
}

test('a client goes from registration over consent to a call, a refresh and its end', async () => {
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
  ['the client', { client_id: 'a\0b' }, {}, 400],
  ['a code', { code: 'a\0b' }, {}, 400],
  ['a secret', { client_secret: 'a\0b' }, {}, 400],
  ['the name of a header', { client_id: null }, { authorization: `Basic ${btoa('a%00b:c')}` }, 401],
  ['the bytes of a header', { client_id: null }, { authorization: `Basic ${btoa('a\0b:c')}` }, 401],
])('a NUL in %s is an error of the client', async (_, form, headers, status) => {
  const asked = {
    grant_type: 'authorization_code',
    client_id: 'x',
    code: 'y',
    redirect_uri: CALLBACK,
    ...form,
  };
  expect((await flow.token(asked, headers)).status).toBe(status);
  expect((await flow.post('revoke', { token: 't', ...form }, headers)).status).toBe(status);
});

describe('codes', () => {
  test.each<[string, Record<string, string | null>, string]>([
    [
      'a wrong verifier',
      { code_verifier: 'another-verifier-with-enough-characters-for-it' },
      'invalid_grant',
    ],
    ['no verifier', { code_verifier: null }, 'invalid_grant'],
    ['another redirect', { redirect_uri: 'http://127.0.0.1:1/callback' }, 'invalid_grant'],
    ['another resource', { resource: ELSEWHERE }, 'invalid_target'],
    ['another grant', { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
  ])('a code with %s gives nothing', async (_, form, error) => {
    const client = await flow.client();
    expect(await flow.exchange(client, await flow.code(client), form)).toMatchObject(refusal(error));
  });

  test('a code of another client gives nothing', async () => {
    const code = await flow.code(await flow.client());
    expect(await flow.exchange(await flow.client(), code)).toMatchObject(refusal('invalid_grant'));
  });

  test('a code from before a narrower consent gives nothing', async () => {
    const client = await flow.client();
    const before = await flow.code(client);
    const now = await flow.code(client, {}, ['servers:read'], true);
    expect(await flow.exchange(client, before)).toMatchObject(refusal('invalid_grant'));
    const { body } = await flow.exchange(client, now);
    expect(await flow.status(body.access_token)).toBe(200);
  });

  test('a code that is used twice ends both tokens', async () => {
    const client = await flow.client();
    const code = await flow.code(client);
    const { body } = await flow.exchange(client, code);
    expect(await flow.status(body.access_token)).toBe(200);
    expect(await flow.exchange(client, code)).toMatchObject(refusal('invalid_grant'));
    await expectEnded({ client, ...body });
  });

  test('a code that is used many times at once leaves no token', async () => {
    const client = await flow.client();
    const code = await flow.code(client);
    const answers = await Promise.all(Array.from({ length: 5 }, () => flow.exchange(client, code)));
    const given = answers.flatMap(({ body }) => body.access_token ?? []);
    const states = await Promise.all(given.map((one) => flow.status(one)));
    expect(states.every((status) => status === 401)).toBe(true);
  });
});

describe('refresh tokens', () => {
  test('a used refresh token is answered again for a moment, then ends everything', async () => {
    const { client, ...first } = await connected();
    const second = await flow.refresh(client, first.refresh_token);
    expect(await flow.status(second.body.access_token)).toBe(200);
    const retried = await flow.refresh(client, first.refresh_token);
    expect(retried.body.refresh_token).toBe(second.body.refresh_token);

    await flow.server.runtime.db
      .update(oauthRefreshTokens)
      .set({ rotationReplayExpiresAt: new Date(0) })
      .where(eq(oauthRefreshTokens.clientId, client));
    expect(await flow.refresh(client, first.refresh_token)).toMatchObject(refusal('invalid_grant'));
    await expectEnded({ client, ...second.body });
  });

  test('a refresh token that expired, of another client or for another resource gives nothing', async () => {
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

  test('a refresh on its way while the access is ended gives nothing', async () => {
    const { db } = flow.server.runtime;
    const { client, access_token, refresh_token } = await connected();
    await db.delete(oauthConsents); // as a disconnect does, which cannot see tokens that are not written yet
    expect(await flow.refresh(client, refresh_token)).toMatchObject(refusal('invalid_grant'));
    expect(await flow.status(access_token)).toBe(401);
    expect(await db.$count(oauthRefreshTokens, eq(oauthRefreshTokens.clientId, client))).toBe(0);
  });
});

describe('access tokens', () => {
  test('no other token passes for an access token, nor an access token at another door', async () => {
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
    const elsewhere = { resource: ELSEWHERE, now: new Date() };
    expect(await verifyOAuthToken(db, access_token, elsewhere)).toBeNull();
    expect(await flow.refresh(client, access_token)).toMatchObject(refusal('invalid_grant'));
    const less = await flow.code(client, {}, ['servers:read'], true);
    const more = await flow.exchange(client, less, { refresh_token, scope: 'mcp:read' });
    expect(more.body.scope).toBe('servers:read without_personal_data offline_access');
  });

  test('a client with a secret needs PKCE too', async () => {
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

  test('an access token ends when it expires', async () => {
    const { client, access_token } = await connected();
    await flow.server.runtime.db
      .update(oauthAccessTokens)
      .set({ expiresAt: new Date(0) })
      .where(eq(oauthAccessTokens.clientId, client));
    expect(await flow.status(access_token)).toBe(401);
  });

  test.each(['access_token', 'refresh_token'] as const)(
    'an access token ends when its %s is revoked',
    async (name) => {
      const made = await connected();
      const revoke = (token: string) => flow.post('revoke', { client_id: made.client, token });
      expect((await revoke(made[name])).status).toBe(200);
      expect(await flow.status(made.access_token)).toBe(401);
      expect((await revoke('unknown')).status).toBe(200);
    },
  );

  test('a consent to less ends what the app could do beyond it, and nothing else', async () => {
    const { client, ...all } = await connected();
    const masked = await flow.connect(client, ['servers:read'], true);
    await expectEnded({ client, ...all });
    const elsewhere = await connected();
    const same = await flow.connect(client, ['servers:read'], true);
    for (const { access_token } of [masked, same, elsewhere]) {
      expect(await flow.status(access_token)).toBe(200);
    }
  });
});

// Each changes the person, in this order.
describe('the apps of a person', () => {
  const { email, password } = ADA;

  test('apps end when an admin resets the password, with codes that wait', async () => {
    const { runtime } = flow.server;
    const made = await connected();
    const code = await flow.code(made.client);
    await setStaffPassword(runtime, { email }, { password }, CLI);
    await expectEnded(made);
    expect(await flow.exchange(made.client, code)).toMatchObject(refusal('invalid_grant'));
    expect(await listConnectedApps(runtime.db, flow.userId())).toEqual([]);
  });

  test('apps go on when the role or the own password changes', async () => {
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

  test('apps end when the member of staff is removed', async () => {
    await flow.signIn(`${password} 2`);
    const made = await connected();
    await removeStaffUser(flow.server.runtime, { email }, CLI);
    expect(await flow.status(made.access_token)).toBe(401);
    expect((await flow.refresh(made.client, made.refresh_token)).status).toBe(400);
  });
});
