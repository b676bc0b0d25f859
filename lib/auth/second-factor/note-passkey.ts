import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { staffUsers } from '@/db/schema';
import { auditNumber, recordAudit } from '../../audit/audit-log';

/** That a person gets a passkey. */
export async function notePasskey(db: Database, userId: string, passkey: string): Promise<void> {
  const { id, email, name, role } = staffUsers;
  const [user] = await db.select({ id, email, name, role }).from(staffUsers).where(eq(id, userId));
  if (!user) throw new Error('there is nobody to audit');
  await recordAudit(db, {
    actor: { type: 'staff', id: user.id, name: user.email },
    action: 'staff_user.add_passkey',
    entity: 'staff_user',
    entity_id: auditNumber(user.id),
    before: user,
    after: { ...user, passkey },
  });
}
