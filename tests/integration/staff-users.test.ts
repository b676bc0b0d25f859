import { eq } from 'drizzle-orm';
import { beforeEach, expect, test } from 'vitest';
import { auditLog, staffAccounts, staffSessions, staffUsers, staffVerifications } from '@/db/schema';
import { type Actor, commandActor, listAudit, listAuditOf } from '@/lib/audit/audit-log';
import { getStaffAuth } from '@/lib/auth/staff-auth';
import { findStaffUser, getStaffUser, type StaffRole } from '@/lib/auth/staff-user';
import { setStaffPassword } from '@/lib/staff/credentials';
import {
  acceptInvitation,
  createFirstAdmin,
  inviteStaffUser,
  isFirstAdminToken,
  issueFirstAdminToken,
  renewInvitation,
} from '@/lib/staff/invitations';
import {
  addStaffUser,
  changeStaffRole,
  endStaffSessions,
  hasAdmin,
  listStaffUsers,
  openSessionsOf,
  removeStaffUser,
} from '@/lib/staff/manage-staff';
import { verifyAccessToken } from '@/lib/tokens/access-token';
import { getAccessToken, issueAccessToken } from '@/lib/tokens/manage-access-tokens';
import { useDatabase } from '../support/database';
import { type TestRuntime, testRuntime } from '../support/runtime';
import { quickHash, SECRET, useHash } from '../support/sign-in';

const base = useDatabase();
useHash(quickHash);
const CLI = commandActor('test');
let world: TestRuntime;

beforeEach(async () => {
  world = testRuntime(base.db, { env: { BETTER_AUTH_SECRET: SECRET }, now: new Date() });
  for (const table of [staffUsers, staffVerifications, auditLog]) await base.db.delete(table);
});

const add = (email: string, role: StaffRole = 'staff', actor = CLI) =>
  addStaffUser(world, { email, role }, actor);
const asStaff = ({ id, email }: { id: string; email: string }): Actor => ({ type: 'staff', id, name: email });
const signIn = (email: string, password: string) =>
  getStaffAuth(world).api.signInEmail({ body: { email, password } });
const list = async () => (await listStaffUsers(base.db, { page: 1, per_page: 25 }, world.now())).data;
const passTime = (seconds: number) => world.setNow(new Date(world.now().getTime() + seconds * 1000));

test('removing a staff user deletes the user’s sessions and revokes only that user’s access tokens', async () => {
  await add('root@example.com', 'admin');
  const { id, password } = await add(' Ada@Example.com ', 'admin');
  expect(password).toMatch(/^[\w-]{20}$/);
  await expect(add('ada@example.com')).rejects.toMatchObject({ code: 'conflict' });
  await signIn('ada@example.com', password);
  const typed = { scopes: ['mcp:read'], hides_personal_data: false, expires: 'never', last_day: '' };
  const issue = (name: string, staff_email: string) =>
    issueAccessToken(world, CLI, { ...typed, name, staff_email });
  const hers = await issue('Hers', ' Ada@Example.com ');
  const programs = await issue('ERP', '');
  const find = ({ token }: { token: string }) => verifyAccessToken(base.db, token, world.now());
  expect(await find(hers)).toMatchObject({ staff_email: 'ada@example.com' });
  expect(await list()).toMatchObject([
    { id, email: 'ada@example.com', name: 'ada', role: 'admin', sessions: 1 },
    { email: 'root@example.com', sessions: 0 },
  ]);
  expect(await openSessionsOf(base.db, id, world.now())).toHaveLength(1);

  await removeStaffUser(world, { email: 'ada@example.com' }, CLI);
  expect(await findStaffUser(base.db, { id })).toBeNull();
  for (const table of [staffSessions, staffAccounts]) {
    expect(await base.db.$count(table, eq(table.userId, id))).toBe(0);
  }
  await expect(removeStaffUser(world, { id }, CLI)).rejects.toMatchObject({ code: 'not_found' });
  expect([await find(hers), await find(programs)]).toEqual([null, expect.anything()]);
  expect(await getAccessToken(base.db, hers.id)).toMatchObject({ staff_email: 'ada@example.com' });
  expect(await listAudit(base.db, 'access_token', hers.id)).toMatchObject([
    { action: 'access_token.revoke', before: { revoked_at: null } },
    { action: 'access_token.create', after: { staff_email: 'ada@example.com' } },
  ]);
});

test('an invitation of a staff user can be accepted once, within a day, unless a newer one replaced it', async () => {
  await add('root@example.com', 'admin');
  const email = 'ada@example.com';
  const { url } = await inviteStaffUser(world, { email }, CLI);
  expect(url).toMatch(/^http:\/\/localhost:3000\/sign-in\/invitation\/[\w-]{43}$/);
  const tokenOf = (address: string) => address.slice(-43);
  const typed = { password: 'correct horse battery', repeated: 'correct horse battery' };
  const later = (ms: number) => ({ ...world, now: () => new Date(world.now().getTime() + ms) });
  expect(JSON.stringify(await base.db.select().from(staffVerifications))).not.toContain(tokenOf(url));

  const newer = tokenOf((await renewInvitation(world, { email }, CLI)).url);
  const ended = { code: 'conflict' };
  await expect(acceptInvitation(world, tokenOf(url), typed)).rejects.toMatchObject(ended);
  await expect(acceptInvitation(later(86_400_000), newer, typed)).rejects.toMatchObject(ended);
  for (const [wrong, field] of [
    [{ ...typed, repeated: 'x' }, 'repeated'],
    [{ password: 'short', repeated: 'short' }, 'password'],
  ] as const) {
    await expect(acceptInvitation(world, newer, wrong)).rejects.toMatchObject({ fields: [{ field }] });
  }
  const both = await Promise.allSettled([1, 2].map(() => acceptInvitation(world, newer, typed)));
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await signIn(email, typed.password);
  await expect(renewInvitation(world, { email }, CLI)).rejects.toMatchObject(ended);
  const { id } = await getStaffUser(base.db, { email });
  const history = await listAuditOf(base.db, 'staff_user', 'id', id);
  const actions = history.map(({ action }) => action.replace('staff_user.', ''));
  expect(actions).toEqual(['accept_invitation', 'invite', 'create']);
});

test('signing a staff user out everywhere ends only that user’s sessions, and every session expires within 13 hours', async () => {
  const joan = await add('joan@example.com');
  const ada = await add('ada@example.com');
  for (const { email, password } of [joan, joan, ada]) await signIn(email, password);
  await endStaffSessions(base.db, { id: joan.id }, CLI);
  expect((await list()).map(({ sessions }) => sessions)).toEqual([1, 0]);
  expect((await signIn(joan.email, joan.password)).user.id).toBe(joan.id);
  passTime(13 * 3600);
  expect((await list()).map(({ sessions }) => sessions)).toEqual([0, 0]);
  expect(await openSessionsOf(base.db, ada.id, world.now())).toEqual([]);
});

test('a new password ends the sessions of a staff user, and each change is logged without passwords', async () => {
  const root = await add('root@example.com', 'admin');
  const actor = asStaff(root);
  const { id, password } = await add('ada@example.com', 'staff', actor);
  await changeStaffRole(base.db, { id }, 'admin', actor);
  await changeStaffRole(base.db, { id }, 'admin', actor);
  await signIn('ada@example.com', password);
  await endStaffSessions(base.db, { id }, actor);
  await signIn('ada@example.com', password);
  const changed = await setStaffPassword(world, { id }, { password: 'another battery staple' }, actor);
  expect(await base.db.$count(staffSessions, eq(staffSessions.userId, id))).toBe(0);
  await expect(signIn('ada@example.com', password)).rejects.toMatchObject({ statusCode: 401 });
  expect((await signIn('ada@example.com', changed.password)).user.id).toBe(id);
  await removeStaffUser(world, { id }, actor);
  const staff = { id, email: 'ada@example.com', name: 'ada', role: 'staff' };
  const admin = { ...staff, role: 'admin' };
  const history = await listAuditOf(base.db, 'staff_user', 'id', id);
  expect(history.map(({ action, before, after }) => [action, before, after])).toEqual([
    ['staff_user.delete', admin, null],
    ['staff_user.reset_password', admin, { ...admin, sessions_ended: 1, apps_ended: 0 }],
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
])('adding a staff user with %j is refused', async (input, field) => {
  await expect(addStaffUser(world, input, CLI)).rejects.toMatchObject({ fields: [{ field }] });
  expect(await base.db.$count(auditLog)).toBe(0);
});

const DEMOTE_OR_REMOVE = [
  (id: string, actor: Actor) => changeStaffRole(base.db, { id }, 'staff', actor),
  (id: string, actor: Actor) => removeStaffUser(world, { id }, actor),
];

test('the last admin cannot be demoted or removed, and admins cannot demote or remove themselves', async () => {
  const root = await add('root@example.com', 'admin');
  await add('joan@example.com');
  for (const write of DEMOTE_OR_REMOVE) {
    await expect(write(root.id, CLI)).rejects.toMatchObject({ code: 'conflict' });
  }
  await add('ada@example.com', 'admin');
  for (const write of DEMOTE_OR_REMOVE) {
    await expect(write(root.id, asStaff(root))).rejects.toMatchObject({ code: 'conflict' });
  }
  expect(await getStaffUser(base.db, { id: root.id })).toMatchObject({ role: 'admin' });
});

test('admins who demote or remove each other at the same time leave at least one admin', async () => {
  for (const write of DEMOTE_OR_REMOVE) {
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

test('a demoted admin cannot finish an admin request that is already in progress', async () => {
  const root = await add('root@example.com', 'admin');
  const ada = await add('ada@example.com', 'admin');
  const joan = await add('joan@example.com');
  await changeStaffRole(base.db, { id: ada.id }, 'staff', asStaff(root));
  const before = await base.db.$count(auditLog);
  const actor = asStaff(ada);
  for (const refused of [
    () => add('new@example.com', 'admin', actor),
    () => changeStaffRole(base.db, { id: joan.id }, 'admin', actor),
    () => setStaffPassword(world, { id: root.id }, {}, actor),
    () => endStaffSessions(base.db, { id: root.id }, actor),
    () => removeStaffUser(world, { id: joan.id }, actor),
  ]) {
    await expect(refused()).rejects.toMatchObject({ code: 'forbidden' });
  }
  expect(await base.db.$count(auditLog)).toBe(before);
  expect((await list()).map(({ role }) => role)).toEqual(['staff', 'staff', 'admin']);
});

const GRACE = { email: 'Grace@Example.com', name: '', password: 'correct horse battery' };
const typed = (changed = {}) => ({ ...GRACE, repeated: GRACE.password, ...changed });
const REFUSED = { code: 'conflict', message: expect.stringMatching(/no longer valid\. The server prints/) };
const issue = async () => {
  const token = await issueFirstAdminToken(world);
  if (token === null) throw new Error('a staff user exists already');
  return token;
};
const isValid = (token: string) => isFirstAdminToken(base.db, token, world.now());
const expectRefused = async (token: string) => {
  expect(await isValid(token)).toBe(false);
  await expect(createFirstAdmin(world, token, typed())).rejects.toMatchObject(REFUSED);
};
const staff = () => base.db.select({ email: staffUsers.email, role: staffUsers.role }).from(staffUsers);

test('the first-admin link creates one admin and is then invalid', async () => {
  const token = await issue();
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(JSON.stringify(await base.db.select().from(staffVerifications))).not.toContain(token);
  for (let i = 0; i < 3; i += 1) expect(await isValid(token)).toBe(true);
  await createFirstAdmin(world, token, typed());
  expect(await staff()).toEqual([{ email: 'grace@example.com', role: 'admin' }]);
  await base.db.delete(staffUsers);
  await expectRefused(token);
  const [entry] = await base.db.select().from(auditLog).where(eq(auditLog.entity, 'staff_user'));
  expect(entry).toMatchObject({
    ...{ actor_type: 'cli', actor_name: 'one-time address', action: 'staff_user.create' },
    after: { email: 'grace@example.com', name: 'grace', role: 'admin' },
  });
});

test('the first-admin link expires after an hour, and when a newer one is issued', async () => {
  const [first, second] = [await issue(), await issue()];
  await expectRefused(first);
  passTime(3599);
  expect(await isValid(second)).toBe(true);
  passTime(1);
  await expectRefused(second);
  expect(await staff()).toEqual([]);
});

test('the first-admin link expires when a staff user is added', async () => {
  const token = await issue();
  await add('ada@example.com');
  await expectRefused(token);
  expect(await issueFirstAdminToken(world)).toBeNull();
  expect(await base.db.$count(staffVerifications)).toBe(0);
});

test('neither an unknown token nor an invalid value uses up the first-admin link', async () => {
  const token = await issue();
  for (const unknown of ['', 'x', 'x'.repeat(43), '%00']) await expectRefused(unknown);
  for (const [field, changed] of [
    ['password', { password: 'eleven char', repeated: 'eleven char' }],
    ['repeated', { repeated: 'correct horse batterx' }],
  ] as const) {
    const made = createFirstAdmin(world, token, typed(changed));
    await expect(made).rejects.toMatchObject({ code: 'validation_failed', fields: [{ field }] });
  }
  expect(await isValid(token)).toBe(true);
});

test('concurrent uses of the first-admin link create one admin', async () => {
  const token = await issue();
  const emails = ['a', 'b', 'c', 'd'].map((name) => `${name}@example.com`);
  const making = emails.map((email) => createFirstAdmin(world, token, typed({ email })));
  const settled = await Promise.allSettled(making);
  expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const one of settled) if (one.status === 'rejected') expect(one.reason).toMatchObject(REFUSED);
  expect(await staff()).toHaveLength(1);
});

test('a first-admin request during the addition of another user creates an admin only if it succeeds', async () => {
  const token = await issue();
  const making = createFirstAdmin(world, token, typed());
  const [{ status }] = await Promise.allSettled([making, add('ada@example.com')]);
  const admins = (await staff()).filter(({ role }) => role === 'admin');
  expect(admins).toHaveLength(status === 'fulfilled' ? 1 : 0);
});
