import { and, eq, gt, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { staffUsers, staffVerifications } from '@/db/schema';
import type { Actor } from '../../audit/audit-log';
import { AppError } from '../../errors';
import type { Runtime } from '../../runtime';
import { findPasswordHash } from '../sign-in/sign-in-origin';
import { createStaffUser, type NewPerson } from '../staff/create-staff-user';
import { getStaffUser, type StaffKey, type StaffUser } from '../staff/staff-user';
import { auditStaff, writeStaff } from '../staff/write-staff';
import { hashToken } from '../tokens/access-token';

/** The address of an invitation is this and its token. */
const INVITATION_PATH = '/sign-in/invitation';
const PURPOSE = 'invitation ';
const DAY_MS = 86_400_000;
const TOKEN = /^[\w-]{43}$/;

type World = Pick<Runtime, 'db' | 'env' | 'now' | 'newId' | 'randomBytes'>;

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
export async function inviteStaffUser(world: World, input: NewPerson, actor: Actor): Promise<Invitation> {
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
export async function renewInvitation(world: World, key: StaffKey, actor: Actor): Promise<Invitation> {
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
    .innerJoin(staffUsers, eq(staffVerifications.identifier, sql`${PURPOSE}::text || ${id}`))
    .where(and(eq(staffVerifications.value, hashToken(token)), gt(staffVerifications.expiresAt, now)));
  return user ?? null;
}

/** No address leads to the person any more. */
export async function endInvitations(tx: Database, userId: string): Promise<void> {
  await tx.delete(staffVerifications).where(eq(staffVerifications.identifier, PURPOSE + userId));
}

async function storeToken({ now, newId, randomBytes }: World, tx: Database, userId: string): Promise<string> {
  await endInvitations(tx, userId);
  const token = randomBytes(32).toString('base64url');
  const expiresAt = new Date(now().getTime() + DAY_MS);
  const row = { id: newId(), identifier: PURPOSE + userId, value: hashToken(token), expiresAt };
  await tx.insert(staffVerifications).values(row);
  return token;
}

function addressOf({ env }: World, token: string): string {
  return `${env.publicUrl}${INVITATION_PATH}/${token}`;
}
