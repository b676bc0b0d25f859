import { and, asc, desc, eq, gt, like, ne, sql } from 'drizzle-orm';
import { type Database, pgErrorCode, UNIQUE_VIOLATION } from '@/db/database';
import { staffAccounts, staffPasskeys, staffSessions, staffUsers, staffVerifications } from '@/db/schema';
import type { Actor } from '../audit/audit-log';
import {
  auditStaff,
  choosePassword,
  getStaffUser,
  requireDispensable,
  STAFF_USER,
  type StaffKey,
  type StaffRole,
  type StaffUser,
  type StaffWorld,
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

/** A page of those who may sign in, by address, with the number of sessions that are open now. */
export async function listStaffUsers(db: Database, request: PageRequest, now: Date) {
  const open = and(eq(staffSessions.userId, staffUsers.id), gt(staffSessions.expiresAt, now));
  return readPage(
    request,
    ({ limit, offset }) =>
      db
        .select({
          ...STAFF_USER,
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

/** Whether anybody may issue tokens and manage staff. */
export async function hasAdmin(db: Database): Promise<boolean> {
  return (await db.$count(staffUsers, eq(staffUsers.role, 'admin'))) > 0;
}

/** The sign-ins of a person that are open now, the latest first. */
export async function openSessionsOf(db: Database, userId: string, now: Date) {
  return db
    .select({ signed_in_at: staffSessions.createdAt })
    .from(staffSessions)
    .where(and(eq(staffSessions.userId, userId), gt(staffSessions.expiresAt, now)))
    .orderBy(desc(staffSessions.createdAt))
    .limit(literal(MAX_SESSIONS_SHOWN));
}

/** The means by which a person can sign in. Unknown persons have none. */
export async function getLoginState(db: Database, userId: string) {
  const ofUser = and(eq(staffAccounts.userId, staffUsers.id), eq(staffAccounts.providerId, 'credential'));
  const [row] = await db
    .select({
      /** None before an invitation is accepted. */
      hasPassword: sql<boolean>`${staffAccounts.password} is not null`,
      /** Another person knows the password. */
      isTemporary: staffUsers.passwordTemporary,
      /** An authenticator app. */
      hasApp: staffUsers.twoFactorEnabled,
    })
    .from(staffUsers)
    .leftJoin(staffAccounts, ofUser)
    .where(eq(staffUsers.id, userId));
  const passkeys = await db.$count(staffPasskeys, eq(staffPasskeys.userId, userId));
  return { hasPassword: false, isTemporary: false, hasApp: false, ...row, passkeys };
}

interface NewStaffUser extends NewPerson {
  /** 12 to 128 characters; one is made where none is given. */
  password?: string | undefined;
  /** Whether the person has to choose an own one when they first sign in. */
  passwordTemporary?: boolean;
}

/**
 * Lets a person sign in.
 *
 * @param condition throws where it may not be, under the lock that all who write staff take
 * @returns the password too, given or made: it is kept nowhere else
 * @throws AppError validation_failed, or conflict where the address has a login already
 */
export async function addStaffUser(
  world: StaffWorld,
  input: NewStaffUser,
  actor: Actor,
  condition?: (tx: Database) => Promise<void>,
): Promise<{ id: string; email: string; password: string }> {
  const { password, hash } = await choosePassword(world, input.password);
  const keep = async (tx: Database, user: StaffUser) => {
    await storePassword(tx, user.id, hash, world.newId());
    return {};
  };
  const { id, email } = await createStaffUser(world, input, actor, keep, condition);
  return { id, email, password };
}

const MAX_NAME_LENGTH = 100;

export interface NewPerson {
  email: string;
  /** The part of the address before the @ where none is given. */
  name?: string | undefined;
  role?: StaffRole | undefined;
}

/**
 * Writes a person down, with what lets them in.
 *
 * @param work writes that, under the lock that all who write staff take; it answers what the log tells beyond
 *   the person
 * @param condition throws where they may not be, under that lock and before they are
 * @throws AppError validation_failed, or conflict where the address has a login already
 */
export async function createStaffUser(
  world: StaffWorld,
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
  const user = { id: world.newId(), email, name, role: input.role ?? 'staff' };
  const { passwordTemporary = false } = input;
  try {
    await writeStaff(world.db, actor, async (tx) => {
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
 * Gives a person another role, from their next request on; the one they have already writes nothing.
 *
 * @throws AppError not_found; conflict for oneself and for the last admin
 */
export async function changeStaffRole(
  db: Database,
  key: StaffKey,
  role: StaffRole,
  actor: Actor,
): Promise<void> {
  await writeStaff(db, actor, async (tx) => {
    const before = await getStaffUser(tx, key);
    if (before.role === role) return;
    await requireDispensable(tx, actor, before);
    await tx.update(staffUsers).set({ role }).where(eq(staffUsers.id, before.id));
    await auditStaff(tx, actor, 'update', before, { ...before, role });
  });
}

/**
 * Ends a person's access at once, with that of the tokens that are theirs. What they wrote stays theirs in the log.
 *
 * @throws AppError not_found; conflict for oneself and for the last admin
 */
export async function removeStaffUser(
  { db, now }: Pick<Runtime, 'db' | 'now'>,
  key: StaffKey,
  actor: Actor,
): Promise<void> {
  await writeStaff(db, actor, async (tx) => {
    const before = await getStaffUser(tx, key);
    await requireDispensable(tx, actor, before);
    await tx.delete(staffUsers).where(eq(staffUsers.id, before.id));
    await revokeAccessTokensOf(tx, before.email, { actor, now: now() });
    await auditStaff(tx, actor, 'delete', before, null);
  });
}

/**
 * Signs a person out everywhere.
 *
 * @throws AppError not_found
 */
export async function endStaffSessions(db: Database, key: StaffKey, actor: Actor): Promise<void> {
  await writeLogin(db, actor, key, 'sign_out', async (tx, { id }) => ({
    sessions_ended: await deleteSessions(tx, id),
  }));
}

/**
 * Ends a person's sessions, and sign-ins whose password was right and whose code is still to come.
 *
 * @param kept the one that stays
 * @returns how many there were
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
