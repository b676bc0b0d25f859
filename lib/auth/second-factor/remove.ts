import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { staffPasskeys, staffTwoFactors, staffUsers } from '@/db/schema';
import type { Actor } from '../../audit/audit-log';
import { AppError } from '../../errors';
import type { Runtime } from '../../runtime';
import { confirmPassword } from '../account/confirm-password';
import { writeOwn } from '../account/write-own';
import { deleteSessions } from '../session/end-staff-sessions';
import { forgetSignIns } from '../sign-in/sign-in-limit';
import type { StaffSession } from '../staff/find-staff';
import { getStaffUser, type StaffKey } from '../staff/staff-user';
import { auditStaff, writeStaff } from '../staff/write-staff';
import { isTwoFactorRequired } from './demand';

/**
 * A person stops using their authenticator app.
 *
 * @throws AppError validation_failed for a wrong password; conflict while an app is demanded of everybody
 */
export async function turnOffTwoFactor(
  runtime: Runtime,
  session: StaffSession,
  password: string,
): Promise<void> {
  await confirmPassword(runtime, session, password);
  await writeOwn(runtime.db, session.staff, 'turn_off_two_factor', async (tx, { id }) => {
    if (await isTwoFactorRequired(tx)) {
      throw new AppError('conflict', 'An admin requires everyone to use an authenticator app.');
    }
    await removeApp(tx, id);
    return { sessions_ended: await deleteSessions(tx, id, session.sessionId) };
  });
}

/**
 * Removes the authenticator app, recovery codes and passkeys of a person who lost them, and ends all sessions. The
 * password stays.
 *
 * @throws AppError not_found; conflict for oneself
 */
export async function resetTwoFactor(db: Database, key: StaffKey, actor: Actor): Promise<void> {
  await writeStaff(db, actor, async (tx) => {
    const user = await getStaffUser(tx, key);
    if (actor.type === 'staff' && actor.id === user.id) {
      throw new AppError('conflict', 'Turn off your own under Your account, with your password.');
    }
    const passkeys_removed = (
      await tx
        .delete(staffPasskeys)
        .where(eq(staffPasskeys.userId, user.id))
        .returning({ id: staffPasskeys.id })
    ).length;
    await removeApp(tx, user.id);
    await forgetSignIns(tx, user.email);
    const sessions_ended = await deleteSessions(tx, user.id);
    const extra = { passkeys_removed, sessions_ended };
    await auditStaff(tx, actor, 'reset_two_factor', { before: user, after: user, extra });
  });
}

async function removeApp(tx: Database, userId: string): Promise<void> {
  await tx.delete(staffTwoFactors).where(eq(staffTwoFactors.userId, userId));
  await tx.update(staffUsers).set({ twoFactorEnabled: false }).where(eq(staffUsers.id, userId));
}
