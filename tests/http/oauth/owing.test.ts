import { eq } from 'drizzle-orm';
import { afterEach, describe, expect, test } from 'vitest';
import { oauthConsents, oauthRefreshTokens, staffSettings, staffUsers } from '@/db/schema';
import { commandActor } from '@/lib/audit/record-audit';
import { changeOwnPassword } from '@/lib/auth/account/change-own-password';
import { demandTwoFactor } from '@/lib/auth/second-factor/demand';
import { addStaffUser } from '@/lib/auth/staff/add-staff-user';
import { changeStaffRole } from '@/lib/auth/staff/change-staff-role';
import { setStaffPassword } from '@/lib/auth/staff/set-staff-password';
import { listConnectedApps } from '@/lib/oauth/connected-apps';
import { useFlow } from './flow';

const flow = useFlow();
const CLI = commandActor('test');
const ALL = ['customers:read', 'billing:read', 'servers:read'] as const;

describe('whoever owes something', () => {
  const owe = {
    'a password of their own': (is: boolean) =>
      flow.server.runtime.db.update(staffUsers).set({ passwordTemporary: is }),
    'a second factor': (is: boolean) => demandTwoFactor(flow.server.runtime.db, is, CLI),
  };
  afterEach(async () => {
    await owe['a password of their own'](false);
    await flow.server.runtime.db.delete(staffSettings);
  });

  test.each(Object.entries(owe))('%s is led to the page for it, and gets no code', async (_, set) => {
    const client = await flow.client();
    const before = await flow.authorize(client);
    await set(true);
    const to = await flow.authorize(client);
    expect(to.pathname).toBe('/sign-in/due');
    const page = new URL(to.searchParams.get('next') ?? '', to);
    expect(page.pathname).toBe('/oauth/consent');
    for (const signed of [before, page]) {
      const back = await flow.consent(signed, [...ALL]);
      expect(back.pathname + back.search).toBe('/oauth/refused?error=expired');
    }
    expect(await listConnectedApps(flow.server.runtime.db, null)).toEqual([]);
    await set(false);
    expect((await flow.consent(page, [...ALL])).searchParams.get('code')).not.toBeNull();
    await flow.server.runtime.db.delete(oauthConsents);
  });
});

test('a consent to less ends what the app could do beyond it, and nothing else', async () => {
  const [client, other] = [await flow.client(), await flow.client()];
  const all = await flow.connect(client, [...ALL]);
  const masked = await flow.connect(client, ['servers:read'], true);
  expect(await flow.status(all.access_token)).toBe(401);
  expect((await flow.refresh(client, all.refresh_token)).body.error).toBe('invalid_grant');

  const elsewhere = await flow.connect(other, [...ALL]);
  const same = await flow.connect(client, ['servers:read'], true);
  for (const { access_token } of [masked, same, elsewhere]) {
    expect(await flow.status(access_token)).toBe(200);
  }
});

test('a refresh on its way while the access is ended gives nothing', async () => {
  const { db } = flow.server.runtime;
  const client = await flow.client();
  const { access_token, refresh_token } = await flow.connect(client);
  await db.delete(oauthConsents); // as a disconnect does, which cannot see tokens that are not written yet
  expect((await flow.refresh(client, refresh_token)).body.error).toBe('invalid_grant');
  expect(await flow.status(access_token)).toBe(401);
  expect(await db.$count(oauthRefreshTokens, eq(oauthRefreshTokens.clientId, client))).toBe(0);
});

describe('a person’s apps', () => {
  const [email, password] = ['ada@example.com', 'correct horse battery'];

  test('end when an admin resets the password, with codes that wait', async () => {
    const { runtime } = flow.server;
    const client = await flow.client();
    const { access_token, refresh_token } = await flow.connect(client);
    const code = await flow.code(client);
    await setStaffPassword(runtime, { email }, { password }, CLI);
    expect(await flow.status(access_token)).toBe(401);
    expect((await flow.refresh(client, refresh_token)).body.error).toBe('invalid_grant');
    expect((await flow.exchange(client, code)).body.error).toBe('invalid_grant');
    expect(await listConnectedApps(runtime.db, flow.userId())).toEqual([]);
  });

  test('go on when the role or the own password changes', async () => {
    const { runtime } = flow.server;
    await flow.signIn();
    const { access_token } = await flow.connect(await flow.client());
    await addStaffUser(runtime, { email: 'b@example.com', role: 'admin' }, CLI);
    await changeStaffRole(runtime.db, { email }, 'staff', CLI);
    const staff = { id: flow.userId(), email, name: 'ada', role: 'staff' as const };
    const typed = { current: password, password: `${password} 2`, repeated: `${password} 2` };
    await changeOwnPassword(runtime, { staff, sessionId: 'none' }, typed);
    expect(await flow.status(access_token)).toBe(200);
  });
});
