import { hashPassword } from 'better-auth/crypto';
import { eq } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { staffRole, staffUsers } from '@/db/schema';
import { AppError, invalidField } from '../../errors';
import type { Runtime } from '../../runtime';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../session/staff-auth';
import { queueForHash } from '../sign-in/hash-queue';

export const STAFF_ROLES = staffRole.enumValues;
/** `staff` browse, replay, reconcile and record payments; `admin` issue tokens and manage staff too. */
export type StaffRole = (typeof STAFF_ROLES)[number];

/** What is needed of a runtime to write staff. */
export type StaffWorld = Pick<Runtime, 'db' | 'newId' | 'randomBytes'>;

/** Which member of staff is meant. */
export type StaffKey = { id: string } | { email: string };

/** A member of staff as the audit log keeps one. */
export interface StaffUser {
  id: string;
  email: string;
  name: string;
  role: StaffRole;
}

/** @throws AppError not_found */
export async function getStaffUser(db: Database, key: StaffKey): Promise<StaffUser & { created_at: Date }> {
  const found = await findStaffUser(db, key);
  if (found) return found;
  throw new AppError('not_found', 'email' in key ? `${key.email} has no login.` : 'There is no such login.');
}

/** The same, or null. */
export async function findStaffUser(db: Database, key: StaffKey) {
  const [user] = await db
    .select({
      id: staffUsers.id,
      email: staffUsers.email,
      name: staffUsers.name,
      role: staffUsers.role,
      created_at: staffUsers.createdAt,
    })
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
