'use server';

import { requireStaff, staffActor } from '@/lib/auth/session/staff-session';
import { getRuntime } from '@/lib/runtime';
import { replayForStaff } from '@/lib/sync/inbox/events';
import { syncDeps } from '@/lib/sync/sync-deps';
import { leaveFor } from '../_components/page/staff-action';

/** Applies an event once more, and shows the outcome. */
export async function replay(id: string): Promise<void> {
  const staff = await requireStaff();
  const runtime = await getRuntime();
  const result = await replayForStaff(syncDeps(runtime), staffActor(staff), id);
  leaveFor(`/admin/webhooks/${encodeURIComponent(id)}?replayed=${result}`);
}
