import crypto from 'node:crypto';
import { like } from 'drizzle-orm';
import { workAsyncStorage } from 'next/dist/server/app-render/work-async-storage.external';
import { workUnitAsyncStorage } from 'next/dist/server/app-render/work-unit-async-storage.external';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import * as actions from '@/app/admin/account/actions';
import { auditLog, staffPasskeys, staffSessions, staffTwoFactors, staffUsers } from '@/db/schema';
import { commandActor } from '@/lib/audit/audit-log';
import { demandTwoFactor, findStaff, findStaffSession } from '@/lib/auth/find-staff';
import { signIn } from '@/lib/auth/sign-in';
import { getStaffAuth } from '@/lib/auth/staff-auth';
import { beginPasskey, keepPasskey, removePasskey } from '@/lib/staff/credentials';
import { createAuthenticator } from '../e2e/support/authenticator';
import { testRuntime } from '../support/runtime';
import { GRACE, quickHash, SECRET, useHash, useSignIn } from '../support/sign-in';

const hashed: { length: unknown; options: unknown }[] = [];
useHash((...args) => {
  hashed.push({ length: args[2], options: args[3] });
  quickHash(...args);
});
const { server, door, attempt, addStaff } = useSignIn();
beforeAll(() => addStaff());

describe('signing in', () => {
  test('signing in with the right password creates a session', async () => {
    const answer = await attempt({ ...GRACE, email: ` ${GRACE.email.toUpperCase()} ` });
    expect([answer.status, await answer.json()]).toEqual([200, { next: '/admin' }]);
    const [cookie = ''] = answer.headers.getSetCookie();
    expect(cookie).toMatch(/^w5t\.session_token=[^;]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/);
    const { api } = getStaffAuth(server.runtime);
    const session = await api.getSession({ headers: new Headers({ cookie }) });
    expect(session?.user).toMatchObject({ email: GRACE.email, role: 'staff' });
    await server.runtime.db.delete(staffSessions);
    expect(await api.getSession({ headers: new Headers({ cookie }) })).toBeNull();
  });

  test('if the site uses https, only a session cookie with the prefix __Host- is set and accepted', async () => {
    const env = { PUBLIC_URL: 'https://admin.example.com', BETTER_AUTH_SECRET: SECRET };
    const runtime = testRuntime(server.runtime.db, { env });
    const { cookies } = await signIn(runtime, GRACE, new Headers());
    const [cookie = ''] = cookies;
    expect(cookie).toMatch(
      /^__Host-w5t\.session_token=[^;]+; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    const find = (prefix: string) => {
      const renamed = cookie.replace('__Host-', prefix).split(';')[0] ?? '';
      return findStaff(runtime, new Headers({ cookie: renamed }));
    };
    expect(await find('__Host-')).toMatchObject({ email: GRACE.email });
    for (const prefix of ['__Secure-', '']) expect(await find(prefix)).toBeNull();
    await runtime.db.delete(staffSessions);
  });

  test('a wrong password and an unknown e-mail address get the same response after the same hashing', async () => {
    hashed.splice(0);
    const answerTo = async (email: string) => {
      const answer = await attempt({ email });
      const headers = [...answer.headers].filter(([name]) => name !== 'date');
      return [answer.status, headers, await answer.json()];
    };
    const known = await answerTo(GRACE.email);
    expect(known[2]).toMatchObject({ detail: 'The e-mail address or the password is wrong.' });
    expect(await answerTo('unknown@example.com')).toEqual(known);
    expect(hashed).toHaveLength(2);
    expect(hashed[1]).toEqual(hashed[0]);
  });

  test.each([
    ['a wrong password', { email: ` ${GRACE.email.toUpperCase()}` }, { staff_id: expect.any(String) }],
    ['an unknown address', { email: 'correct horse battery' }, { staff_id: null }],
    ['a zero byte in the address', { email: 'gr\0ace@example.com' }, { staff_id: expect.any(String) }],
    ['a very long address', { email: 'x'.repeat(10_000) }, { staff_id: null }],
  ])('a failed sign-in with %s is logged without the typed text', async (_, typed, found) => {
    const warned = vi.spyOn(server.runtime.log, 'warn');
    const failed = () => warned.mock.calls.filter(([, message]) => message === 'sign-in failed');
    const password = 'battery staple';
    expect((await attempt({ ...typed, password, from: '198.51.100.7' })).status).toBe(401);
    expect(failed()).toEqual([[{ by: 'password', address: '198.51.100.7', ...found }, 'sign-in failed']]);
    expect(JSON.stringify(warned.mock.calls)).not.toMatch(/battery|@/);
    warned.mockClear();
    expect((await attempt(GRACE)).status).toBe(200);
    expect(failed()).toEqual([]);
    warned.mockRestore();
  });

  test('passwords are hashed by the asynchronous crypto.scrypt', () => {
    expect(getStaffAuth(server.runtime).options.emailAndPassword).not.toHaveProperty('password');
    expect(crypto.scrypt).toHaveBeenCalled();
  });

  const post = (headers: Record<string, string>, body: BodyInit) =>
    fetch(door(), { method: 'POST', redirect: 'manual', headers, body });
  const form = (fields: Record<string, string>) =>
    post({ accept: 'text/html,*/*' }, new URLSearchParams(fields));
  const postFrom = (origin: string) =>
    post({ origin, 'content-type': 'application/json' }, JSON.stringify(GRACE));

  test('a sign-in form without JavaScript redirects to the requested page, or after a failure to the sign-in page', async () => {
    const done = await form({ ...GRACE, next: '/admin/payments?page=2' });
    expect([done.status, done.headers.get('location')]).toEqual([303, '/admin/payments?page=2']);
    expect(done.headers.getSetCookie()).toHaveLength(2);
    const wrong = await form({ ...GRACE, password: 'wrong', next: '//evil.example' });
    const back = '/sign-in?problem=unauthenticated&next=%2Fadmin';
    expect([wrong.status, wrong.headers.get('location')]).toEqual([303, back]);
    expect(wrong.headers.getSetCookie()).toEqual([]);
  });

  test.each(['https://evil.example', 'null', 'http://localhost:3000.evil.example'])(
    'a sign-in from the foreign origin %s is refused with 403',
    async (origin) => {
      const refused = await postFrom(origin);
      expect([refused.status, refused.headers.getSetCookie()]).toEqual([403, []]);
    },
  );

  test('a sign-in is accepted from the origin of the public URL and of the address that received it', async () => {
    for (const origin of ['http://localhost:3000', new URL(door()).origin]) {
      expect((await postFrom(origin)).status).toBe(200);
    }
  });

  test.each([
    ['broken JSON', 400, '{', 'application/json'],
    ['null', 401, 'null', 'application/json'],
    ['values that are not text', 401, '{"email":{},"password":[]}', 'application/json'],
    ['plain text', 415, 'email=a', 'text/plain'],
    ['20 KB', 413, ' '.repeat(20_000), 'application/json'],
  ])('a sign-in with a body of %s is answered with %i', async (_, status, body, type) => {
    expect((await post({ 'content-type': type }, body)).status).toBe(status);
  });
});

describe('routes below /api/auth', () => {
  // tests/golden/routes.txt lists the routes of the app.
  test('better-auth endpoints other than the sign-in are answered with 404', async () => {
    const { api } = getStaffAuth(server.runtime);
    const endpoints = Object.values(api as unknown as Record<string, { path?: string }>);
    const paths = endpoints.map(({ path = '' }) => `/api/auth${path.replace(/:\w+/g, 'x')}`);
    expect(paths.length).toBeGreaterThan(20);
    const open: string[] = [];
    for (const path of [...paths, '/api/auth', '/api/auth/']) {
      for (const init of [{ method: 'GET' }, { method: 'POST', body: '{}' }]) {
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch(server.url + path, { headers, ...init });
        if (answer.status !== 404) open.push(`${init.method} ${path} ${answer.status}`);
        else expect(await answer.json()).toMatchObject({ type: 'urn:w5t:error:not_found' });
      }
    }
    expect(open).toEqual(['GET /api/auth/sign-in/email 405', 'POST /api/auth/sign-in/email 401']);
  });

  test('an unknown sign-in path is answered with 404, and GET of a known one with 405', async () => {
    const ask = async (step: string, method: string) => {
      const answer = await fetch(`${server.url}/api/auth/sign-in/${step}`, { method });
      return [answer.status, answer.headers.get('allow')];
    };
    expect(await ask('sms', 'POST')).toEqual([404, null]);
    expect(await ask('toString', 'POST')).toEqual([404, null]);
    expect(await ask('passkey/options', 'GET')).toEqual([405, 'POST']);
    expect(await ask('email', 'OPTIONS')).toEqual([204, 'POST']);
  });

  test('better-auth refuses sign-ups and role changes', async () => {
    const { api } = getStaffAuth(server.runtime);
    const body = { email: 'mallory@example.com', password: 'x'.repeat(20), name: 'M', role: 'admin' };
    await expect(api.signUpEmail({ body })).rejects.toMatchObject({ statusCode: 400 });
    const [cookie = ''] = (await attempt({ ...GRACE })).headers.getSetCookie();
    await expect(
      api.updateUser({ body: { role: 'admin' } as object, headers: new Headers({ cookie }) }),
    ).rejects.toMatchObject({ statusCode: 400 });
  });
});

describe('staff who still have to secure their account', () => {
  let cookie = '';
  beforeAll(async () => {
    cookie = (await attempt({ ...GRACE })).headers.getSetCookie()[0]?.split(';')[0] ?? '';
  });
  /** Runs a server action as Next does for a request with the session cookie. */
  const act = <T>(run: () => T): T => {
    const request = { type: 'request', phase: 'action', headers: new Headers({ cookie }) };
    const inRequest = () => workUnitAsyncStorage.run(request as never, run);
    return workAsyncStorage.run({ route: '/test' } as never, inRequest);
  };
  /** Expects each action to redirect to /sign-in/due, where staff complete a required account step. */
  async function expectDue(...tried: (() => Promise<unknown>)[]): Promise<void> {
    for (const one of await Promise.allSettled(tried.map(act))) {
      const digest = expect.stringMatching(/^NEXT_REDIRECT;\w+;\/sign-in\/due/);
      expect(one).toMatchObject({ reason: { digest } });
    }
  }

  test('removing a passkey requires the password of its owner', async () => {
    const { db } = server.runtime;
    const [owner] = await db.select().from(staffUsers);
    const key = { publicKey: 'key', counter: 0, deviceType: 'multiDevice', backedUp: true } as const;
    await db
      .insert(staffPasskeys)
      .values({ ...key, id: 'mine', credentialID: 'mine', userId: owner?.id ?? '' });
    for (const password of ['wrong', '', GRACE.password.toUpperCase()]) {
      const refused = await act(() => actions.removePasskey('mine', password));
      expect(refused).toEqual({ problem: expect.stringMatching(/not your password/) });
    }
    expect(await db.$count(staffPasskeys)).toBe(1);
    const session = await findStaffSession(server.runtime, new Headers({ cookie }));
    if (!session) throw new Error('the session is gone');
    const remove = (id: string) => removePasskey(server.runtime, session, GRACE.password, id);
    await expect(remove('another')).rejects.toMatchObject({ code: 'not_found' });
    await remove('mine');
    expect(await db.$count(staffPasskeys)).toBe(0);
  });

  test('only one of two passkey registrations that began with nineteen passkeys is stored', async () => {
    const { runtime } = server;
    const session = await findStaffSession(runtime, new Headers({ cookie }));
    if (!session) throw new Error('the session is gone');
    const key = { publicKey: 'key', counter: 0, deviceType: 'multiDevice', backedUp: true } as const;
    const held = Array.from({ length: 19 }, (_, i) => ({ id: `held-${i}`, credentialID: `held-${i}` }));
    await runtime.db
      .insert(staffPasskeys)
      .values(held.map((one) => ({ ...key, ...one, userId: session.staff.id })));
    const register = async () => {
      const headers = new Headers({ cookie });
      const { options, cookies } = await beginPasskey(
        runtime,
        session,
        { name: 'Mine', password: GRACE.password },
        headers,
      );
      headers.set('cookie', [cookie, ...cookies.map((one) => one.split(';')[0])].join('; '));
      const asked = { challenge: options.challenge, origin: runtime.env.publicUrl };
      const { id, ...response } = createAuthenticator().makePasskey(asked, options.user.id);
      const sent = { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response } as const;
      return () => keepPasskey(runtime, session, { name: 'Mine', response: sent }, headers);
    };
    const begun = [await register(), await register()];
    const kept = await Promise.allSettled(begun.map((keep) => keep()));
    expect(kept.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const reason = { code: 'conflict', message: 'You already have 20 passkeys: remove one first.' };
    expect(kept).toContainEqual(expect.objectContaining({ reason: expect.objectContaining(reason) }));
    expect(await runtime.db.$count(staffPasskeys)).toBe(20);
    await runtime.db.delete(staffPasskeys);
  });

  test('a passkey without a name is refused before the device creates it', async () => {
    const refused = await act(() => actions.startPasskey('  ', GRACE.password));
    expect(refused).toEqual({ problem: 'The name must have 1 to 60 characters.' });
  });

  test('new recovery codes are refused, and not noted as created, if the authenticator app was turned off', async () => {
    const refused = await act(() => actions.renewCodes(GRACE.password));
    expect(refused).toEqual({ problem: 'No authenticator app is set up.' });
    const { db } = server.runtime;
    expect(await db.$count(auditLog, like(auditLog.action, '%renew_recovery_codes'))).toBe(0);
  });

  const others = [
    () => actions.startPasskey('Mine', GRACE.password),
    () => actions.storePasskey('Mine', {} as never),
    () => actions.removePasskey('none', GRACE.password),
    () => actions.renewCodes(GRACE.password),
    () => actions.turnOffApp(GRACE.password),
  ];
  const beginApp = () => actions.beginApp(GRACE.password);
  const changePassword = () => actions.changePassword('/admin', {}, new FormData());

  test('staff with a temporary password can only change the password', async () => {
    const { db } = server.runtime;
    await db.update(staffUsers).set({ passwordTemporary: true });
    await expectDue(...others, beginApp, () => actions.confirmApp('000000'));
    expect(await db.$count(staffPasskeys)).toBe(0);
    expect(await db.$count(staffTwoFactors)).toBe(0);
    expect(await act(changePassword)).toHaveProperty('problems.current');
    await db.update(staffUsers).set({ passwordTemporary: false });
  });

  test('staff without the required authenticator app can only set up the app', async () => {
    await demandTwoFactor(server.runtime.db, true, commandActor('test'));
    await expectDue(...others, changePassword);
    expect(await act(beginApp)).toHaveProperty('recoveryCodes');
  });
});
