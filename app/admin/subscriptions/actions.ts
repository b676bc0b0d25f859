'use server';

import { revalidatePath } from 'next/cache';
import { requireStaff, staffActor } from '@/lib/auth/session/staff-session';
import { AppError } from '@/lib/errors';
import { getRuntime } from '@/lib/runtime';
import { linkStripeCustomer } from '@/lib/sync/staff/link-stripe-customer';
import { adoptReferenced, declineReference, linkItem } from '@/lib/sync/staff/link-subscription';
import { confirmLinks } from '@/lib/sync/staff/unconfirmed-links';
import { syncDeps } from '@/lib/sync/sync-deps';
import { checkNow } from '../_components/audit/check/check-now';
import { leaveFor, problemOf, refusalOf } from '../_components/page/staff-action';

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

/** Links a Stripe customer to a customer, and shows the current state. */
export async function linkTo(id: string, link: { from: number; to: number }): Promise<void> {
  const staff = await requireStaff();
  const runtime = await getRuntime();
  const refused = await refusalOf(linkStripeCustomer(syncDeps(runtime), staffActor(staff), id, link));
  leaveFor(`/admin/subscriptions/stripe-customers/${encodeURIComponent(id)}?notice=${refused ?? 'linked'}`);
}

export interface ConfirmState {
  done: number;
  refused: { stripeCustomerId: string; refusal: string }[];
}

/** Confirms the links that were chosen; each choice says what staff saw: Stripe customer, from whom, to whom. */
export async function confirmChosen(_before: ConfirmState | null, form: FormData): Promise<ConfirmState> {
  const staff = await requireStaff();
  const runtime = await getRuntime();
  const chosen = form.getAll('link').flatMap((value) => {
    const [, stripeCustomerId, from, to] = /^([\w-]{1,255}) (\d{1,10}) (\d{1,10})$/.exec(String(value)) ?? [];
    return stripeCustomerId ? [{ stripeCustomerId, from: Number(from), to: Number(to) }] : [];
  });
  const results = await confirmLinks(syncDeps(runtime), staffActor(staff), chosen);
  revalidatePath('/admin', 'layout');
  const refused = results.flatMap(({ stripeCustomerId, refusal }) =>
    refusal === null ? [] : [{ stripeCustomerId, refusal }],
  );
  return { done: results.length - refused.length, refused };
}
