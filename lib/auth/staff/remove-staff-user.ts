import { eq } from 'drizzle-orm';
import { staffUsers } from '@/db/schema';
import type { Actor } from '../../audit/audit-log';
import type { Runtime } from '../../runtime';
import { revokeAccessTokensOf } from '../tokens/manage-access-tokens';
import { getStaffUser, type StaffKey } from './staff-user';
import { auditStaff, requireDispensable, writeStaff } from './write-staff';

/**
 * Ends a person's access at once, with that of the tokens that are theirs. What they wrote stays theirs in the log.
 *
 * @throws AppError not_found; conflict for oneself and for the last admin
 */
export async function removeStaffUser(
  { db, now }: Pick<Runtime, 'db' | 'now'>,
  key: StaffKey,
  actor: Actor,
): Promise<void> {
  await writeStaff(db, actor, async (tx) => {
    const before = await getStaffUser(tx, key);
    await requireDispensable(tx, actor, before);
    await tx.delete(staffUsers).where(eq(staffUsers.id, before.id));
    await revokeAccessTokensOf(tx, before.email, { actor, now: now() });
    await auditStaff(tx, actor, 'delete', { before, after: null });
  });
}
