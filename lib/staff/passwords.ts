import { verifyPassword } from 'better-auth/crypto';
import { eq } from 'drizzle-orm';
import { staffUsers } from '@/db/schema';
import type { Actor } from '../audit/audit-log';
import type { StaffSession } from '../auth/find-staff';
import { queueForHash } from '../auth/hash-queue';
import { findPasswordHash, tooManyAttempts } from '../auth/sign-in';
import { countSignIn, forgetSignIns, forgiveSignIn, secondsUntil } from '../auth/sign-in-limit';
import {
  choosePassword,
  type StaffKey,
  type StaffWorld,
  storePassword,
  writeLogin,
  writeOwn,
} from '../auth/staff-user';
import { invalidField } from '../errors';
import { UNKNOWN_ADDRESS } from '../networks';
import { endAppsOf } from '../oauth/connected-apps';
import type { Runtime } from '../runtime';
import { endInvitations } from './invitations';
import { deleteSessions } from './manage-staff';

interface TypedPasswords {
  current: string;
  /** 12 to 128 characters. */
  password: string;
  /** The new one once more. */
  repeated: string;
}

/**
 * Gives a person the password they choose, and ends their other sessions.
 *
 * @throws AppError validation_failed naming the field; too_many_requests
 */
export async function changeOwnPassword(
  runtime: Runtime,
  session: Pick<StaffSession, 'staff' | 'sessionId'>,
  { current, password, repeated }: TypedPasswords,
): Promise<void> {
  if (password !== repeated) throw invalidField('repeated', 'must be the same password');
  await confirmPassword(runtime, session, current, 'current');
  if (password === current) throw invalidField('password', 'must be different from the current one');
  const { hash } = await choosePassword(runtime, password);
  const { staff, sessionId } = session;
  await writeOwn(runtime.db, staff, 'change_password', async (tx, { id }) => {
    await storePassword(tx, id, hash, runtime.newId());
    await tx.update(staffUsers).set({ passwordTemporary: false }).where(eq(staffUsers.id, id));
    return { sessions_ended: await deleteSessions(tx, id, sessionId) };
  });
}

interface GivenPassword {
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
  const { email } = await writeLogin(world.db, actor, key, 'reset_password', async (tx, user) => {
    await storePassword(tx, user.id, hash, world.newId());
    await tx.update(staffUsers).set({ passwordTemporary }).where(eq(staffUsers.id, user.id));
    await endInvitations(tx, user.id);
    const sessions_ended = await deleteSessions(tx, user.id);
    const apps_ended = await endAppsOf(tx, user.id);
    await forgetSignIns(tx, user.email);
    return { sessions_ended, apps_ended };
  });
  return { email, password };
}

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
