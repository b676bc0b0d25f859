'use server';

import { changeStaffRole } from '@/lib/auth/change-staff-role';
import { endStaffSessions } from '@/lib/auth/end-staff-sessions';
import { removeStaffUser } from '@/lib/auth/remove-staff-user';
import { requireAdmin, staffActor } from '@/lib/auth/staff-session';
import { toStaffRole } from '@/lib/auth/staff-user';
import { getRuntime } from '@/lib/runtime';
import { leaveFor } from '../../_components/record/leave-for';
import { refusalOf } from '../../_components/refusal-of';
import { PATH } from '../path';

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

/** Takes a person's login away. */
export async function remove(id: string): Promise<void> {
  const staff = await requireAdmin();
  const { db } = await getRuntime();
  const refused = await refusalOf(removeStaffUser(db, { id }, staffActor(staff)));
  leadTo(refused ? id : null, refused ?? 'removed');
}

/** To the person; of one who is gone, and null, to the list. */
function leadTo(id: string | null, notice: string): never {
  const path = id === null || notice === 'not_found' ? PATH : `${PATH}/${encodeURIComponent(id)}`;
  leaveFor(`${path}?notice=${notice}`);
}
