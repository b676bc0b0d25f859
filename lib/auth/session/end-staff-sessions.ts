import { and, eq, like, ne } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { staffSessions, staffVerifications } from '@/db/schema';
import type { Actor } from '../../audit/audit-log';
import { getStaffUser, type StaffKey } from '../staff/staff-user';
import { auditStaff, writeStaff } from '../staff/write-staff';

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

/**
 * Ends a person's sessions, and sign-ins whose password was right and whose code is still to come.
 *
 * @param kept the one that stays
 * @returns how many there were
 */
export async function deleteSessions(tx: Database, userId: string, kept?: string): Promise<number> {
  const others = kept === undefined ? undefined : ne(staffSessions.id, kept);
  const ended = await tx
    .delete(staffSessions)
    .where(and(eq(staffSessions.userId, userId), others))
    .returning({ id: staffSessions.id });
  const { identifier, value } = staffVerifications;
  await tx.delete(staffVerifications).where(and(eq(value, userId), like(identifier, '2fa-%')));
  return ended.length;
}
