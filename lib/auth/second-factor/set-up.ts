import { createOTP } from '@better-auth/utils/otp';
import { isAPIError } from 'better-auth/api';
import { symmetricDecrypt } from 'better-auth/crypto';
import { eq } from 'drizzle-orm';
import { staffTwoFactors, staffUsers } from '@/db/schema';
import { AppError, invalidField } from '../../errors';
import type { Runtime } from '../../runtime';
import { confirmPassword } from '../account/confirm-password';
import { writeOwn } from '../account/write-own';
import { deleteSessions } from '../session/end-staff-sessions';
import { getStaffAuth } from '../session/staff-auth';
import { queueForHash } from '../sign-in/hash-queue';
import type { StaffSession } from '../staff/find-staff';

export interface NewTwoFactor {
  /** What the authenticator app reads from a picture. */
  uri: string;
  /** Each works once in place of a code. */
  recoveryCodes: string[];
}

/**
 * Makes the secret of an authenticator app; it counts once `confirmTwoFactor` has seen a code of it.
 *
 * @param headers with the session's cookie
 * @throws AppError validation_failed for a wrong password; conflict if the account has an app already
 */
export async function beginTwoFactor(
  runtime: Runtime,
  session: StaffSession,
  password: string,
  headers: Headers,
): Promise<NewTwoFactor> {
  await confirmPassword(runtime, session, password);
  const { enableTwoFactor } = getStaffAuth(runtime).api;
  try {
    const made = await queueForHash(null, () => enableTwoFactor({ body: { password }, headers }));
    if (made.method !== 'totp') throw new Error('better-auth made no secret');
    return { uri: made.totpURI, recoveryCodes: made.backupCodes };
  } catch (error) {
    if (!isAPIError(error)) throw error;
    throw new AppError('conflict', 'An authenticator app is already set up.');
  }
}

/**
 * From now on the person signs in with a code too; their other sessions end.
 *
 * @throws AppError validation_failed for a wrong code; conflict where nothing was begun
 */
export async function confirmTwoFactor(
  runtime: Runtime,
  { staff, sessionId }: StaffSession,
  typed: string,
): Promise<void> {
  const { secretConfig } = await getStaffAuth(runtime).$context;
  await writeOwn(runtime.db, staff, 'set_up_two_factor', async (tx, { id }) => {
    const ofUser = eq(staffTwoFactors.userId, id);
    const [begun] = await tx.select().from(staffTwoFactors).where(ofUser);
    if (!begun || begun.verified) throw new AppError('conflict', 'There is nothing to confirm. Start again.');
    const secret = await symmetricDecrypt({ key: secretConfig, data: begun.secret });
    const isRight = await createOTP(secret, { digits: 6, period: 30 }).verify(typed.replace(/\s/g, ''));
    if (!isRight) throw invalidField('code', 'is not the code the app shows now');
    await tx.update(staffTwoFactors).set({ verified: true }).where(ofUser);
    await tx.update(staffUsers).set({ twoFactorEnabled: true }).where(eq(staffUsers.id, id));
    return { sessions_ended: await deleteSessions(tx, id, sessionId) };
  });
}
