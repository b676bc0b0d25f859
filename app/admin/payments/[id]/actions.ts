'use server';

import { notFound } from 'next/navigation';
import { z } from 'zod';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { etagOf } from '@/lib/http/etag';
import { deletePayment, updatePayment } from '@/lib/payments/record-payment';
import type { PaymentRow } from '@/lib/payments/schema';
import { staffWriter } from '@/lib/payments/write-payment';
import { getRuntime } from '@/lib/runtime';
import { checkNow } from '../../_components/audit/check/check-now';
import { leaveFor, refusalOf } from '../../_components/page/staff-action';
import { toSent } from '../sent';

/** Notes that a completed payment was paid back. @param tag the payment's, as the page showed it */
export async function markRefunded(sentId: number, tag: string): Promise<void> {
  const staff = await requireStaff();
  const { id, version } = toSent(sentId, tag);
  const runtime = await getRuntime();
  const isAsSeen = (current: PaymentRow | null) =>
    current?.status === 'completed' && etagOf(current) === version;
  const refused = await refusalOf(
    updatePayment(runtime.db, id, { status: 'refunded' }, staffWriter(runtime, staff), isAsSeen),
  );
  leaveFor(`/admin/payments/${id}?notice=${refused ?? 'refunded'}`);
}

/** What may become of a pending payment. A browser sends it back, and could send anything. */
const decision = z.enum(['completed', 'failed']);
type Decision = z.infer<typeof decision>;

/** Completes a pending payment, or marks it as failed. */
export async function decide(sentId: number, tag: string, sentStatus: Decision): Promise<void> {
  const staff = await requireStaff();
  const { id, version } = toSent(sentId, tag);
  const status = decision.safeParse(sentStatus).data ?? notFound();
  const runtime = await getRuntime();
  const isAsSeen = (current: PaymentRow | null) =>
    current?.status === 'pending' && etagOf(current) === version;
  const refused = await refusalOf(
    updatePayment(runtime.db, id, { status }, staffWriter(runtime, staff), isAsSeen),
  );
  // The day may be wrong, which only the payment's form can tell.
  leaveFor(
    `/admin/payments/${id}?notice=${refused === 'validation_failed' ? 'not_decided' : (refused ?? status)}`,
  );
}

/** Deletes a payment. @param tag the payment's, as the page showed it */
export async function remove(sentId: number, tag: string): Promise<void> {
  const staff = await requireStaff();
  const { id, version } = toSent(sentId, tag);
  const runtime = await getRuntime();
  const isAsSeen = (current: PaymentRow | null) => current !== null && etagOf(current) === version;
  const refused = await refusalOf(deletePayment(runtime.db, id, staffWriter(runtime, staff), isAsSeen));
  // Gone already: the list says who deleted it.
  leaveFor(
    refused && refused !== 'not_found'
      ? `/admin/payments/${id}?notice=${refused}`
      : `/admin/payments?deleted=${id}`,
  );
}

/** Brings a payment, its invoice and what came back in sync with Stripe. */
export async function check(id: number): Promise<void> {
  await checkNow(await requireStaff(), 'payment', id);
}
