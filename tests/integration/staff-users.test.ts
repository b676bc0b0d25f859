import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { auditLog, staffAccounts, staffSessions, staffUsers } from '@/db/schema';
import { listAuditOf } from '@/lib/audit/list-audit';
import { type Actor, commandActor } from '@/lib/audit/record-audit';
import { addStaffUser } from '@/lib/auth/add-staff-user';
import { changeStaffRole } from '@/lib/auth/change-staff-role';
import { endStaffSessions } from '@/lib/auth/end-staff-sessions';
import { hasAdmin, listStaffUsers, openSessionsOf } from '@/lib/auth/list-staff-users';
import { removeStaffUser } from '@/lib/auth/remove-staff-user';
import { setStaffPassword } from '@/lib/auth/set-staff-password';
import { getStaffAuth } from '@/lib/auth/staff-auth';
import { findStaffUser, getStaffUser, type StaffRole } from '@/lib/auth/staff-user';
import { useDatabase } from '../support/database';
import { type TestRuntime, testRuntime } from '../support/runtime';

const SECRET = 'a-secret-of-tests-with-enough-characters';
const CLI = commandActor('test');

describe('staff', () => {
  const base = useDatabase();
  let world: TestRuntime;

  beforeEach(async () => {
    world = testRuntime(base.db, { env: { BETTER_AUTH_SECRET: SECRET }, now: new Date() });
    await base.db.delete(staffUsers);
    await base.db.delete(auditLog);
  });

  const add = (email: string, role: StaffRole = 'staff', actor = CLI) =>
    addStaffUser(world, { email, role }, actor);
  const asStaff = ({ id, email }: { id: string; email: string }): Actor => ({
    type: 'staff',
    id,
    name: email,
  });
  const signIn = (email: string, password: string) =>
    getStaffAuth(world).api.signInEmail({ body: { email, password } });
  const list = async () => (await listStaffUsers(base.db, { page: 1, per_page: 25 }, world.now())).data;

  test('are added once an address, listed, and removed with their sessions', async () => {
    await add('root@example.com', 'admin');
    const { id, password } = await add(' Ada@Example.com ', 'admin');
    expect(password).toMatch(/^[\w-]{20}$/);
    await expect(add('ada@example.com')).rejects.toMatchObject({ code: 'conflict' });
    await signIn('ada@example.com', password);
    expect(await list()).toMatchObject([
      { id, email: 'ada@example.com', name: 'ada', role: 'admin', sessions: 1 },
      { email: 'root@example.com', sessions: 0 },
    ]);
    expect(await openSessionsOf(base.db, id, world.now())).toHaveLength(1);
    await removeStaffUser(base.db, { email: 'ada@example.com' }, CLI);
    expect(await findStaffUser(base.db, { id })).toBeNull();
    for (const table of [staffSessions, staffAccounts]) {
      expect(await base.db.select().from(table).where(eq(table.userId, id))).toEqual([]);
    }
    await expect(removeStaffUser(base.db, { id }, CLI)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a new password ends the sessions and the old password', async () => {
    const { id, email, password } = await add('joan@example.com');
    await signIn(email, password);
    const changed = await setStaffPassword(world, { id }, undefined, CLI);
    expect(await base.db.$count(staffSessions, eq(staffSessions.userId, id))).toBe(0);
    await expect(signIn(email, password)).rejects.toMatchObject({ statusCode: 401 });
    expect((await signIn(email, changed.password)).user.id).toBe(id);
  });

  test('signing out everywhere leaves the password and the others', async () => {
    const joan = await add('joan@example.com');
    const ada = await add('ada@example.com');
    for (const { email, password } of [joan, joan, ada]) await signIn(email, password);
    await endStaffSessions(base.db, { id: joan.id }, CLI);
    expect((await list()).map(({ sessions }) => sessions)).toEqual([1, 0]);
    expect((await signIn(joan.email, joan.password)).user.id).toBe(joan.id);
  });

  test('a session that is over is not open', async () => {
    const { id, email, password } = await add('joan@example.com');
    await signIn(email, password);
    world.setNow(new Date(world.now().getTime() + 13 * 3_600_000));
    expect(await list()).toMatchObject([{ sessions: 0 }]);
    expect(await openSessionsOf(base.db, id, world.now())).toEqual([]);
  });

  test('what was done to a person is noted with who did it, and no password', async () => {
    const root = await add('root@example.com', 'admin');
    const actor = asStaff(root);
    const { id, password } = await add('ada@example.com', 'staff', actor);
    await changeStaffRole(base.db, { id }, 'admin', actor);
    await changeStaffRole(base.db, { id }, 'admin', actor);
    await signIn('ada@example.com', password);
    await endStaffSessions(base.db, { id }, actor);
    const changed = await setStaffPassword(world, { id }, 'another battery staple', actor);
    await removeStaffUser(base.db, { id }, actor);
    const person = { id, email: 'ada@example.com', name: 'ada' };
    const staff = { ...person, role: 'staff' };
    const admin = { ...person, role: 'admin' };
    const history = await listAuditOf(base.db, 'staff_user', 'id', id);
    expect(history.map(({ action, before, after }) => [action, before, after])).toEqual([
      ['staff_user.delete', admin, null],
      ['staff_user.reset_password', admin, { ...admin, sessions_ended: 0 }],
      ['staff_user.sign_out', admin, { ...admin, sessions_ended: 1 }],
      ['staff_user.update', staff, admin],
      ['staff_user.create', null, staff],
    ]);
    expect(new Set(history.map(({ actor_name }) => actor_name))).toEqual(new Set(['root@example.com']));
    const log = JSON.stringify(await base.db.select().from(auditLog));
    for (const secret of [password, changed.password]) expect(log).not.toContain(secret);
  });

  test.each([
    [{ email: 'nobody' }, 'email'],
    [{ email: `${'x'.repeat(250)}@example.com` }, 'email'],
    [{ email: 'long@example.com', name: 'x'.repeat(101) }, 'name'],
    [{ email: 'short@example.com', password: 'eleven char' }, 'password'],
    [{ email: 'long@example.com', password: 'x'.repeat(129) }, 'password'],
  ])('%j is refused', async (input, field) => {
    await expect(addStaffUser(world, input, CLI)).rejects.toMatchObject({ fields: [{ field }] });
    expect(await base.db.$count(auditLog)).toBe(0);
  });

  describe('there is always an admin', () => {
    test('the last one is neither demoted nor removed, not even by a command', async () => {
      const { id } = await add('root@example.com', 'admin');
      await add('joan@example.com');
      for (const refused of [
        () => changeStaffRole(base.db, { id }, 'staff', CLI),
        () => removeStaffUser(base.db, { id }, CLI),
      ]) {
        await expect(refused()).rejects.toMatchObject({ code: 'conflict' });
      }
      expect(await getStaffUser(base.db, { id })).toMatchObject({ role: 'admin' });
    });

    test('nobody demotes or removes themselves', async () => {
      const root = await add('root@example.com', 'admin');
      await add('ada@example.com', 'admin');
      const key = { id: root.id };
      for (const refused of [
        () => changeStaffRole(base.db, key, 'staff', asStaff(root)),
        () => removeStaffUser(base.db, key, asStaff(root)),
      ]) {
        await expect(refused()).rejects.toMatchObject({ code: 'conflict' });
      }
    });

    test('admins who demote or remove each other at once leave one', async () => {
      for (const write of [
        (id: string, actor: Actor) => changeStaffRole(base.db, { id }, 'staff', actor),
        (id: string, actor: Actor) => removeStaffUser(base.db, { id }, actor),
      ]) {
        await base.db.delete(staffUsers);
        const admins: Awaited<ReturnType<typeof add>>[] = [];
        for (const name of ['a', 'b', 'c', 'd']) admins.push(await add(`${name}@example.com`, 'admin'));
        const writes = admins.flatMap((by) =>
          admins.filter((who) => who !== by).map((who) => write(who.id, asStaff(by))),
        );
        const outcomes = await Promise.allSettled(writes);
        const refusals = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
        for (const code of refusals) expect(['conflict', 'forbidden', 'not_found']).toContain(code);
        expect(await base.db.$count(staffUsers, eq(staffUsers.role, 'admin'))).toBeGreaterThanOrEqual(1);
        expect(await hasAdmin(base.db)).toBe(true);
      }
    });

    test('whoever is no admin any more changes nothing with a request already on its way', async () => {
      const root = await add('root@example.com', 'admin');
      const ada = await add('ada@example.com', 'admin');
      const joan = await add('joan@example.com');
      await changeStaffRole(base.db, { id: ada.id }, 'staff', asStaff(root));
      const before = await base.db.$count(auditLog);
      const actor = asStaff(ada);
      for (const refused of [
        () => add('new@example.com', 'admin', actor),
        () => changeStaffRole(base.db, { id: joan.id }, 'admin', actor),
        () => setStaffPassword(world, { id: root.id }, undefined, actor),
        () => endStaffSessions(base.db, { id: root.id }, actor),
        () => removeStaffUser(base.db, { id: joan.id }, actor),
      ]) {
        await expect(refused()).rejects.toMatchObject({ code: 'forbidden' });
      }
      expect(await base.db.$count(auditLog)).toBe(before);
      expect((await list()).map(({ role }) => role)).toEqual(['staff', 'staff', 'admin']);
    });
  });
});
