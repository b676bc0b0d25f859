import { type Database, pgErrorCode, UNIQUE_VIOLATION } from '@/db/database';
import { staffUsers } from '@/db/schema';
import type { Actor } from '../../audit/audit-log';
import { AppError, invalidField } from '../../errors';
import { type StaffRole, type StaffUser, type StaffWorld, toStaffEmail } from './staff-user';
import { auditStaff, writeStaff } from './write-staff';

export const MAX_NAME_LENGTH = 100;

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
      await auditStaff(tx, actor, 'create', { before: null, after: user, extra });
    });
  } catch (error) {
    if (pgErrorCode(error) !== UNIQUE_VIOLATION) throw error;
    throw new AppError('conflict', `${email} has a login already: set a new password for it instead.`);
  }
  return user;
}
