import type { Runtime } from '../runtime';
import { getStaffAuth } from './staff-auth';
import type { StaffRole } from './staff-user';

export interface StaffMember {
  id: string;
  name: string;
  email: string;
  role: StaffRole;
}

/** Who is signed in by the cookies of a request; null: nobody. */
export async function findStaff(runtime: Runtime, headers: Headers): Promise<StaffMember | null> {
  const found = await getStaffAuth(runtime).api.getSession({ headers });
  if (!found) return null;
  const { id, name, email, role } = found.user;
  return { id, name, email, role };
}
