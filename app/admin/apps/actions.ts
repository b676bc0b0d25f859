'use server';

import { requireStaff, staffActor } from '@/lib/auth/session/staff-session';
import { disconnectApp } from '@/lib/oauth/connected-apps';
import { getRuntime } from '@/lib/runtime';
import { leaveFor, refusalOf } from '../_components/page/staff-action';

/** Ends an app's access at once: of one's own, admins that of anybody. */
export async function disconnect(id: string): Promise<void> {
  const staff = await requireStaff();
  const { db } = await getRuntime();
  const of = staff.role === 'admin' ? null : staff.id;
  await refusalOf(disconnectApp(db, id, { of, actor: staffActor(staff) }));
  leaveFor('/admin/apps?notice=disconnected');
}
