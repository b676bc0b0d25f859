import { and, eq, gt, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { staffUsers, staffVerifications } from '@/db/schema';
import { type Actor, commandActor } from '../audit/audit-log';
import { findPasswordHash } from '../auth/sign-in';
import type { Credentials } from '../auth/staff-auth';
import {
  choosePassword,
  lockStaff,
  STAFF_USER_COLUMNS,
  type StaffKey,
  type StaffUser,
  storePassword,
  writeLogin,
  writeOwnLogin,
} from '../auth/staff-user';
import { AppError, invalidField } from '../errors';
import type { Runtime } from '../runtime';
import { hashToken } from '../tokens/access-token';
import { addStaffUser, createStaffUser, type NewPerson } from './manage-staff';

/** Path of an invitation's URL, to which the token is appended. */
const INVITATION_PATH = '/sign-in/invitation';
const INVITED = 'invitation ';
const DAY_MS = 86_400_000;
const TOKEN = /^[\w-]{43}$/;

type Deps = Pick<Runtime, 'db' | 'now' | 'newId' | 'randomBytes'>;
type SiteDeps = Deps & Pick<Runtime, 'env'>;

/** An invitation. The person can choose a password at `url` within a day. The URL is returned only once. */
export interface Invitation {
  email: string;
  url: string;
}

/**
 * Creates a member of staff without a password, and an invitation with which the person chooses one.
 *
 * @throws AppError, e.g. validation_failed, or conflict if the email address has a login already
 */
export async function inviteStaffUser(deps: SiteDeps, input: NewPerson, actor: Actor): Promise<Invitation> {
  let token = '';
  const { email } = await createStaffUser(deps, input, actor, async (tx, { id }) => {
    token = await storeToken(deps, tx, INVITED + id, DAY_MS);
    return { invited: true };
  });
  return { email, url: addressOf(deps, token) };
}

/**
 * Issues a new invitation to a person who has not accepted the previous one. The previous invitation becomes invalid.
 *
 * @throws AppError not_found; forbidden; conflict if the person has a password
 */
export async function renewInvitation(deps: SiteDeps, key: StaffKey, actor: Actor): Promise<Invitation> {
  let token = '';
  const { email } = await writeLogin(deps.db, actor, key, 'invite', async (tx, user) => {
    if ((await findPasswordHash(tx, user.email)) !== null) {
      throw new AppError('conflict', `${user.email} has already accepted.`);
    }
    token = await storeToken(deps, tx, INVITED + user.id, DAY_MS);
    return {};
  });
  return { email, url: addressOf(deps, token) };
}

/** Returns the person invited with a token, or null if the token is not valid. Does not use up the token. */
export async function findInvited(db: Database, token: string, now: Date): Promise<StaffUser | null> {
  if (!TOKEN.test(token)) return null;
  const [user] = await db
    .select(STAFF_USER_COLUMNS)
    .from(staffVerifications)
    .innerJoin(staffUsers, eq(staffVerifications.identifier, sql`${INVITED}::text || ${staffUsers.id}`))
    .where(isValid(token, now));
  return user ?? null;
}

/** Invalidates all invitations of a person. */
export function endInvitations(tx: Database, userId: string): Promise<void> {
  return endTokens(tx, INVITED + userId);
}

async function endTokens(tx: Database, identifier: string): Promise<void> {
  await tx.delete(staffVerifications).where(eq(staffVerifications.identifier, identifier));
}

/** Creates a token for a one-time URL. Invalidates the previous token with the same identifier. */
async function storeToken(
  { now, newId, randomBytes }: Deps,
  tx: Database,
  identifier: string,
  lastsMs: number,
): Promise<string> {
  await endTokens(tx, identifier);
  const token = randomBytes(32).toString('base64url');
  const expiresAt = new Date(now().getTime() + lastsMs);
  await tx.insert(staffVerifications).values({ id: newId(), identifier, value: hashToken(token), expiresAt });
  return token;
}

function isValid(token: string, now: Date) {
  return and(eq(staffVerifications.value, hashToken(token)), gt(staffVerifications.expiresAt, now));
}

function addressOf({ env }: SiteDeps, token: string): string {
  return `${env.publicUrl}${INVITATION_PATH}/${token}`;
}

/**
 * Stores the password that the invited person chooses, and uses up the invitation.
 *
 * @returns the person's email address, for signing in
 * @throws AppError validation_failed naming the field; conflict if the invitation is not valid; too_many_requests
 */
export async function acceptInvitation(
  deps: Deps,
  token: string,
  { password, repeated }: { password: string; repeated: string },
): Promise<string> {
  // Check before hashing, so that guessed tokens cause no expensive hashing. Check again later, under the lock.
  const invited = await findInvited(deps.db, token, deps.now());
  if (!invited) throw invalidInvitation();
  if (password !== repeated) throw invalidField('repeated', 'must be the same password');
  const { hash } = await choosePassword(deps, password);
  await writeOwnLogin(deps.db, invited, 'accept_invitation', async (tx, { id }) => {
    if (!(await findInvited(tx, token, deps.now()))) throw invalidInvitation();
    await endInvitations(tx, id);
    await storePassword(tx, id, hash, deps.newId());
    return {};
  });
  return invited.email;
}

function invalidInvitation(): AppError {
  return new AppError('conflict', 'This invitation is no longer valid. Ask an admin for a new one.');
}

/** Path of the URL at which the first admin is created. The token is appended to it. */
export const FIRST_ADMIN_PATH = '/sign-in/first';
const FIRST_ADMIN = 'first-admin';
const HOUR_MS = 3_600_000;

interface TypedAdmin extends Credentials {
  /** The person's name. If it is empty, the part of the email address before the @ is used. */
  name: string;
  /** The password, typed a second time. */
  repeated: string;
}

/**
 * Creates the token for the URL at which the first admin is created. Invalidates the previous token.
 *
 * @returns the token, or null if there is already a login
 */
export function issueFirstAdminToken(deps: Deps): Promise<string | null> {
  return lockStaff(deps.db, async (tx) => {
    await endTokens(tx, FIRST_ADMIN);
    return (await tx.$count(staffUsers)) > 0 ? null : storeToken(deps, tx, FIRST_ADMIN, HOUR_MS);
  });
}

/** Returns whether the first admin can be created with a token. Does not use up the token. */
export async function isFirstAdminToken(db: Database, token: string, now: Date): Promise<boolean> {
  const held = await db.$count(
    staffVerifications,
    and(eq(staffVerifications.identifier, FIRST_ADMIN), isValid(token, now)),
  );
  return held > 0 && (await db.$count(staffUsers)) === 0;
}

/**
 * Creates the first admin and uses up the token.
 *
 * @throws AppError validation_failed naming the field; conflict if the token is not valid; too_many_requests
 */
export async function createFirstAdmin(deps: Deps, token: string, typed: TypedAdmin): Promise<void> {
  const now = deps.now();
  // Check before hashing, so that guessed tokens cause no expensive hashing. Check again later, under the lock.
  if (!(await isFirstAdminToken(deps.db, token, now))) throw invalidToken();
  if (typed.password !== typed.repeated) throw invalidField('repeated', 'must be the same password');
  await addStaffUser(deps, { ...typed, role: 'admin' }, commandActor('one-time address'), async (tx) => {
    if (!(await isFirstAdminToken(tx, token, now))) throw invalidToken();
    await endTokens(tx, FIRST_ADMIN);
  });
}

function invalidToken(): AppError {
  return new AppError(
    'conflict',
    'This address is no longer valid. The server prints a new one when it starts.',
  );
}
