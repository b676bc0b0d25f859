'use server';

import { rowId } from '@/lib/fields';
import { finishTask } from '@/lib/tasks/staff-tasks';
import { staffAction } from '../_components/page/staff-action';

/** Marks a staff task as done by the signed-in person. */
export const finish = staffAction({
  role: 'staff',
  input: [rowId],
  run: ({ runtime: { db, now }, staff }, id) => finishTask(db, id, { by: staff.email, now: now() }),
  done: () => '/admin/tasks?notice=done',
  refused: () => '/admin/tasks',
});
