import { verifyPassword } from 'better-auth/crypto';
import { and, eq } from 'drizzle-orm';
import { staffAccounts, staffUsers } from '@/db/schema';
import { addStaffUser } from '../../auth/staff/add-staff-user';
import { changeStaffRole } from '../../auth/staff/change-staff-role';
import { setStaffPassword } from '../../auth/staff/set-staff-password';
import type { StaffWorld } from '../../auth/staff/staff-user';
import { DEMO_ACTOR } from './actor';
import type { DemoSettings } from './settings';

/** Makes the demo's login, an admin's, or gives it its password and role back; who is signed in stays so. */
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
  const actor = DEMO_ACTOR;
  const { email, password } = login;
  if (!found) {
    await addStaffUser(world, { ...login, name: 'Demo', role: 'admin' }, actor);
    return;
  }
  if (!found.hash || !(await verifyPassword({ hash: found.hash, password }))) {
    await setStaffPassword(world, { email }, { password }, actor);
  }
  await changeStaffRole(world.db, { email }, 'admin', actor);
}
