import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { staffUsers } from '@/db/schema';
import type { Actor } from '../../audit/audit-log';
import { getStaffUser, type StaffKey, type StaffRole } from './staff-user';
import { auditStaff, requireDispensable, writeStaff } from './write-staff';

/**
 * Gives a person another role, from their next request on; the one they have already writes nothing.
 *
 * @throws AppError not_found; conflict for oneself and for the last admin
 */
export async function changeStaffRole(
  db: Database,
  key: StaffKey,
  role: StaffRole,
  actor: Actor,
): Promise<void> {
  await writeStaff(db, actor, async (tx) => {
    const before = await getStaffUser(tx, key);
    if (before.role === role) return;
    await requireDispensable(tx, actor, before);
    await tx.update(staffUsers).set({ role }).where(eq(staffUsers.id, before.id));
    await auditStaff(tx, actor, 'update', { before, after: { ...before, role } });
  });
}
