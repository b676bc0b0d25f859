import { hashPassword } from 'better-auth/crypto';
import { and, asc, eq } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, pgErrorCode, UNIQUE_VIOLATION } from '@/db/database';
import { staffAccounts, type staffRole, staffSessions, staffUsers } from '@/db/schema';
import { AppError, invalidField } from '../errors';
import type { Runtime } from '../runtime';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from './staff-auth';

export type StaffRole = (typeof staffRole.enumValues)[number];

/** What is needed of a runtime to write staff. */
export type StaffWorld = Pick<Runtime, 'db' | 'newId' | 'randomBytes'>;

export interface NewStaffUser {
  email: string;
  /** The part of the address before the @ where none is given. */
  name?: string | undefined;
  /** 12 to 128 characters; one is made where none is given. */
  password?: string | undefined;
  role?: StaffRole | undefined;
}

/**
 * Lets a person sign in.
 *
 * @returns the password too, given or made: it is kept nowhere else
 * @throws AppError validation_failed, or conflict where the address has a login already
 */
export async function addStaffUser(
  world: StaffWorld,
  input: NewStaffUser,
): Promise<{ id: string; email: string; password: string }> {
  const email = toEmail(input.email);
  const password = input.password ?? newPassword(world);
  const hash = await hashPassword(checkPassword(password));
  const id = world.newId();
  const name = input.name?.trim() || (email.split('@')[0] ?? email);
  try {
    await world.db.transaction(async (tx) => {
      await tx
        .insert(staffUsers)
        .values({ id, email, name, role: input.role ?? 'staff', emailVerified: true });
      await tx
        .insert(staffAccounts)
        .values({ id: world.newId(), userId: id, accountId: id, providerId: 'credential', password: hash });
    });
  } catch (error) {
    if (pgErrorCode(error) !== UNIQUE_VIOLATION) throw error;
    throw new AppError(
      'conflict',
      `${email} has a login already: staff -- reset-password ${email} sets a new password.`,
    );
  }
  return { id, email, password };
}

/**
 * Replaces a person's password and ends their sessions.
 *
 * @returns the password, given or made
 * @throws AppError validation_failed, or not_found for an address without a login
 */
export async function setStaffPassword(
  world: StaffWorld,
  input: { email: string; password?: string | undefined },
): Promise<{ email: string; password: string }> {
  const email = toEmail(input.email);
  const password = input.password ?? newPassword(world);
  const hash = await hashPassword(checkPassword(password));
  await world.db.transaction(async (tx) => {
    const id = await staffIdOf(tx, email);
    await tx
      .update(staffAccounts)
      .set({ password: hash })
      .where(and(eq(staffAccounts.userId, id), eq(staffAccounts.providerId, 'credential')));
    await tx.delete(staffSessions).where(eq(staffSessions.userId, id));
  });
  return { email, password };
}

/**
 * Ends a person's access at once.
 *
 * @throws AppError not_found for an address without a login
 */
export async function removeStaffUser(db: Database, address: string): Promise<void> {
  const email = toEmail(address);
  const removed = await db
    .delete(staffUsers)
    .where(eq(staffUsers.email, email))
    .returning({ id: staffUsers.id });
  if (removed.length === 0) throw noLogin(email);
}

/** Everyone who may sign in, by address. */
export async function listStaffUsers(db: Database) {
  return db
    .select({
      id: staffUsers.id,
      email: staffUsers.email,
      name: staffUsers.name,
      role: staffUsers.role,
      created_at: staffUsers.createdAt,
    })
    .from(staffUsers)
    .orderBy(asc(staffUsers.email));
}

async function staffIdOf(tx: Database, email: string): Promise<string> {
  const [user] = await tx.select({ id: staffUsers.id }).from(staffUsers).where(eq(staffUsers.email, email));
  if (!user) throw noLogin(email);
  return user.id;
}

function noLogin(email: string): AppError {
  return new AppError('not_found', `${email} has no login: staff -- add ${email} makes one.`);
}

/** As better-auth looks addresses up: in lower case. */
function toEmail(address: string): string {
  const email = address.trim().toLowerCase();
  if (!z.email().safeParse(email).success) throw invalidField('email', `${address} is not an e-mail address`);
  return email;
}

function checkPassword(password: string): string {
  if (password.length >= MIN_PASSWORD_LENGTH && password.length <= MAX_PASSWORD_LENGTH) return password;
  throw invalidField('password', `must have ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters`);
}

function newPassword({ randomBytes }: StaffWorld): string {
  return randomBytes(15).toString('base64url');
}
