import { eq } from 'drizzle-orm';
import { staffUsers } from '@/db/schema';
import { AppError } from '../../errors';
import type { Runtime } from '../../runtime';
import { countedAddress } from './counted-address';

interface Attempt {
  by: 'password' | 'code' | 'passkey';
  /** As typed. Logged only as the id of the account that has it: people type passwords into the wrong field. */
  email?: string;
  /** The client's. */
  headers: Headers;
}

/**
 * Logs a sign-in that failed because what was typed is wrong, with the client's address and the account.
 *
 * @throws the error of the sign-in
 */
export async function logFailedSignIn<T>(
  runtime: Runtime,
  { by, email, headers }: Attempt,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'unauthenticated') throw error;
    const address = countedAddress(headers.get('x-forwarded-for'));
    // Asked for every address alike, so that the time of the answer does not tell whether an account exists.
    const staff_id = email === undefined ? undefined : await findStaffId(runtime, email);
    runtime.log.warn({ by, address, staff_id }, 'sign-in failed');
    throw error;
  }
}

async function findStaffId({ db }: Runtime, email: string): Promise<string | null> {
  const [user] = await db
    .select({ id: staffUsers.id })
    .from(staffUsers)
    .where(eq(staffUsers.email, email.trim().toLowerCase()));
  return user?.id ?? null;
}
