import type { Database } from '@/db/database';
import type { Actor } from '../../audit/audit-log';
import { createStaffUser, type NewPerson } from './create-staff-user';
import { choosePassword, type StaffUser, type StaffWorld } from './staff-user';
import { storePassword } from './store-password';

export interface NewStaffUser extends NewPerson {
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
