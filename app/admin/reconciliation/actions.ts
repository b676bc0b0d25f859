'use server';

import { redirect } from 'next/navigation';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { getRuntime } from '@/lib/runtime';
import { startReconciliation } from '@/lib/sync/reconcile/start';

/** Starts a run, or leads to the one under way. */
export async function runNow(): Promise<void> {
  const staff = await requireStaff();
  const { runId } = await startReconciliation(await getRuntime(), {
    trigger: 'staff',
    startedBy: staff.email,
  });
  redirect(`/admin/reconciliation/${runId}`);
}
