import { hashPassword } from 'better-auth/crypto';
import { and, eq, ne } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { staffAccounts, staffRole, staffUsers } from '@/db/schema';
import { transact } from '@/db/transaction';
import { type Actor, auditNumber, recordAudit, staffActor } from '../audit/audit-log';
import { AppError, invalidField } from '../errors';
import type { Runtime } from '../runtime';
import { queueForHash } from './hash-queue';

export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 128;

export const STAFF_ROLES = staffRole.enumValues;
/** `staff` do the daily work. `admin` can also issue tokens and manage staff, for example. */
export type StaffRole = (typeof STAFF_ROLES)[number];

/** The parts of a runtime that are needed to write staff logins. */
export type StaffDeps = Pick<Runtime, 'db' | 'newId' | 'randomBytes'>;

/** Identifies a member of staff. */
export type StaffKey = { id: string } | { email: string };

/** A member of staff with the fields that the audit log keeps. */
export type StaffUser = Pick<typeof staffUsers.$inferSelect, 'id' | 'email' | 'name' | 'role'>;

/** The columns to select for a `StaffUser`. */
export const STAFF_USER_COLUMNS = {
  id: staffUsers.id,
  email: staffUsers.email,
  name: staffUsers.name,
  role: staffUsers.role,
};

/** Returns a member of staff. @throws AppError not_found; validation_failed for an invalid email address */
export async function getStaffUser(db: Database, key: StaffKey): Promise<StaffUser & { created_at: Date }> {
  const found = await findStaffUser(db, key);
  if (found) return found;
  throw new AppError('not_found', 'email' in key ? `${key.email} has no login.` : 'There is no such login.');
}

/** Finds a member of staff, or null. @throws AppError validation_failed for an invalid email address */
export async function findStaffUser(db: Database, key: StaffKey) {
  const [user] = await db
    .select({ ...STAFF_USER_COLUMNS, created_at: staffUsers.createdAt })
    .from(staffUsers)
    .where('id' in key ? eq(staffUsers.id, key.id) : eq(staffUsers.email, toStaffEmail(key.email)));
  return user ?? null;
}

/**
 * Validates an email address and converts it to lower case, as better-auth stores it.
 *
 * @throws AppError validation_failed
 */
export function toStaffEmail(address: string): string {
  const email = address.trim().toLowerCase();
  const known = email.length <= 254 && z.email().safeParse(email).success;
  if (!known) throw invalidField('email', 'must be an e-mail address such as ada@example.com');
  return email;
}

/** Parses a role. @throws AppError validation_failed */
export function toStaffRole(role: string): StaffRole {
  const found = STAFF_ROLES.find((known) => known === role);
  if (!found) throw invalidField('role', `must be one of ${STAFF_ROLES.join(', ')}`);
  return found;
}

/**
 * Returns a password and its hash. Generates a password if none is given.
 *
 * @throws AppError validation_failed; too_many_requests if too many people are signing in
 */
export async function choosePassword({ randomBytes }: StaffDeps, given: string | undefined) {
  const password = given ?? randomBytes(15).toString('base64url');
  if (password.length < MIN_PASSWORD_LENGTH || password.length > MAX_PASSWORD_LENGTH) {
    const bounds = `${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH}`;
    throw invalidField('password', `must have ${bounds} characters`);
  }
  return { password, hash: await queueForHash(null, () => hashPassword(password)) };
}

/**
 * Runs a transaction that changes staff. Only one runs at a time, so that two admins cannot remove each other's role.
 *
 * @throws AppError forbidden if the actor is no longer an admin
 */
export async function writeStaff<T>(
  db: Database,
  actor: Actor,
  work: (tx: Database) => Promise<T>,
): Promise<T> {
  return lockStaff(db, async (tx) => {
    if (actor.type === 'staff' && (await findStaffUser(tx, { id: actor.id }))?.role !== 'admin') {
      throw new AppError('forbidden', 'Only admins can manage staff.');
    }
    return work(tx);
  });
}

/** Runs a transaction under the lock that all writers of staff take. */
export function lockStaff<T>(db: Database, work: (tx: Database) => Promise<T>): Promise<T> {
  return transact(db, work, 'staff', 'staff');
}

/** Work on a member of staff. It returns the details to add to the audit entry. */
type StaffWork = (tx: Database, user: StaffUser) => Promise<Record<string, unknown>>;

/**
 * Runs a transaction in which an admin or a command changes a person's login, and adds an audit entry.
 *
 * @throws AppError, e.g. not_found, or forbidden if the actor is no longer an admin
 */
export function writeLogin(
  db: Database,
  actor: Actor,
  key: StaffKey,
  verb: string,
  work: StaffWork,
): Promise<StaffUser> {
  return writeStaff(db, actor, (tx) => workWithAudit(tx, actor, key, verb, work));
}

/**
 * Runs a transaction in which a person changes their own login, and adds an audit entry.
 *
 * @throws AppError not_found if the person was removed in the meantime
 */
export function writeOwnLogin(
  db: Database,
  login: Pick<StaffUser, 'id' | 'email'>,
  verb: string,
  work: StaffWork,
): Promise<StaffUser> {
  return lockStaff(db, (tx) => workWithAudit(tx, staffActor(login), { id: login.id }, verb, work));
}

async function workWithAudit(tx: Database, actor: Actor, key: StaffKey, verb: string, work: StaffWork) {
  const user = await getStaffUser(tx, key);
  await auditStaff(tx, actor, verb, user, user, await work(tx, user));
  return user;
}

/**
 * Checks that a member of staff may lose their role or be removed.
 *
 * @throws AppError conflict if the login is the actor's own or the last admin's
 */
export async function requireDispensable(tx: Database, actor: Actor, user: StaffUser): Promise<void> {
  if (actor.type === 'staff' && actor.id === user.id) {
    throw new AppError('conflict', 'You cannot change your own role or remove yourself.');
  }
  if (user.role !== 'admin') return;
  const others = await tx.$count(staffUsers, and(eq(staffUsers.role, 'admin'), ne(staffUsers.id, user.id)));
  if (others > 0) return;
  throw new AppError('conflict', `${user.email} is the last admin: make somebody else an admin first.`);
}

/** Adds an audit entry about a member of staff. `extra` contains details that are not in the row. */
export async function auditStaff(
  tx: Database,
  actor: Actor,
  verb: string,
  before: StaffUser | null,
  after: StaffUser | null,
  extra?: Record<string, unknown>,
): Promise<void> {
  const id = (after ?? before)?.id;
  if (id === undefined) throw new Error('an audit entry needs a person');
  await recordAudit(tx, {
    actor,
    action: `staff_user.${verb}`,
    entity: 'staff_user',
    entity_id: auditNumber(id),
    before: before && toImage(before),
    after: after && { ...toImage(after), ...extra },
  });
}

function toImage({ id, email, name, role }: StaffUser) {
  return { id, email, name, role };
}

/** Replaces a person's password, or stores the first password of an invited person. */
export async function storePassword(
  tx: Database,
  userId: string,
  hash: string,
  newId: string,
): Promise<void> {
  const stored = await tx
    .update(staffAccounts)
    .set({ password: hash })
    .where(and(eq(staffAccounts.userId, userId), eq(staffAccounts.providerId, 'credential')))
    .returning({ id: staffAccounts.id });
  if (stored.length > 0) return;
  const account = { accountId: userId, providerId: 'credential', password: hash };
  await tx.insert(staffAccounts).values({ id: newId, userId, ...account });
}
