'use server';

import { requireStaff } from '@/lib/auth/session/staff-session';
import { getRuntime } from '@/lib/runtime';
import { finishTask } from '@/lib/tasks/staff-tasks';
import { leaveFor, refusalOf } from '../_components/page/staff-action';

/** Marks a task as done. */
export async function finish(id: number): Promise<void> {
  const staff = await requireStaff();
  const { db, now } = await getRuntime();
  const refused = await refusalOf(finishTask(db, id, { by: staff.email, now: now() }));
  leaveFor(`/admin/tasks${refused === null ? '?notice=done' : ''}`);
}
