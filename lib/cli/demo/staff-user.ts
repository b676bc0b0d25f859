import { verifyPassword } from 'better-auth/crypto';
import { and, eq } from 'drizzle-orm';
import { staffAccounts, staffUsers } from '@/db/schema';
import { addStaffUser, type StaffWorld, setStaffPassword } from '../../auth/staff-users';
import type { DemoSettings } from './settings';

/** Makes the demo's login, or gives it its password back; who is signed in stays so. */
export async function prepareStaffUser(world: StaffWorld, settings: DemoSettings): Promise<void> {
  const login = { email: settings.staffEmail, password: settings.staffPassword };
  const [found] = await world.db
    .select({ hash: staffAccounts.password })
    .from(staffUsers)
    .leftJoin(
      staffAccounts,
      and(eq(staffAccounts.userId, staffUsers.id), eq(staffAccounts.providerId, 'credential')),
    )
    .where(eq(staffUsers.email, login.email));
  if (!found) await addStaffUser(world, { ...login, name: 'Demo', role: 'admin' });
  else if (!found.hash || !(await verifyPassword({ hash: found.hash, password: login.password }))) {
    await setStaffPassword(world, login);
  }
}
