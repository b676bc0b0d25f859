'use server';

import { resetTwoFactor } from '@/lib/auth/second-factor/remove';
import { endStaffSessions } from '@/lib/auth/session/end-staff-sessions';
import { requireAdmin, staffActor } from '@/lib/auth/session/staff-session';
import { changeStaffRole } from '@/lib/auth/staff/change-staff-role';
import { removeStaffUser } from '@/lib/auth/staff/remove-staff-user';
import { toStaffRole } from '@/lib/auth/staff/staff-user';
import { getRuntime } from '@/lib/runtime';
import { leaveFor, refusalOf } from '../../_components/page/staff-action';

/** Gives a person another role. */
export async function changeRole(id: string, role: string): Promise<void> {
  const staff = await requireAdmin();
  const { db } = await getRuntime();
  const refused = await refusalOf(changeStaffRole(db, { id }, toStaffRole(role), staffActor(staff)));
  leadTo(id, refused ?? 'role');
}

/** Ends all sessions of a person. */
export async function signOutEverywhere(id: string): Promise<void> {
  const staff = await requireAdmin();
  const { db } = await getRuntime();
  const refused = await refusalOf(endStaffSessions(db, { id }, staffActor(staff)));
  leadTo(id, refused ?? 'signed-out');
}

/** Removes a lost second factor. */
export async function resetFactor(id: string): Promise<void> {
  const staff = await requireAdmin();
  const { db } = await getRuntime();
  const refused = await refusalOf(resetTwoFactor(db, { id }, staffActor(staff)));
  leadTo(id, refused ?? 'factor-reset');
}

/** Takes a person's login away. */
export async function remove(id: string): Promise<void> {
  const staff = await requireAdmin();
  const refused = await refusalOf(removeStaffUser(await getRuntime(), { id }, staffActor(staff)));
  leadTo(refused ? id : null, refused ?? 'removed');
}

/** To the person; of one who is gone, and null, to the list. */
function leadTo(id: string | null, notice: string): never {
  const path =
    id === null || notice === 'not_found' ? '/admin/staff' : `/admin/staff/${encodeURIComponent(id)}`;
  leaveFor(`${path}?notice=${notice}`);
}
