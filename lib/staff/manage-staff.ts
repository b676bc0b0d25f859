import { and, asc, desc, eq, gt, like, ne, sql } from 'drizzle-orm';
import { type Database, pgErrorCode, UNIQUE_VIOLATION } from '@/db/database';
import { staffAccounts, staffPasskeys, staffSessions, staffUsers, staffVerifications } from '@/db/schema';
import type { Actor } from '../audit/audit-log';
import {
  auditStaff,
  choosePassword,
  getStaffUser,
  requireDispensable,
  STAFF_USER_COLUMNS,
  type StaffDeps,
  type StaffKey,
  type StaffRole,
  type StaffUser,
  storePassword,
  toStaffEmail,
  writeLogin,
  writeStaff,
} from '../auth/staff-user';
import { AppError, invalidField } from '../errors';
import type { PageRequest } from '../page';
import { literal, readPage } from '../page-query';
import type { Runtime } from '../runtime';
import { revokeAccessTokensOf } from '../tokens/manage-access-tokens';

const MAX_SESSIONS_SHOWN = 100;

export type StaffListRow = Awaited<ReturnType<typeof listStaffUsers>>['data'][number];

/** Lists a page of staff, sorted by email address, with the number of each person's open sessions. */
export async function listStaffUsers(db: Database, request: PageRequest, now: Date) {
  const open = and(eq(staffSessions.userId, staffUsers.id), gt(staffSessions.expiresAt, now));
  return readPage(
    request,
    ({ limit, offset }) =>
      db
        .select({
          ...STAFF_USER_COLUMNS,
          created_at: staffUsers.createdAt,
          sessions: sql<number>`count(${staffSessions.id})::int`,
        })
        .from(staffUsers)
        .leftJoin(staffSessions, open)
        .groupBy(staffUsers.id)
        .orderBy(asc(staffUsers.email))
        .limit(limit)
        .offset(offset),
    () => db.$count(staffUsers),
  );
}

/** Returns whether any member of staff is an admin. Of the staff, only admins can issue tokens and manage staff. */
export async function hasAdmin(db: Database): Promise<boolean> {
  return (await db.$count(staffUsers, eq(staffUsers.role, 'admin'))) > 0;
}

/** Lists the start times of a person's latest 100 open sessions, newest first. */
export async function openSessionsOf(db: Database, userId: string, now: Date) {
  return db
    .select({ signed_in_at: staffSessions.createdAt })
    .from(staffSessions)
    .where(and(eq(staffSessions.userId, userId), gt(staffSessions.expiresAt, now)))
    .orderBy(desc(staffSessions.createdAt))
    .limit(literal(MAX_SESSIONS_SHOWN));
}

/** Returns the ways in which a person can sign in. For an unknown person, all values are false or 0. */
export async function getLoginState(db: Database, userId: string) {
  const ofUser = and(eq(staffAccounts.userId, staffUsers.id), eq(staffAccounts.providerId, 'credential'));
  const [row] = await db
    .select({
      /** False before the invitation is accepted. */
      hasPassword: sql<boolean>`${staffAccounts.password} is not null`,
      /** Whether the person must replace the password, because another person set it. */
      isTemporary: staffUsers.passwordTemporary,
      /** Whether the person has an authenticator app. */
      hasApp: staffUsers.twoFactorEnabled,
    })
    .from(staffUsers)
    .leftJoin(staffAccounts, ofUser)
    .where(eq(staffUsers.id, userId));
  const passkeys = await db.$count(staffPasskeys, eq(staffPasskeys.userId, userId));
  return { hasPassword: false, isTemporary: false, hasApp: false, ...row, passkeys };
}

/** A password that an admin or a command sets for a person. */
export interface GivenPassword {
  /** Password with 12 to 128 characters. Generated if absent. */
  password?: string | undefined;
  /** Whether the person must choose their own password when they next sign in. */
  passwordTemporary?: boolean;
}

/**
 * Creates a login with a password.
 *
 * @param condition function that throws if the person must not be added; it runs while `writeStaff` holds its lock
 * @returns the login with the given or generated password; only the password's hash is stored
 * @throws AppError, e.g. validation_failed, or conflict if the email address has a login already
 */
export async function addStaffUser(
  deps: StaffDeps,
  input: NewPerson & GivenPassword,
  actor: Actor,
  condition?: (tx: Database) => Promise<void>,
): Promise<{ id: string; email: string; password: string }> {
  const { password, hash } = await choosePassword(deps, input.password);
  const keep = async (tx: Database, user: StaffUser) => {
    await storePassword(tx, user.id, hash, deps.newId());
    return {};
  };
  const { id, email } = await createStaffUser(deps, input, actor, keep, condition);
  return { id, email, password };
}

const MAX_NAME_LENGTH = 100;

export interface NewPerson {
  email: string;
  /** The person's name. Defaults to the part of the email address before the @. */
  name?: string | undefined;
  role?: StaffRole | undefined;
}

/**
 * Creates a member of staff.
 *
 * @param work function that writes the password or the invitation, and returns further details for the audit entry. It
 *   runs while `writeStaff` holds its lock.
 * @param condition function that throws if the person must not be added. It runs under the same lock, before the person
 *   is written.
 * @throws AppError, e.g. validation_failed, or conflict if the email address has a login already
 */
export async function createStaffUser(
  deps: StaffDeps,
  input: NewPerson & { passwordTemporary?: boolean },
  actor: Actor,
  work: (tx: Database, user: StaffUser) => Promise<Record<string, unknown>>,
  condition: (tx: Database) => Promise<void> = async () => {},
): Promise<StaffUser> {
  const email = toStaffEmail(input.email);
  const name = input.name?.trim() || (email.split('@')[0] ?? email);
  if (name.length > MAX_NAME_LENGTH) {
    throw invalidField('name', `must have at most ${MAX_NAME_LENGTH} characters`);
  }
  const user = { id: deps.newId(), email, name, role: input.role ?? 'staff' };
  const { passwordTemporary = false } = input;
  try {
    await writeStaff(deps.db, actor, async (tx) => {
      await condition(tx);
      await tx.insert(staffUsers).values({ ...user, emailVerified: true, passwordTemporary });
      const extra = await work(tx, user);
      await auditStaff(tx, actor, 'create', null, user, extra);
    });
  } catch (error) {
    if (pgErrorCode(error) !== UNIQUE_VIOLATION) throw error;
    throw new AppError('conflict', `${email} has a login already: set a new password for it instead.`);
  }
  return user;
}

/**
 * Changes a person's role. The new role takes effect with their next request. Writes nothing if the role is the same.
 *
 * @throws AppError not_found; forbidden; conflict for the actor's own login and for the last admin
 */
export async function changeStaffRole(db: Database, key: StaffKey, role: StaffRole, actor: Actor) {
  await writeStaff(db, actor, async (tx) => {
    const before = await getStaffUser(tx, key);
    if (before.role === role) return;
    await requireDispensable(tx, actor, before);
    await tx.update(staffUsers).set({ role }).where(eq(staffUsers.id, before.id));
    await auditStaff(tx, actor, 'update', before, { ...before, role });
  });
}

/**
 * Deletes a person's login and revokes their access tokens. Their access ends immediately. Audit entries keep the
 * person's name.
 *
 * @throws AppError not_found; forbidden; conflict for the actor's own login and for the last admin
 */
export async function removeStaffUser({ db, now }: Pick<Runtime, 'db' | 'now'>, key: StaffKey, actor: Actor) {
  await writeStaff(db, actor, async (tx) => {
    const before = await getStaffUser(tx, key);
    await requireDispensable(tx, actor, before);
    await tx.delete(staffUsers).where(eq(staffUsers.id, before.id));
    await revokeAccessTokensOf(tx, before.email, { actor, now: now() });
    await auditStaff(tx, actor, 'delete', before, null);
  });
}

/**
 * Ends all sessions of a person. Connected apps keep their access.
 *
 * @throws AppError not_found; forbidden
 */
export async function endStaffSessions(db: Database, key: StaffKey, actor: Actor): Promise<void> {
  await writeLogin(db, actor, key, 'sign_out', async (tx, { id }) => ({
    sessions_ended: await deleteSessions(tx, id),
  }));
}

/**
 * Deletes a person's sessions, and their unfinished sign-ins that still need a code.
 *
 * @param kept id of a session that stays open
 * @returns the number of ended sessions
 */
export async function deleteSessions(tx: Database, userId: string, kept?: string): Promise<number> {
  const others = kept === undefined ? undefined : ne(staffSessions.id, kept);
  const ended = await tx
    .delete(staffSessions)
    .where(and(eq(staffSessions.userId, userId), others))
    .returning({ id: staffSessions.id });
  const { identifier, value } = staffVerifications;
  await tx.delete(staffVerifications).where(and(eq(value, userId), like(identifier, '2fa-%')));
  return ended.length;
}
