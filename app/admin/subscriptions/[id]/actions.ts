'use server';

import { revalidatePath } from 'next/cache';
import { redirect } from 'next/navigation';
import { requireStaff } from '@/lib/auth/staff-session';
import { AppError } from '@/lib/errors';
import { getRuntime } from '@/lib/runtime';
import { linkItem } from '@/lib/sync/link-item';
import { syncDeps } from '@/lib/sync/sync-deps';
import { formatMessage } from '../../../_components/format';

export interface LinkState {
  /** Why it was refused; null before the first try. */
  problem: string | null;
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
  const actor = { type: 'staff' as const, id: staff.id, name: staff.email };
  const number = String(form.get('service_number') ?? '').trim();
  try {
    await linkItem(syncDeps(runtime), actor, itemId, number || null);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { problem: formatMessage(error.fields[0]?.message ?? error.message.replace(/\.$/, '')) };
  }
  revalidatePath('/admin', 'layout');
  redirect(`/admin/subscriptions/${subscriptionId}?saved=${itemId}`);
}
