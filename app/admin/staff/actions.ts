'use server';

import { demandTwoFactor } from '@/lib/auth/second-factor/demand';
import { requireAdmin, staffActor } from '@/lib/auth/session/staff-session';
import { getRuntime } from '@/lib/runtime';
import { leaveFor } from '../_components/page/staff-action';

/** Demands an authenticator app of everybody, or no longer. */
export async function demand(isRequired: boolean): Promise<void> {
  const staff = await requireAdmin();
  const { db } = await getRuntime();
  await demandTwoFactor(db, isRequired, staffActor(staff));
  leaveFor(`/admin/staff?notice=${isRequired ? 'demanded' : 'not-demanded'}`);
}
