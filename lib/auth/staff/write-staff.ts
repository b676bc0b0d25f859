import { and, eq, ne } from 'drizzle-orm';
import { type Database, lockKey } from '@/db/database';
import { staffUsers } from '@/db/schema';
import { transact } from '@/db/transaction';
import { type Actor, auditNumber, recordAudit } from '../../audit/audit-log';
import { AppError } from '../../errors';
import type { StaffUser } from './staff-user';

/**
 * A transaction that changes staff: one at a time, so that two admins cannot take each other's role away.
 *
 * @throws AppError forbidden where the actor has meanwhile stopped being an admin
 */
export async function writeStaff<T>(
  db: Database,
  actor: Actor,
  work: (tx: Database) => Promise<T>,
): Promise<T> {
  return transact(
    db,
    async (tx) => {
      await lockKey(tx, 'staff');
      if (actor.type === 'staff' && !(await isAdmin(tx, actor.id))) {
        throw new AppError('forbidden', 'Only admins can manage staff.');
      }
      return work(tx);
    },
    'staff',
  );
}

/**
 * Before an admin is demoted or removed.
 *
 * @throws AppError conflict for oneself, and for the last admin
 */
export async function requireDispensable(tx: Database, actor: Actor, user: StaffUser): Promise<void> {
  if (actor.type === 'staff' && actor.id === user.id) {
    throw new AppError('conflict', 'You cannot change your own role or remove yourself.');
  }
  if (user.role !== 'admin') return;
  const others = await tx.$count(staffUsers, and(eq(staffUsers.role, 'admin'), ne(staffUsers.id, user.id)));
  if (others > 0) return;
  throw new AppError('conflict', `${user.email} is the last admin: make somebody else an admin first.`);
}

/** Notes what was done to a member of staff; `extra` is what the row itself does not tell. */
export async function auditStaff(
  tx: Database,
  actor: Actor,
  verb: string,
  images: { before: StaffUser | null; after: StaffUser | null; extra?: Record<string, unknown> },
): Promise<void> {
  const { before, after, extra } = images;
  const id = (after ?? before)?.id;
  if (id === undefined) throw new Error('there is nobody to audit');
  await recordAudit(tx, {
    actor,
    action: `staff_user.${verb}`,
    entity: 'staff_user',
    entity_id: auditNumber(id),
    before: before && toImage(before),
    after: after && { ...toImage(after), ...extra },
  });
}

async function isAdmin(tx: Database, id: string): Promise<boolean> {
  const [user] = await tx.select({ role: staffUsers.role }).from(staffUsers).where(eq(staffUsers.id, id));
  return user?.role === 'admin';
}

function toImage({ id, email, name, role }: StaffUser) {
  return { id, email, name, role };
}
