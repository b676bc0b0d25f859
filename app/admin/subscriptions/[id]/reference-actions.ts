'use server';

import { requireStaff, staffActor } from '@/lib/auth/session/staff-session';
import { AppError } from '@/lib/errors';
import { getRuntime } from '@/lib/runtime';
import { adoptReferenced, declineReference } from '@/lib/sync/staff/link-subscription';
import { syncDeps } from '@/lib/sync/sync-deps';
import { leaveFor } from '../../_components/page/staff-action';

/** Makes it the subscription that its checkout names. The page then shows the current state, also after a conflict. */
export async function adopt(id: number): Promise<void> {
  const staff = await requireStaff();
  const runtime = await getRuntime();
  const became = await unlessLate(adoptReferenced(syncDeps(runtime), staffActor(staff), id));
  leaveFor(`/admin/subscriptions/${became ?? id}`);
}

/** Leaves it what it is. */
export async function decline(id: number): Promise<void> {
  const staff = await requireStaff();
  const runtime = await getRuntime();
  await unlessLate(declineReference(syncDeps(runtime), staffActor(staff), id));
  leaveFor(`/admin/subscriptions/${id}`);
}

async function unlessLate<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}
