import { createOTP } from '@better-auth/utils/otp';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/browser';
import { isAPIError } from 'better-auth/api';
import { symmetricDecrypt, verifyPassword } from 'better-auth/crypto';
import { and, asc, eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { staffPasskeys, staffTwoFactors, staffUsers } from '@/db/schema';
import { type Actor, staffActor } from '../audit/audit-log';
import { isTwoFactorRequired, type StaffSession } from '../auth/find-staff';
import { queueForHash } from '../auth/hash-queue';
import { findPasswordHash, tooManyAttempts, toRefusal } from '../auth/sign-in';
import { countSignIn, forgetSignIns, forgiveSignIn, secondsUntil } from '../auth/sign-in-limit';
import { askBetterAuth, getStaffAuth, PASSKEY_COOKIE } from '../auth/staff-auth';
import {
  auditStaff,
  choosePassword,
  getStaffUser,
  lockStaff,
  type StaffDeps,
  type StaffKey,
  storePassword,
  writeLogin,
  writeOwnLogin,
} from '../auth/staff-user';
import { AppError, invalidField } from '../errors';
import { UNKNOWN_ADDRESS } from '../networks';
import { endAppsOf } from '../oauth/connected-apps';
import { literal } from '../page-query';
import type { Runtime } from '../runtime';
import { endInvitations } from './invitations';
import { deleteSessions, type GivenPassword } from './manage-staff';

/**
 * Replaces the password of a signed-in person who knows the current one. Ends their other sessions.
 *
 * @param typed the current password, and twice the new password, which must have 12 to 128 characters
 * @throws AppError validation_failed naming the field; too_many_requests
 */
export async function changeOwnPassword(
  runtime: Runtime,
  session: Pick<StaffSession, 'staff' | 'sessionId'>,
  typed: Record<'current' | 'password' | 'repeated', string>,
): Promise<void> {
  const { current, password, repeated } = typed;
  if (password !== repeated) throw invalidField('repeated', 'must be the same password');
  await confirmPassword(runtime, session, current, 'current');
  if (password === current) throw invalidField('password', 'must be different from the current one');
  const { hash } = await choosePassword(runtime, password);
  const { staff, sessionId } = session;
  await writeOwnLogin(runtime.db, staff, 'change_password', async (tx, { id }) => {
    await storePassword(tx, id, hash, runtime.newId());
    await tx.update(staffUsers).set({ passwordTemporary: false }).where(eq(staffUsers.id, id));
    return { sessions_ended: await deleteSessions(tx, id, sessionId) };
  });
}

/**
 * Replaces another person's password. Ends their sessions, their invitation and the access of their connected apps, and
 * resets their failed sign-ins. Does not change their second factor.
 *
 * @returns the person's email address, and the given or generated password
 * @throws AppError, for example validation_failed or not_found
 */
export async function setStaffPassword(deps: StaffDeps, key: StaffKey, given: GivenPassword, actor: Actor) {
  const { passwordTemporary = false } = given;
  const { password, hash } = await choosePassword(deps, given.password);
  const { email } = await writeLogin(deps.db, actor, key, 'reset_password', async (tx, user) => {
    await storePassword(tx, user.id, hash, deps.newId());
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
 * Checks the password that a signed-in person has entered again. Counts wrong passwords per session, to prevent
 * guessing in a session that was left open.
 *
 * @throws AppError validation_failed naming `field`; too_many_requests
 */
async function confirmPassword(
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

/**
 * Generates the secret of an authenticator app. It takes effect when `confirmTwoFactor` receives a code from the app.
 *
 * @param headers request headers with the session's cookie
 * @returns the URL for the QR code that the app scans, and recovery codes; each recovery code can replace one code from
 *   the app
 * @throws AppError validation_failed for a wrong password; too_many_requests; conflict if the account has an app
 */
export async function beginTwoFactor(
  runtime: Runtime,
  session: StaffSession,
  password: string,
  headers: Headers,
) {
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
 * Turns the authenticator app on, so that signing in also requires a code. The person's other sessions end.
 *
 * @throws AppError validation_failed for a wrong code; conflict if no app waits for confirmation
 */
export async function confirmTwoFactor(runtime: Runtime, { staff, sessionId }: StaffSession, typed: string) {
  const { secretConfig } = await getStaffAuth(runtime).$context;
  await writeOwnLogin(runtime.db, staff, 'set_up_two_factor', async (tx, { id }) => {
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

/**
 * Generates new recovery codes and invalidates the old ones. Better-auth writes outside our transaction, so the audit
 * entry is written first. Then no renewal can lack one.
 *
 * @param headers request headers with the session's cookie
 * @throws AppError validation_failed for a wrong password; too_many_requests; conflict if the account has no app
 */
export async function renewRecoveryCodes(
  runtime: Runtime,
  session: StaffSession,
  password: string,
  headers: Headers,
): Promise<string[]> {
  await confirmPassword(runtime, session, password);
  // The page may be older than the removal of the app. Better-auth would refuse too, but after the audit entry.
  if (!session.hasTwoFactor) throw new AppError('conflict', 'No authenticator app is set up.');
  const user = await getStaffUser(runtime.db, { id: session.staff.id });
  await auditStaff(runtime.db, staffActor(user), 'renew_recovery_codes', user, user);
  const { generateBackupCodes } = getStaffAuth(runtime).api;
  return (await queueForHash(null, () => generateBackupCodes({ body: { password }, headers }))).backupCodes;
}

/**
 * Turns off a person's own authenticator app, and ends their other sessions.
 *
 * @throws AppError validation_failed for a wrong password; too_many_requests; conflict if all staff must use an app
 */
export async function turnOffTwoFactor(runtime: Runtime, session: StaffSession, password: string) {
  await confirmPassword(runtime, session, password);
  await writeOwnLogin(runtime.db, session.staff, 'turn_off_two_factor', async (tx, { id }) => {
    if (await isTwoFactorRequired(tx)) {
      throw new AppError('conflict', 'An admin requires everyone to use an authenticator app.');
    }
    await removeApp(tx, id);
    return { sessions_ended: await deleteSessions(tx, id, session.sessionId) };
  });
}

/**
 * Removes the authenticator app, recovery codes and passkeys of a person who lost them. Ends the person's sessions, and
 * resets their failed sign-ins. Does not change the password.
 *
 * @throws AppError not_found; forbidden; conflict for the actor's own login
 */
export async function resetTwoFactor(db: Database, key: StaffKey, actor: Actor): Promise<void> {
  await writeLogin(db, actor, key, 'reset_two_factor', async (tx, user) => {
    if (actor.type === 'staff' && actor.id === user.id) {
      throw new AppError(
        'conflict',
        'Turn off your own authenticator app under Your account, with your password.',
      );
    }
    const passkeys = await tx
      .delete(staffPasskeys)
      .where(eq(staffPasskeys.userId, user.id))
      .returning({ id: staffPasskeys.id });
    await removeApp(tx, user.id);
    await forgetSignIns(tx, user.email);
    const sessions_ended = await deleteSessions(tx, user.id);
    return { passkeys_removed: passkeys.length, sessions_ended };
  });
}

async function removeApp(tx: Database, userId: string): Promise<void> {
  await tx.delete(staffTwoFactors).where(eq(staffTwoFactors.userId, userId));
  await tx.update(staffUsers).set({ twoFactorEnabled: false }).where(eq(staffUsers.id, userId));
}

/** Maximum number of passkeys per person. It is more than a person needs for all devices. */
const MAX_PASSKEYS = 20;
const MAX_PASSKEY_NAME = 60;
const SESSION = 'session_token';

/** Lists a person's passkeys, the oldest first. */
export async function listPasskeys(db: Database, userId: string) {
  const { id, name, createdAt } = staffPasskeys;
  return db
    .select({ id, name, created_at: createdAt })
    .from(staffPasskeys)
    .where(eq(staffPasskeys.userId, userId))
    .orderBy(asc(createdAt), asc(id))
    .limit(literal(MAX_PASSKEYS));
}

/**
 * Checks a person's password and the name of the new passkey. Returns the options with which the browser creates the
 * passkey.
 *
 * @param headers request headers with the session's cookie
 * @returns the options, and the `Set-Cookie` headers that store their challenge
 * @throws AppError, for example validation_failed for an invalid name or a wrong password, or conflict if there
 *   are too many passkeys
 */
export async function beginPasskey(
  runtime: Runtime,
  session: StaffSession,
  { name, password }: Record<'name' | 'password', string>,
  headers: Headers,
): Promise<{ options: PublicKeyCredentialCreationOptionsJSON; cookies: string[] }> {
  // The device keeps a passkey that is refused later, so everything is checked before it creates one.
  toPasskeyName(name);
  await confirmPassword(runtime, session, password);
  await requirePasskeyRoom(runtime.db, session);
  const path = '/passkey/generate-register-options';
  const answer = await askBetterAuth(runtime, { path, headers, cookies: [SESSION] });
  if (!answer.ok) throw toRefusal(answer, 'Sign in again to add a passkey.');
  return { options: await answer.json(), cookies: answer.headers.getSetCookie() };
}

/** Returns the name of a passkey without spaces around it. @throws AppError validation_failed */
function toPasskeyName(typed: string): string {
  const name = typed.trim();
  if (name !== '' && name.length <= MAX_PASSKEY_NAME) return name;
  throw new AppError('validation_failed', `The name must have 1 to ${MAX_PASSKEY_NAME} characters.`);
}

async function requirePasskeyRoom(db: Database, { staff }: Pick<StaffSession, 'staff'>): Promise<void> {
  const held = await db.$count(staffPasskeys, eq(staffPasskeys.userId, staff.id));
  if (held >= MAX_PASSKEYS)
    throw new AppError('conflict', `You already have ${MAX_PASSKEYS} passkeys: remove one first.`);
}

/**
 * Stores the passkey that the browser created.
 *
 * @param headers request headers with the cookies of the session and of the challenge
 * @throws AppError, for example validation_failed for an invalid name, unauthenticated if the passkey cannot be
 *   verified, or conflict if there are too many passkeys
 */
export async function keepPasskey(
  runtime: Runtime,
  session: Pick<StaffSession, 'staff'>,
  { name, response }: { name: string; response: RegistrationResponseJSON },
  headers: Headers,
): Promise<void> {
  const path = '/passkey/verify-registration';
  const body = { name: toPasskeyName(name), response };
  // Several registrations may have begun before the limit was reached. The lock makes each of them count the passkeys
  // that the others have stored, so better-auth must write in the same transaction.
  const answer = await lockStaff(runtime.db, async (tx) => {
    await requirePasskeyRoom(tx, session);
    const cookies = [SESSION, PASSKEY_COOKIE];
    return askBetterAuth({ ...runtime, db: tx }, { path, body, headers, cookies });
  });
  if (!answer.ok) throw toRefusal(answer, 'The passkey could not be verified. Try again.');
}

/**
 * Removes a person's own passkey.
 *
 * @throws AppError validation_failed for a wrong password; too_many_requests; not_found
 */
export async function removePasskey(runtime: Runtime, session: StaffSession, password: string, id: string) {
  await confirmPassword(runtime, session, password);
  const { staff } = session;
  await writeOwnLogin(runtime.db, staff, 'remove_passkey', async (tx) => {
    const [removed] = await tx
      .delete(staffPasskeys)
      .where(and(eq(staffPasskeys.id, id), eq(staffPasskeys.userId, staff.id)))
      .returning({ name: staffPasskeys.name });
    if (!removed) throw new AppError('not_found', 'There is no such passkey.');
    return { passkey: removed.name };
  });
}
