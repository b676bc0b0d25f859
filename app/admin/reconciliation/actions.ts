'use server';

import { startReconciliation } from '@/lib/sync/reconcile/start';
import { staffAction } from '../_components/page/staff-action';

/** Starts a run, or leads to the one under way. */
export const runNow = staffAction({
  role: 'staff',
  input: [],
  run: ({ runtime, staff }) => startReconciliation(runtime, { trigger: 'staff', startedBy: staff.email }),
  done: ({ runId }) => `/admin/reconciliation/${runId}`,
});
