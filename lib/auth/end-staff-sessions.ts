import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { staffSessions } from '@/db/schema';
import type { Actor } from '../audit/record-audit';
import { getStaffUser, type StaffKey } from './staff-user';
import { auditStaff, writeStaff } from './write-staff';

/**
 * Signs a person out everywhere.
 *
 * @throws AppError not_found
 */
export async function endStaffSessions(db: Database, key: StaffKey, actor: Actor): Promise<void> {
  await writeStaff(db, actor, async (tx) => {
    const user = await getStaffUser(tx, key);
    const sessions_ended = await deleteSessions(tx, user.id);
    await auditStaff(tx, actor, 'sign_out', { before: user, after: user, extra: { sessions_ended } });
  });
}

/** @returns how many there were */
export async function deleteSessions(tx: Database, userId: string): Promise<number> {
  const ended = await tx
    .delete(staffSessions)
    .where(eq(staffSessions.userId, userId))
    .returning({ id: staffSessions.id });
  return ended.length;
}
