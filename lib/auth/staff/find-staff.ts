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

/** The step that a signed-in person must take first. */
export type DueStep = 'password' | 'two_factor';

export interface StaffSession {
  staff: StaffMember;
  /** Of the session, not its token. */
  sessionId: string;
  hasTwoFactor: boolean;
  due: DueStep | null;
}

/** The person whom the request's cookies sign in, without a due step; null if there is no such person. */
export async function findStaff(runtime: Runtime, headers: Headers): Promise<StaffMember | null> {
  const found = await findStaffSession(runtime, headers);
  return found?.due === null ? found.staff : null;
}

/** The same, even if a step is due. */
export async function findStaffSession(runtime: Runtime, headers: Headers): Promise<StaffSession | null> {
  const found = await getStaffAuth(runtime).api.getSession({ headers });
  if (!found) return null;
  const { id, name, email, role, passwordTemporary, twoFactorEnabled } = found.user;
  const hasTwoFactor = twoFactorEnabled === true;
  const lacksFactor = !hasTwoFactor && (await isTwoFactorRequired(runtime.db));
  const due = passwordTemporary ? 'password' : lacksFactor ? 'two_factor' : null;
  return { staff: { id, name, email, role }, sessionId: found.session.id, hasTwoFactor, due };
}
