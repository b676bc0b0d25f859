import { eq } from 'drizzle-orm';
import { beforeAll, expect, test, vi } from 'vitest';
import * as actions from '@/app/admin/account/actions';
import { staffPasskeys, staffTwoFactors, staffUsers } from '@/db/schema';
import { commandActor } from '@/lib/audit/record-audit';
import { demandTwoFactor } from '@/lib/auth/second-factor/demand';
import { GRACE, useSignIn } from '../support/sign-in';

const browser = vi.hoisted(() => ({ cookie: '' }));
vi.mock('next/headers', () => ({
  headers: async () => new Headers({ cookie: browser.cookie }),
  cookies: async () => ({ set: () => {} }),
}));
vi.mock('next/navigation', () => ({
  redirect: (to: string) => {
    throw new Error(`led to ${to}`);
  },
  forbidden: () => {},
}));

const { server, attempt, addStaff } = useSignIn();
beforeAll(async () => {
  await addStaff();
  const answer = await attempt({ ...GRACE });
  browser.cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
});

const TO_DUE = /^led to \/sign-in\/due/;
/** Whether all of them lead there. */
async function expectDue(tried: Promise<unknown>[]): Promise<void> {
  for (const one of await Promise.allSettled(tried)) {
    expect(one).toMatchObject({ reason: { message: expect.stringMatching(TO_DUE) } });
  }
}
const others = (): Promise<unknown>[] => [
  actions.startPasskey(GRACE.password),
  actions.storePasskey('Mine', {} as never),
  actions.removePasskey('none'),
  actions.renewCodes(GRACE.password),
  actions.turnOffApp(GRACE.password),
];

test('who owes a password changes that, and nothing else of their login', async () => {
  const { db } = server.runtime;
  await db.update(staffUsers).set({ passwordTemporary: true }).where(eq(staffUsers.email, GRACE.email));
  await expectDue([...others(), actions.beginApp(GRACE.password), actions.confirmApp('000000')]);
  expect(await db.$count(staffPasskeys)).toBe(0);
  expect(await db.$count(staffTwoFactors)).toBe(0);
  await expect(actions.changePassword('/admin', {}, new FormData())).resolves.toHaveProperty('current');
  await db.update(staffUsers).set({ passwordTemporary: false });
});

test('who owes an app sets that up, and nothing else', async () => {
  const { db } = server.runtime;
  await demandTwoFactor(db, true, commandActor('test'));
  await expectDue([...others(), actions.changePassword('/admin', {}, new FormData())]);
  await expect(actions.beginApp(GRACE.password)).resolves.toHaveProperty('recoveryCodes');
});
