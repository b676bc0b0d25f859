'use server';

import { startReconciliation } from '@/lib/sync/reconcile/start';
import { staffAction } from '../_components/page/staff-action';

/** Starts a reconciliation run and redirects to it, or to the run that is already active. */
export const runNow = staffAction({
  role: 'staff',
  input: [],
  run: ({ runtime, staff }) => startReconciliation(runtime, { trigger: 'staff', startedBy: staff.email }),
  done: ({ runId }) => `/admin/reconciliation/${runId}`,
});
