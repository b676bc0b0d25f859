import type { Runtime } from '../../runtime';
import { confirmPassword } from '../account/confirm-password';
import { ownActor } from '../account/write-own';
import { getStaffAuth } from '../session/staff-auth';
import { queueForHash } from '../sign-in/hash-queue';
import type { StaffSession } from '../staff/find-staff';
import { getStaffUser } from '../staff/staff-user';
import { auditStaff } from '../staff/write-staff';

/**
 * Makes new recovery codes; the old ones end. What becomes of them is noted first: better-auth writes
 * by itself, outside our transaction.
 *
 * @param headers with the session's cookie
 * @throws AppError validation_failed for a wrong password; too_many_requests
 */
export async function renewRecoveryCodes(
  runtime: Runtime,
  session: StaffSession,
  password: string,
  headers: Headers,
): Promise<string[]> {
  await confirmPassword(runtime, session, password);
  const user = await getStaffUser(runtime.db, { id: session.staff.id });
  const images = { before: user, after: user };
  await auditStaff(runtime.db, ownActor(user), 'renew_recovery_codes', images);
  const { generateBackupCodes } = getStaffAuth(runtime).api;
  return (await queueForHash(null, () => generateBackupCodes({ body: { password }, headers }))).backupCodes;
}
