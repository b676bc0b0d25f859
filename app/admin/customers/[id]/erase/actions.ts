'use server';

import { leaveFor, problemOf } from '@/app/admin/_components/page/staff-action';
import { requireAdmin, staffActor } from '@/lib/auth/session/staff-session';
import { eraseCustomer, requireErasable } from '@/lib/erasure/erase-customer';
import { AppError } from '@/lib/errors';
import { getRuntime } from '@/lib/runtime';

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
