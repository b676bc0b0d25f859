'use server';

import { revalidatePath } from 'next/cache';
import { redirect } from 'next/navigation';
import { requireStaff } from '@/lib/auth/staff-session';
import { AppError } from '@/lib/errors';
import { getRuntime } from '@/lib/runtime';
import { linkStripeCustomer } from '@/lib/sync/link-stripe-customer';
import { syncDeps } from '@/lib/sync/sync-deps';

/** Links a Stripe customer to one of ours, as the page asked, and shows how it is then. */
export async function linkTo(id: string, link: { from: number; to: number }): Promise<void> {
  const staff = await requireStaff();
  const runtime = await getRuntime();
  const actor = { type: 'staff' as const, id: staff.id, name: staff.email };
  let notice = 'linked';
  try {
    await linkStripeCustomer(syncDeps(runtime), actor, id, link);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    notice = error.code;
  }
  revalidatePath('/admin', 'layout');
  redirect(`/admin/subscriptions/stripe-customers/${encodeURIComponent(id)}?notice=${notice}`);
}
