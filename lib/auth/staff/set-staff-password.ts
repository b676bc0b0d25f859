import { eq } from 'drizzle-orm';
import { staffUsers } from '@/db/schema';
import type { Actor } from '../../audit/audit-log';
import { endAppsOf } from '../../oauth/end-access';
import { endInvitations } from '../invitations/invitation';
import { deleteSessions } from '../session/end-staff-sessions';
import { forgetSignIns } from '../sign-in/sign-in-limit';
import { choosePassword, getStaffUser, type StaffKey, type StaffWorld } from './staff-user';
import { storePassword } from './store-password';
import { auditStaff, writeStaff } from './write-staff';

export interface GivenPassword {
  /** 12 to 128 characters; one is made where none is given. */
  password?: string | undefined;
  /** Whether the person has to choose an own one when they next sign in. */
  passwordTemporary?: boolean;
}

/**
 * Replaces a person's password, ends their sessions and the access of their apps, and forgets their failed
 * sign-ins. Their second factor stays.
 *
 * @returns the password, given or made
 * @throws AppError validation_failed, or not_found
 */
export async function setStaffPassword(
  world: StaffWorld,
  key: StaffKey,
  given: GivenPassword,
  actor: Actor,
): Promise<{ email: string; password: string }> {
  const { passwordTemporary = false } = given;
  const { password, hash } = await choosePassword(world, given.password);
  return writeStaff(world.db, actor, async (tx) => {
    const user = await getStaffUser(tx, key);
    await storePassword(tx, user.id, hash, world.newId());
    await tx.update(staffUsers).set({ passwordTemporary }).where(eq(staffUsers.id, user.id));
    await endInvitations(tx, user.id);
    const sessions_ended = await deleteSessions(tx, user.id);
    const apps_ended = await endAppsOf(tx, user.id);
    await forgetSignIns(tx, user.email);
    const extra = { sessions_ended, apps_ended };
    await auditStaff(tx, actor, 'reset_password', { before: user, after: user, extra });
    return { email: user.email, password };
  });
}
