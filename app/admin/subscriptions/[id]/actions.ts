'use server';

import { requireStaff, staffActor } from '@/lib/auth/session/staff-session';
import { AppError } from '@/lib/errors';
import { getRuntime } from '@/lib/runtime';
import { linkItem } from '@/lib/sync/staff/link-subscription';
import { syncDeps } from '@/lib/sync/sync-deps';
import { checkNow } from '../../_components/audit/check/check-now';
import { leaveFor, problemOf } from '../../_components/page/staff-action';

export interface LinkState {
  /** Why it was refused; null before the first try. */
  problem: string | null;
}

/** Brings a subscription in sync with Stripe. */
export async function check(id: number): Promise<void> {
  await checkNow(await requireStaff(), 'subscription', id);
}

/** Says which service an item pays for, and leads back to its subscription. */
export async function saveLink(
  subscriptionId: number,
  itemId: number,
  _before: LinkState,
  form: FormData,
): Promise<LinkState> {
  const staff = await requireStaff();
  const runtime = await getRuntime();
  const number = String(form.get('service_number') ?? '').trim();
  try {
    await linkItem(syncDeps(runtime), staffActor(staff), itemId, number || null);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { problem: problemOf(error) };
  }
  leaveFor(`/admin/subscriptions/${subscriptionId}?saved=${itemId}`);
}
