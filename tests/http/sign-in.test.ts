import crypto from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { staffSessions } from '@/db/schema';
import { getStaffAuth } from '@/lib/auth/session/staff-auth';
import { GRACE, quickHash, useHash, useSignIn } from '../support/sign-in';

const hashed: { length: unknown; options: unknown }[] = [];
useHash((...args) => {
  hashed.push({ length: args[2], options: args[3] });
  quickHash(...args);
});
const { server, door, attempt, addStaff } = useSignIn();
beforeAll(() => addStaff());

describe('the door of the sign-in page', () => {
  test('the right password opens a database session, the cookie names it', async () => {
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

  test('a wrong password and an unknown address get the same answer, for as much work', async () => {
    hashed.splice(0);
    const tell = async (email: string) => {
      const answer = await attempt({ email });
      const headers = [...answer.headers].filter(([name]) => name !== 'date');
      return [answer.status, headers, await answer.json()];
    };
    const known = await tell(GRACE.email);
    expect(known[2]).toMatchObject({ detail: 'The e-mail address or the password is wrong.' });
    expect(await tell('nobody@example.com')).toEqual(known);
    expect(hashed).toHaveLength(2);
    expect(hashed[1]).toEqual(hashed[0]);
  });

  test('passwords are hashed off the event loop', () => {
    expect(getStaffAuth(server.runtime).options.emailAndPassword).not.toHaveProperty('password');
    expect(crypto.scrypt).toHaveBeenCalled();
  });

  const post = (headers: Record<string, string>, body: BodyInit) =>
    fetch(door(), { method: 'POST', redirect: 'manual', headers, body });
  const form = (fields: Record<string, string>) =>
    post({ accept: 'text/html,*/*' }, new URLSearchParams(fields));

  test('a form without scripts is led on, or back to the page with the reason', async () => {
    const done = await form({ ...GRACE, next: '/admin/payments?page=2' });
    expect([done.status, done.headers.get('location')]).toEqual([303, '/admin/payments?page=2']);
    expect(done.headers.getSetCookie()).toHaveLength(2);
    const wrong = await form({ ...GRACE, password: 'wrong', next: '//evil.example' });
    expect([wrong.status, wrong.headers.get('location')]).toEqual([
      303,
      '/sign-in?problem=unauthenticated&next=%2Fadmin',
    ]);
    expect(wrong.headers.getSetCookie()).toEqual([]);
  });

  test.each(['https://evil.example', 'null', 'http://localhost:3000.evil.example'])(
    'a form of the page %s is refused',
    async (origin) => {
      const type = { origin, 'content-type': 'application/json' };
      const refused = await post(type, JSON.stringify(GRACE));
      expect([refused.status, refused.headers.getSetCookie()]).toEqual([403, []]);
    },
  );

  test.each([new URL('http://localhost:3000'), null])('one of our own page is not', async (publicUrl) => {
    const origin = (publicUrl ?? new URL(door())).origin;
    const type = { origin, 'content-type': 'application/json' };
    expect((await post(type, JSON.stringify(GRACE))).status).toBe(200);
  });

  test.each([
    [400, 'no JSON', '{', 'application/json'],
    [401, 'nothing', 'null', 'application/json'],
    [401, 'no text', '{"email":{},"password":[]}', 'application/json'],
    [415, 'another type', 'email=a', 'text/plain'],
    [413, 'too much', ' '.repeat(20_000), 'application/json'],
  ])('%i: %s', async (status, _, body, type) => {
    expect((await post({ 'content-type': type }, body)).status).toBe(status);
  });
});

describe('below /api/auth', () => {
  const endpoints = () =>
    Object.values(getStaffAuth(server.runtime).api as unknown as Record<string, { path?: string }>);
  const bodyOf = (method: string) => (method === 'POST' ? { body: '{}' } : {});

  test('whatever better-auth offers is not there, but for the sign-in', async () => {
    const paths = endpoints().map(({ path = '' }) => `/api/auth${path.replace(/:\w+/g, 'x')}`);
    expect(paths.length).toBeGreaterThan(20);
    const open: string[] = [];
    for (const path of [...paths, '/api/auth', '/api/auth/']) {
      for (const method of ['GET', 'POST']) {
        const init = { method, headers: { 'content-type': 'application/json' }, ...bodyOf(method) };
        const answer = await fetch(server.url + path, init);
        if (answer.status !== 404) open.push(`${method} ${path} ${answer.status}`);
        else expect(await answer.json()).toMatchObject({ type: 'urn:w5t:error:not_found' });
      }
    }
    expect(open).toEqual(['GET /api/auth/sign-in/email 405', 'POST /api/auth/sign-in/email 401']);
  });

  test('the app has no other route there but those of OAuth', () => {
    const folder = join(import.meta.dirname, '../../app/api/auth');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    expect(files.filter((file) => file.endsWith('.ts')).sort()).toEqual([
      '.well-known/[...path]/route.ts',
      ...['authorize', 'jwks', 'register', 'revoke', 'token'].map((name) => `oauth2/${name}/route.ts`),
      ...['code', 'email', 'passkey/options', 'passkey'].map((door) => `sign-in/${door}/route.ts`),
    ]);
  });

  test('nobody can sign up or give themselves a role through the library either', async () => {
    const { api } = getStaffAuth(server.runtime);
    const body = { email: 'mallory@example.com', password: 'x'.repeat(20), name: 'M', role: 'admin' };
    await expect(api.signUpEmail({ body })).rejects.toMatchObject({ statusCode: 400 });
    const [cookie = ''] = (await attempt({ ...GRACE })).headers.getSetCookie();
    await expect(
      api.updateUser({ body: { role: 'admin' } as object, headers: new Headers({ cookie }) }),
    ).rejects.toMatchObject({ statusCode: 400 });
  });
});
