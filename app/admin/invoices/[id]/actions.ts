'use server';

import { requireStaff } from '@/lib/auth/session/staff-session';
import { checkNow } from '../../_components/audit/check/check-now';

/** Brings an invoice and its payments in sync with Stripe. */
export async function check(id: number): Promise<void> {
  await checkNow(await requireStaff(), 'invoice', id);
}
