import { type Database, pgErrorCode, UNIQUE_VIOLATION } from '@/db/database';
import { staffAccounts, staffUsers } from '@/db/schema';
import type { Actor } from '../audit/record-audit';
import { AppError, invalidField } from '../errors';
import { choosePassword, type StaffRole, type StaffWorld, toStaffEmail } from './staff-user';
import { auditStaff, writeStaff } from './write-staff';

export const MAX_NAME_LENGTH = 100;

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
 * @param condition throws where it may not be, under the lock that all who write staff take
 * @returns the password too, given or made: it is kept nowhere else
 * @throws AppError validation_failed, or conflict where the address has a login already
 */
export async function addStaffUser(
  world: StaffWorld,
  input: NewStaffUser,
  actor: Actor,
  condition: (tx: Database) => Promise<void> = async () => {},
): Promise<{ id: string; email: string; password: string }> {
  const email = toStaffEmail(input.email);
  const name = input.name?.trim() || (email.split('@')[0] ?? email);
  if (name.length > MAX_NAME_LENGTH) {
    throw invalidField('name', `must have at most ${MAX_NAME_LENGTH} characters`);
  }
  const { password, hash } = await choosePassword(world, input.password);
  const user = { id: world.newId(), email, name, role: input.role ?? 'staff' };
  try {
    await writeStaff(world.db, actor, async (tx) => {
      await condition(tx);
      await tx.insert(staffUsers).values({ ...user, emailVerified: true });
      await tx.insert(staffAccounts).values({
        id: world.newId(),
        userId: user.id,
        accountId: user.id,
        providerId: 'credential',
        password: hash,
      });
      await auditStaff(tx, actor, 'create', { before: null, after: user });
    });
  } catch (error) {
    if (pgErrorCode(error) !== UNIQUE_VIOLATION) throw error;
    throw new AppError('conflict', `${email} has a login already: set a new password for it instead.`);
  }
  return { id: user.id, email, password };
}
