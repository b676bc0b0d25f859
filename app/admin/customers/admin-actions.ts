'use server';

import { toHref } from '@/app/_components/search-params';
import { requireAdmin, staffActor } from '@/lib/auth/session/staff-session';
import { eraseCustomer, requireErasable } from '@/lib/erasure/erase-customer';
import { AppError } from '@/lib/errors';
import { getRuntime } from '@/lib/runtime';
import { mergeCustomers, type Seen } from '@/lib/sync/staff/merge-customers';
import { syncDeps } from '@/lib/sync/sync-deps';
import { leaveFor, problemOf, refusalOf } from '../_components/page/staff-action';

export interface EraseState {
  /** What was typed last, and why it was refused; null before the first try. */
  typed: string;
  problem: string | null;
}

/** Erases a customer whose number was typed to confirm it. */
export async function erase(id: number, _before: EraseState, form: FormData): Promise<EraseState> {
  const staff = await requireAdmin();
  const { db, now } = await getRuntime();
  const typed = String(form.get('customer_number') ?? '').trim();
  try {
    const number = await requireErasable(db, id);
    if (typed.toLowerCase() !== number.toLowerCase()) {
      return { typed, problem: `This is not the number of this customer: type ${number}.` };
    }
    await eraseCustomer(db, id, { actor: staffActor(staff), now: now() });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { typed, problem: problemOf(error) };
  }
  return leaveFor(`/admin/customers/${id}?notice=erased`);
}

/** Merges a customer into another one, and leads to that; where it is refused, back to the question. */
export async function merge(gone: Seen, kept: Seen, form: FormData): Promise<void> {
  const staff = await requireAdmin();
  const taken = form.getAll('take').map(String);
  const deps = syncDeps(await getRuntime());
  const refused = await refusalOf(mergeCustomers(deps, staffActor(staff), { gone, kept, taken }));
  if (!refused) leaveFor(`/admin/customers/${kept.id}?notice=merged`);
  leaveFor(toHref(`/admin/customers/${kept.id}/merge`, { to: String(gone.id), notice: refused }));
}
