import { and, eq, gt } from 'drizzle-orm';
import { type Database, lockKey } from '@/db/database';
import { staffUsers, staffVerifications } from '@/db/schema';
import { transact } from '@/db/transaction';
import { commandActor } from '../../audit/audit-log';
import { AppError, invalidField } from '../../errors';
import type { Runtime } from '../../runtime';
import type { Credentials } from '../sign-in/sign-in-request';
import { hashToken } from '../tokens/access-token';
import { addStaffUser } from './add-staff-user';

/** The one-time address is this and a token. */
export const FIRST_ADMIN_PATH = '/sign-in/first';
const PURPOSE = 'first-admin';
const HOUR_MS = 3_600_000;

export interface TypedAdmin extends Credentials {
  /** The part of the address before the @ where it is empty. */
  name: string;
  /** The password once more. */
  repeated: string;
}

type World = Pick<Runtime, 'db' | 'now' | 'newId' | 'randomBytes'>;

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
      await tx.delete(staffVerifications).where(eq(staffVerifications.identifier, PURPOSE));
      if ((await tx.$count(staffUsers)) > 0) return null;
      const expiresAt = new Date(now().getTime() + HOUR_MS);
      const row = { id: newId(), identifier: PURPOSE, value: hashToken(token), expiresAt };
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
  return and(eq(identifier, PURPOSE), eq(value, hashToken(token)), gt(expiresAt, now));
}

function invalidToken(): AppError {
  return new AppError(
    'conflict',
    'This address is no longer valid. The server prints a new one when it starts.',
  );
}
