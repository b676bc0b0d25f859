import type { Runtime } from '../../runtime';
import { isTwoFactorRequired } from '../second-factor/demand';
import { getStaffAuth } from '../session/staff-auth';
import type { StaffRole } from './staff-user';

export interface StaffMember {
  id: string;
  name: string;
  email: string;
  role: StaffRole;
}

/** What somebody who has signed in must do before anything else. */
export type DueStep = 'password' | 'two_factor';

export interface StaffSession {
  staff: StaffMember;
  /** Of the session, not its token. */
  sessionId: string;
  hasTwoFactor: boolean;
  due: DueStep | null;
}

/** Who is signed in by the cookies of a request, and owes nothing; null: nobody. */
export async function findStaff(runtime: Runtime, headers: Headers): Promise<StaffMember | null> {
  const found = await findStaffSession(runtime, headers);
  return found?.due === null ? found.staff : null;
}

/** The same, whatever they owe. */
export async function findStaffSession(runtime: Runtime, headers: Headers): Promise<StaffSession | null> {
  const found = await getStaffAuth(runtime).api.getSession({ headers });
  if (!found) return null;
  const { id, name, email, role, passwordTemporary, twoFactorEnabled } = found.user;
  const hasTwoFactor = twoFactorEnabled === true;
  const lacksFactor = !hasTwoFactor && (await isTwoFactorRequired(runtime.db));
  const due = passwordTemporary ? 'password' : lacksFactor ? 'two_factor' : null;
  return { staff: { id, name, email, role }, sessionId: found.session.id, hasTwoFactor, due };
}
