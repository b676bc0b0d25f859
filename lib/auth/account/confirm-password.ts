import { verifyPassword } from 'better-auth/crypto';
import { invalidField } from '../../errors';
import type { Runtime } from '../../runtime';
import { UNKNOWN_ADDRESS } from '../sign-in/counted-address';
import { queueForHash } from '../sign-in/hash-queue';
import { countSignIn, forgiveSignIn, secondsUntil } from '../sign-in/sign-in-limit';
import { findPasswordHash } from '../sign-in/sign-in-origin';
import { tooManyAttempts } from '../sign-in/sign-in-refusal';
import type { StaffSession } from '../staff/find-staff';

/**
 * Asks signed-in staff for their password once more. Wrong passwords count against the session, so that a session left
 * open cannot be used to guess it.
 *
 * @throws AppError validation_failed naming `field`; too_many_requests
 */
export async function confirmPassword(
  { db, now }: Pick<Runtime, 'db' | 'now'>,
  { staff: { email }, sessionId }: Pick<StaffSession, 'staff' | 'sessionId'>,
  password: string,
  field = 'password',
): Promise<void> {
  const origin = { deviceId: sessionId, address: UNKNOWN_ADDRESS };
  const until = await countSignIn(db, email, origin, now());
  if (until) throw tooManyAttempts(secondsUntil(until, now()));
  const hash = await findPasswordHash(db, email);
  const isRight = hash !== null && (await queueForHash(null, () => verifyPassword({ hash, password })));
  if (!isRight) throw invalidField(field, 'is not your password');
  await forgiveSignIn(db, email, origin, now());
}
