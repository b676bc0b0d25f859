import { and, eq, gt, sql } from 'drizzle-orm';
import { type Database, lockKey } from '@/db/database';
import { staffUsers, staffVerifications } from '@/db/schema';
import { transact } from '@/db/transaction';
import { type Actor, commandActor } from '../audit/audit-log';
import { findPasswordHash } from '../auth/sign-in';
import type { Credentials } from '../auth/staff-auth';
import {
  auditStaff,
  choosePassword,
  getStaffUser,
  type StaffKey,
  type StaffUser,
  storePassword,
  writeOwn,
  writeStaff,
} from '../auth/staff-user';
import { AppError, invalidField } from '../errors';
import type { Runtime } from '../runtime';
import { hashToken } from '../tokens/access-token';
import { addStaffUser, createStaffUser, type NewPerson } from './manage-staff';

/** The address of an invitation is this and its token. */
const INVITATION_PATH = '/sign-in/invitation';
const INVITED = 'invitation ';
const DAY_MS = 86_400_000;
const TOKEN = /^[\w-]{43}$/;

type World = Pick<Runtime, 'db' | 'now' | 'newId' | 'randomBytes'>;
type SiteWorld = World & Pick<Runtime, 'env'>;

/** The address where the invited person chooses a password within a day. It is shown once. */
export interface Invitation {
  email: string;
  url: string;
}

/**
 * Writes a person down who cannot sign in before they accept.
 *
 * @throws AppError validation_failed, or conflict where the address has a login already
 */
export async function inviteStaffUser(world: SiteWorld, input: NewPerson, actor: Actor): Promise<Invitation> {
  let token = '';
  const { email } = await createStaffUser(world, input, actor, async (tx, { id }) => {
    token = await storeToken(world, tx, id);
    return { invited: true };
  });
  return { email, url: addressOf(world, token) };
}

/**
 * Issues another address for a person who has not accepted. The previous one ends.
 *
 * @throws AppError not_found; conflict if they have a password
 */
export async function renewInvitation(world: SiteWorld, key: StaffKey, actor: Actor): Promise<Invitation> {
  return writeStaff(world.db, actor, async (tx) => {
    const user = await getStaffUser(tx, key);
    if ((await findPasswordHash(tx, user.email)) !== null) {
      throw new AppError('conflict', `${user.email} has already accepted.`);
    }
    const token = await storeToken(world, tx, user.id);
    await auditStaff(tx, actor, 'invite', { before: user, after: user });
    return { email: user.email, url: addressOf(world, token) };
  });
}

/** Who is invited by a token; null where it is not valid, or not any more. Asking does not use it up. */
export async function findInvited(db: Database, token: string, now: Date): Promise<StaffUser | null> {
  if (!TOKEN.test(token)) return null;
  const { id, email, name, role } = staffUsers;
  const [user] = await db
    .select({ id, email, name, role })
    .from(staffVerifications)
    .innerJoin(staffUsers, eq(staffVerifications.identifier, sql`${INVITED}::text || ${id}`))
    .where(and(eq(staffVerifications.value, hashToken(token)), gt(staffVerifications.expiresAt, now)));
  return user ?? null;
}

/** No address leads to the person any more. */
export async function endInvitations(tx: Database, userId: string): Promise<void> {
  await tx.delete(staffVerifications).where(eq(staffVerifications.identifier, INVITED + userId));
}

async function storeToken(
  { now, newId, randomBytes }: SiteWorld,
  tx: Database,
  userId: string,
): Promise<string> {
  await endInvitations(tx, userId);
  const token = randomBytes(32).toString('base64url');
  const expiresAt = new Date(now().getTime() + DAY_MS);
  const row = { id: newId(), identifier: INVITED + userId, value: hashToken(token), expiresAt };
  await tx.insert(staffVerifications).values(row);
  return token;
}

function addressOf({ env }: SiteWorld, token: string): string {
  return `${env.publicUrl}${INVITATION_PATH}/${token}`;
}

/**
 * Stores the password that the invited person chooses, and uses up the invitation.
 *
 * @returns their address, to sign in with
 * @throws AppError validation_failed naming the field; conflict if the invitation is no longer valid
 */
export async function acceptInvitation(
  world: World,
  token: string,
  { password, repeated }: { password: string; repeated: string },
): Promise<string> {
  // Check before hashing, so that guesses cost nothing, and again under the lock.
  const invited = await findInvited(world.db, token, world.now());
  if (!invited) throw invalidInvitation();
  if (password !== repeated) throw invalidField('repeated', 'must be the same password');
  const { hash } = await choosePassword(world, password);
  await writeOwn(world.db, invited, 'accept_invitation', async (tx, { id }) => {
    if (!(await findInvited(tx, token, world.now()))) throw invalidInvitation();
    await endInvitations(tx, id);
    await storePassword(tx, id, hash, world.newId());
    return {};
  });
  return invited.email;
}

function invalidInvitation(): AppError {
  return new AppError('conflict', 'This invitation is no longer valid. Ask an admin for a new one.');
}

/** The one-time address is this and a token. */
export const FIRST_ADMIN_PATH = '/sign-in/first';
const FIRST_ADMIN = 'first-admin';
const HOUR_MS = 3_600_000;

interface TypedAdmin extends Credentials {
  /** The part of the address before the @ where it is empty. */
  name: string;
  /** The password once more. */
  repeated: string;
}

/**
 * Makes the token of the address at which the first admin is made, and voids the one before.
 *
 * @returns null where anybody has a login
 */
export async function issueFirstAdminToken({ db, now, newId, randomBytes }: World): Promise<string | null> {
  const token = randomBytes(32).toString('base64url');
  return transact(
    db,
    async (tx) => {
      await lockKey(tx, 'staff');
      await tx.delete(staffVerifications).where(eq(staffVerifications.identifier, FIRST_ADMIN));
      if ((await tx.$count(staffUsers)) > 0) return null;
      const expiresAt = new Date(now().getTime() + HOUR_MS);
      const row = { id: newId(), identifier: FIRST_ADMIN, value: hashToken(token), expiresAt };
      await tx.insert(staffVerifications).values(row);
      return token;
    },
    'staff',
  );
}

/** Whether this token makes the first admin; asking does not use it up. */
export async function isFirstAdminToken(db: Database, token: string, now: Date): Promise<boolean> {
  const held = await db.$count(staffVerifications, isValid(token, now));
  return held > 0 && (await db.$count(staffUsers)) === 0;
}

/**
 * Makes the first admin and uses the token up.
 *
 * @throws AppError validation_failed naming the field; conflict where the token is not valid any more
 */
export async function createFirstAdmin(world: World, token: string, typed: TypedAdmin): Promise<void> {
  const now = world.now();
  // Check before hashing, so that guesses cost nothing, and again under the lock.
  if (!(await isFirstAdminToken(world.db, token, now))) throw invalidToken();
  if (typed.password !== typed.repeated) throw invalidField('repeated', 'must be the same password');
  await addStaffUser(world, { ...typed, role: 'admin' }, commandActor('one-time address'), async (tx) => {
    if (!(await isFirstAdminToken(tx, token, now))) throw invalidToken();
    await tx.delete(staffVerifications).where(isValid(token, now));
  });
}

function isValid(token: string, now: Date) {
  const { identifier, value, expiresAt } = staffVerifications;
  return and(eq(identifier, FIRST_ADMIN), eq(value, hashToken(token)), gt(expiresAt, now));
}

function invalidToken(): AppError {
  return new AppError(
    'conflict',
    'This address is no longer valid. The server prints a new one when it starts.',
  );
}
