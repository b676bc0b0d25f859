import type {
  PublicKeyCredentialCreationOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/browser';
import { and, asc, eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { staffPasskeys } from '@/db/schema';
import { AppError, invalidField } from '../../errors';
import { literal } from '../../page-query';
import type { Runtime } from '../../runtime';
import { confirmPassword } from '../account/confirm-password';
import { writeOwn } from '../account/write-own';
import { toRefusal } from '../sign-in/sign-in-refusal';
import type { StaffSession } from '../staff/find-staff';
import { askBetterAuth } from './ask-better-auth';
import { PASSKEY_COOKIE } from './plugins';

/** More than a person has devices. */
const MAX_PASSKEYS = 20;
const MAX_NAME_LENGTH = 60;
const SESSION = 'session_token';

/** A person's passkeys, the oldest first. */
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
 * What the browser makes a passkey from.
 *
 * @param headers with the session's cookie
 * @returns the `Set-Cookie` headers of the challenge too
 * @throws AppError validation_failed for a wrong password; conflict for one passkey too many
 */
export async function beginPasskey(
  runtime: Runtime,
  session: StaffSession,
  password: string,
  headers: Headers,
): Promise<{ options: PublicKeyCredentialCreationOptionsJSON; cookies: string[] }> {
  await confirmPassword(runtime, session, password);
  const held = await runtime.db.$count(staffPasskeys, eq(staffPasskeys.userId, session.staff.id));
  if (held >= MAX_PASSKEYS)
    throw new AppError('conflict', `You already have ${MAX_PASSKEYS} passkeys: remove one first.`);
  const path = '/passkey/generate-register-options';
  const answer = await askBetterAuth(runtime, { path, headers, cookies: [SESSION] });
  if (!answer.ok) throw toRefusal(answer, 'Sign in again to add a passkey.');
  return { options: await answer.json(), cookies: answer.headers.getSetCookie() };
}

/**
 * Keeps the passkey that the browser made.
 *
 * @throws AppError validation_failed naming `name`; unauthenticated where it is not what was asked for
 */
export async function keepPasskey(
  runtime: Runtime,
  { name, response }: { name: string; response: RegistrationResponseJSON },
  headers: Headers,
): Promise<void> {
  const known = name.trim();
  if (known === '' || known.length > MAX_NAME_LENGTH) {
    throw invalidField('name', `must have 1 to ${MAX_NAME_LENGTH} characters`);
  }
  const path = '/passkey/verify-registration';
  const body = { name: known, response };
  const answer = await askBetterAuth(runtime, { path, body, headers, cookies: [SESSION, PASSKEY_COOKIE] });
  if (!answer.ok) throw toRefusal(answer, 'The passkey could not be verified. Try again.');
}

/** @throws AppError validation_failed for a wrong password; not_found */
export async function removePasskey(
  runtime: Runtime,
  session: StaffSession,
  password: string,
  id: string,
): Promise<void> {
  await confirmPassword(runtime, session, password);
  const { staff } = session;
  await writeOwn(runtime.db, staff, 'remove_passkey', async (tx) => {
    const [removed] = await tx
      .delete(staffPasskeys)
      .where(and(eq(staffPasskeys.id, id), eq(staffPasskeys.userId, staff.id)))
      .returning({ name: staffPasskeys.name });
    if (!removed) throw new AppError('not_found', 'There is no such passkey.');
    return { passkey: removed.name };
  });
}
