'use server';

import { leaveFor, refusalOf } from '@/app/admin/_components/page/staff-action';
import { requireStaff, staffActor } from '@/lib/auth/session/staff-session';
import { getRuntime } from '@/lib/runtime';
import { linkStripeCustomer } from '@/lib/sync/staff/link-stripe-customer';
import { syncDeps } from '@/lib/sync/sync-deps';

/** Links a Stripe customer to a customer, and shows the current state. */
export async function linkTo(id: string, link: { from: number; to: number }): Promise<void> {
  const staff = await requireStaff();
  const runtime = await getRuntime();
  const refused = await refusalOf(linkStripeCustomer(syncDeps(runtime), staffActor(staff), id, link));
  leaveFor(`/admin/subscriptions/stripe-customers/${encodeURIComponent(id)}?notice=${refused ?? 'linked'}`);
}
