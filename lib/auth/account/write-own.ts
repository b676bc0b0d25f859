import type { Database } from '@/db/database';
import { lockKey } from '@/db/database';
import { transact } from '@/db/transaction';
import type { Actor } from '../../audit/audit-log';
import { getStaffUser, type StaffUser } from '../staff/staff-user';
import { auditStaff } from '../staff/write-staff';

export interface OwnLogin {
  id: string;
  email: string;
}

/** A person, as the audit log names who changes their own login. */
export function ownActor({ id, email }: OwnLogin): Actor {
  return { type: 'staff', id, name: email };
}

/**
 * A transaction in which a person changes their own login, and notes it.
 *
 * @param work answers what the log tells beyond the person
 * @throws AppError not_found where they were removed meanwhile
 */
export async function writeOwn(
  db: Database,
  login: OwnLogin,
  verb: string,
  work: (tx: Database, user: StaffUser) => Promise<Record<string, unknown>>,
): Promise<void> {
  await transact(
    db,
    async (tx) => {
      await lockKey(tx, 'staff');
      const user = await getStaffUser(tx, { id: login.id });
      const extra = await work(tx, user);
      await auditStaff(tx, ownActor(login), verb, { before: user, after: user, extra });
    },
    'staff',
  );
}
