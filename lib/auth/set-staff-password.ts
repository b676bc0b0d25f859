import { and, eq } from 'drizzle-orm';
import { staffAccounts } from '@/db/schema';
import type { Actor } from '../audit/record-audit';
import { deleteSessions } from './end-staff-sessions';
import { forgetSignIns } from './sign-in-limit';
import { choosePassword, getStaffUser, type StaffKey, type StaffWorld } from './staff-user';
import { auditStaff, writeStaff } from './write-staff';

/**
 * Replaces a person's password, ends their sessions and forgets their failed sign-ins.
 *
 * @param given 12 to 128 characters; one is made where none is given
 * @returns the password, given or made
 * @throws AppError validation_failed, or not_found
 */
export async function setStaffPassword(
  world: StaffWorld,
  key: StaffKey,
  given: string | undefined,
  actor: Actor,
): Promise<{ email: string; password: string }> {
  const { password, hash } = await choosePassword(world, given);
  return writeStaff(world.db, actor, async (tx) => {
    const user = await getStaffUser(tx, key);
    await tx
      .update(staffAccounts)
      .set({ password: hash })
      .where(and(eq(staffAccounts.userId, user.id), eq(staffAccounts.providerId, 'credential')));
    const sessions_ended = await deleteSessions(tx, user.id);
    await forgetSignIns(tx, user.email);
    await auditStaff(tx, actor, 'reset_password', { before: user, after: user, extra: { sessions_ended } });
    return { email: user.email, password };
  });
}
