import { hashPassword } from 'better-auth/crypto';
import { and, eq, ne } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, lockKey } from '@/db/database';
import { staffAccounts, staffRole, staffUsers } from '@/db/schema';
import { transact } from '@/db/transaction';
import { type Actor, auditNumber, recordAudit, staffActor } from '../audit/audit-log';
import { AppError, invalidField } from '../errors';
import type { Runtime } from '../runtime';
import { queueForHash } from './hash-queue';

export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 128;

export const STAFF_ROLES = staffRole.enumValues;
/** `staff` browse, replay, reconcile and record payments; `admin` issue tokens and manage staff too. */
export type StaffRole = (typeof STAFF_ROLES)[number];

/** What is needed of a runtime to write staff. */
export type StaffWorld = Pick<Runtime, 'db' | 'newId' | 'randomBytes'>;

/** Which member of staff is meant. */
export type StaffKey = { id: string } | { email: string };

/** A member of staff as the audit log keeps one. */
export type StaffUser = Pick<typeof staffUsers.$inferSelect, 'id' | 'email' | 'name' | 'role'>;

/** The columns of a member of staff, to select. */
export const STAFF_USER = {
  id: staffUsers.id,
  email: staffUsers.email,
  name: staffUsers.name,
  role: staffUsers.role,
};

/** @throws AppError not_found */
export async function getStaffUser(db: Database, key: StaffKey): Promise<StaffUser & { created_at: Date }> {
  const found = await findStaffUser(db, key);
  if (found) return found;
  throw new AppError('not_found', 'email' in key ? `${key.email} has no login.` : 'There is no such login.');
}

/** The same, or null. */
export async function findStaffUser(db: Database, key: StaffKey) {
  const [user] = await db
    .select({ ...STAFF_USER, created_at: staffUsers.createdAt })
    .from(staffUsers)
    .where('id' in key ? eq(staffUsers.id, key.id) : eq(staffUsers.email, toStaffEmail(key.email)));
  return user ?? null;
}

/**
 * As better-auth looks addresses up: in lower case.
 *
 * @throws AppError validation_failed
 */
export function toStaffEmail(address: string): string {
  const email = address.trim().toLowerCase();
  const known = email.length <= 254 && z.email().safeParse(email).success;
  if (!known) throw invalidField('email', 'must be an e-mail address such as ada@example.com');
  return email;
}

/** @throws AppError validation_failed */
export function toStaffRole(role: string): StaffRole {
  const found = STAFF_ROLES.find((known) => known === role);
  if (!found) throw invalidField('role', `must be one of ${STAFF_ROLES.join(', ')}`);
  return found;
}

/**
 * A password and its hash; one is made where none is given.
 *
 * @throws AppError validation_failed; too_many_requests while too many sign in
 */
export async function choosePassword({ randomBytes }: StaffWorld, given: string | undefined) {
  const password = given ?? randomBytes(15).toString('base64url');
  if (password.length < MIN_PASSWORD_LENGTH || password.length > MAX_PASSWORD_LENGTH) {
    const bounds = `${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH}`;
    throw invalidField('password', `must have ${bounds} characters`);
  }
  return { password, hash: await queueForHash(null, () => hashPassword(password)) };
}

/**
 * A transaction that changes staff: one at a time, so that two admins cannot take each other's role away.
 *
 * @throws AppError forbidden where the actor has meanwhile stopped being an admin
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

/** A transaction under the lock that everyone who writes staff takes. */
export function lockStaff<T>(db: Database, work: (tx: Database) => Promise<T>): Promise<T> {
  return transact(
    db,
    async (tx) => {
      await lockKey(tx, 'staff');
      return work(tx);
    },
    'staff',
  );
}

/** Work on a member of staff. It answers what the audit log tells beyond the person. */
type StaffWork = (tx: Database, user: StaffUser) => Promise<Record<string, unknown>>;

/**
 * A transaction in which an admin or a command changes how a person signs in, and notes it.
 *
 * @throws AppError not_found; forbidden where the actor has meanwhile stopped being an admin
 */
export function writeLogin(
  db: Database,
  actor: Actor,
  key: StaffKey,
  verb: string,
  work: StaffWork,
): Promise<StaffUser> {
  return writeStaff(db, actor, (tx) => workNoted(tx, actor, key, verb, work));
}

/**
 * A transaction in which a person changes their own login, and notes it.
 *
 * @throws AppError not_found where they were removed meanwhile
 */
export function writeOwn(
  db: Database,
  login: Pick<StaffUser, 'id' | 'email'>,
  verb: string,
  work: StaffWork,
): Promise<StaffUser> {
  return lockStaff(db, (tx) => workNoted(tx, staffActor(login), { id: login.id }, verb, work));
}

async function workNoted(tx: Database, actor: Actor, key: StaffKey, verb: string, work: StaffWork) {
  const user = await getStaffUser(tx, key);
  await auditStaff(tx, actor, verb, user, user, await work(tx, user));
  return user;
}

/**
 * Before an admin is demoted or removed.
 *
 * @throws AppError conflict for oneself, and for the last admin
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

/** Notes what was done to a member of staff; `extra` is what the row itself does not tell. */
export async function auditStaff(
  tx: Database,
  actor: Actor,
  verb: string,
  before: StaffUser | null,
  after: StaffUser | null,
  extra?: Record<string, unknown>,
): Promise<void> {
  const id = (after ?? before)?.id;
  if (id === undefined) throw new Error('there is nobody to audit');
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
