'use server';

import { revalidatePath } from 'next/cache';
import { requireStaff, staffActor } from '@/lib/auth/session/staff-session';
import { getRuntime } from '@/lib/runtime';
import { confirmLinks } from '@/lib/sync/staff/link-stripe-customer';
import { syncDeps } from '@/lib/sync/sync-deps';

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
