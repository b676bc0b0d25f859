'use server';

import { revalidatePath } from 'next/cache';
import { redirect } from 'next/navigation';
import { requireStaff, staffActor } from '@/lib/auth/staff-session';
import { getRuntime } from '@/lib/runtime';
import { replayForStaff } from '@/lib/sync/inbox/replay-for-staff';
import { syncDeps } from '@/lib/sync/sync-deps';

/** Applies an event once more, and shows what came of it. */
export async function replay(id: string): Promise<void> {
  const staff = await requireStaff();
  const runtime = await getRuntime();
  const result = await replayForStaff(syncDeps(runtime), staffActor(staff), id);
  revalidatePath('/admin', 'layout');
  redirect(`/admin/webhooks/${encodeURIComponent(id)}?replayed=${result}`);
}
