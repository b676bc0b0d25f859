import { eq } from 'drizzle-orm';
import { staffUsers } from '@/db/schema';
import { invalidField } from '../../errors';
import type { Runtime } from '../../runtime';
import { deleteSessions } from '../session/end-staff-sessions';
import type { StaffSession } from '../staff/find-staff';
import { choosePassword } from '../staff/staff-user';
import { storePassword } from '../staff/store-password';
import { confirmPassword } from './confirm-password';
import { writeOwn } from './write-own';

export interface TypedPasswords {
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
