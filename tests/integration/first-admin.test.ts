import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { auditLog, staffUsers, staffVerifications } from '@/db/schema';
import { commandActor } from '@/lib/audit/record-audit';
import { addStaffUser } from '@/lib/auth/staff/add-staff-user';
import { createFirstAdmin, isFirstAdminToken, issueFirstAdminToken } from '@/lib/auth/staff/first-admin';
import { useDatabase } from '../support/database';
import { type TestRuntime, testRuntime } from '../support/runtime';

const base = useDatabase();
const GRACE = { email: 'Grace@Example.com', name: '', password: 'correct horse battery' };
const typed = (changed = {}) => ({ ...GRACE, repeated: GRACE.password, ...changed });
const REFUSED = { code: 'conflict', message: expect.stringMatching(/no longer valid\. The server prints/) };

let world: TestRuntime;
beforeEach(async () => {
  world = testRuntime(base.db);
  await base.db.delete(staffUsers);
  await base.db.delete(staffVerifications);
});
const issue = async () => {
  const token = await issueFirstAdminToken(world);
  if (token === null) throw new Error('somebody has a login');
  return token;
};
const staff = () => base.db.select({ email: staffUsers.email, role: staffUsers.role }).from(staffUsers);
const passTime = (seconds: number) => world.setNow(new Date(world.now().getTime() + seconds * 1000));

describe('the one-time address', () => {
  test('makes an admin, and is used up by it, not by being looked at', async () => {
    const token = await issue();
    for (let i = 0; i < 3; i += 1) expect(await isFirstAdminToken(base.db, token, world.now())).toBe(true);
    await createFirstAdmin(world, token, typed());
    expect(await staff()).toEqual([{ email: 'grace@example.com', role: 'admin' }]);
    expect(await isFirstAdminToken(base.db, token, world.now())).toBe(false);
    await base.db.delete(staffUsers);
    await expect(createFirstAdmin(world, token, typed())).rejects.toMatchObject(REFUSED);
    const [entry] = await base.db.select().from(auditLog).where(eq(auditLog.entity, 'staff_user'));
    expect(entry).toMatchObject({
      actor_type: 'cli',
      actor_name: 'one-time address',
      action: 'staff_user.create',
      after: { email: 'grace@example.com', name: 'grace', role: 'admin' },
    });
  });

  test('is kept as a hash only', async () => {
    const token = await issue();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(JSON.stringify(await base.db.select().from(staffVerifications))).not.toContain(token);
  });

  test('ends with the next start', async () => {
    const [first, second] = [await issue(), await issue()];
    await expect(createFirstAdmin(world, first, typed())).rejects.toMatchObject(REFUSED);
    await createFirstAdmin(world, second, typed());
  });

  test('lasts an hour', async () => {
    const token = await issue();
    passTime(3599);
    expect(await isFirstAdminToken(base.db, token, world.now())).toBe(true);
    passTime(1);
    expect(await isFirstAdminToken(base.db, token, world.now())).toBe(false);
    await expect(createFirstAdmin(world, token, typed())).rejects.toMatchObject(REFUSED);
    expect(await staff()).toEqual([]);
  });

  test('is not there where somebody has a login, and ends when somebody gets one', async () => {
    const token = await issue();
    await addStaffUser(world, { email: 'ada@example.com' }, commandActor('test'));
    expect(await isFirstAdminToken(base.db, token, world.now())).toBe(false);
    await expect(createFirstAdmin(world, token, typed())).rejects.toMatchObject(REFUSED);
    expect(await issueFirstAdminToken(world)).toBeNull();
    expect(await base.db.$count(staffVerifications)).toBe(0);
  });

  test.each(['', 'x', 'x'.repeat(43), '%00'])('%j is none', async (token) => {
    await issue();
    expect(await isFirstAdminToken(base.db, token, world.now())).toBe(false);
    await expect(createFirstAdmin(world, token, typed())).rejects.toMatchObject(REFUSED);
  });

  test.each([
    ['email', { email: 'grace' }],
    ['name', { name: 'x'.repeat(101) }],
    ['password', { password: 'eleven char', repeated: 'eleven char' }],
    ['repeated', { repeated: 'correct horse batterx' }],
  ])('a wrong %s is named, and uses nothing up', async (field, changed) => {
    const token = await issue();
    await expect(createFirstAdmin(world, token, typed(changed))).rejects.toMatchObject({
      code: 'validation_failed',
      fields: [{ field }],
    });
    expect(await isFirstAdminToken(base.db, token, world.now())).toBe(true);
  });

  test('used at once by several, it makes one admin', async () => {
    const token = await issue();
    const all = ['a', 'b', 'c', 'd'].map((name) =>
      createFirstAdmin(world, token, typed({ email: `${name}@example.com` })),
    );
    const settled = await Promise.allSettled(all);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of settled) if (one.status === 'rejected') expect(one.reason).toMatchObject(REFUSED);
    expect(await staff()).toHaveLength(1);
  });

  test('used while a command adds somebody, it makes an admin before or nobody', async () => {
    const token = await issue();
    const [byAddress] = await Promise.allSettled([
      createFirstAdmin(world, token, typed()),
      addStaffUser(world, { email: 'ada@example.com' }, commandActor('test')),
    ]);
    expect((await staff()).filter(({ role }) => role === 'admin')).toHaveLength(
      byAddress.status === 'fulfilled' ? 1 : 0,
    );
  });
});
