'use server';

import { requireStaff } from '@/lib/auth/session/staff-session';
import { etagOf } from '@/lib/http/etag';
import { deletePayment } from '@/lib/payments/delete-payment';
import type { PaymentRow } from '@/lib/payments/schema';
import { staffWriter } from '@/lib/payments/staff-writer';
import { updatePayment } from '@/lib/payments/update-payment';
import { getRuntime } from '@/lib/runtime';
import { checkNow } from '../../_components/audit/check/check-now';
import { leaveFor } from '../../_components/forms/record/leave-for';
import { refusalOf } from '../../_components/forms/refusal-of';
import { PATH } from '../path';

/** Notes that a completed payment was paid back. @param version the payment's tag, as the page showed it */
export async function markRefunded(id: number, version: string): Promise<void> {
  const staff = await requireStaff();
  const runtime = await getRuntime();
  const isAsSeen = (current: PaymentRow | null) =>
    current?.status === 'completed' && etagOf(current) === version;
  const refused = await refusalOf(
    updatePayment(runtime.db, id, { status: 'refunded' }, staffWriter(runtime, staff), isAsSeen),
  );
  leaveFor(`${PATH}/${id}?notice=${refused ?? 'refunded'}`);
}

/** What of a pending payment came of it: the money is there, or it will not come. */
export async function decide(id: number, version: string, status: 'completed' | 'failed'): Promise<void> {
  const staff = await requireStaff();
  const runtime = await getRuntime();
  const isAsSeen = (current: PaymentRow | null) =>
    current?.status === 'pending' && etagOf(current) === version;
  const refused = await refusalOf(
    updatePayment(runtime.db, id, { status }, staffWriter(runtime, staff), isAsSeen),
  );
  leaveFor(`${PATH}/${id}?notice=${refused ?? status}`);
}

/** Deletes a payment. @param version the payment's tag, as the page showed it */
export async function remove(id: number, version: string): Promise<void> {
  const staff = await requireStaff();
  const runtime = await getRuntime();
  const isAsSeen = (current: PaymentRow | null) => current !== null && etagOf(current) === version;
  const refused = await refusalOf(deletePayment(runtime.db, id, staffWriter(runtime, staff), isAsSeen));
  // Gone already: the list says who deleted it.
  leaveFor(refused && refused !== 'not_found' ? `${PATH}/${id}?notice=${refused}` : `${PATH}?deleted=${id}`);
}

/** Brings a payment, its invoice and what came back in sync with Stripe. */
export async function check(id: number): Promise<void> {
  await checkNow(await requireStaff(), 'payment', id);
}
