'use server';

import { leaveFor, toProblems } from '@/app/admin/_components/page/staff-action';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { AppError } from '@/lib/errors';
import { etagOf } from '@/lib/http/etag';
import type { PaymentRow } from '@/lib/payments/schema';
import { REFUND_FIELDS, recordTypedRefund } from '@/lib/payments/typed-payment';
import { staffWriter } from '@/lib/payments/write-payment';
import { getRuntime } from '@/lib/runtime';
import { toSent } from '../../sent';
import type { TypedState } from '../../typed-form';

/** Notes that a payment, or a part of it, was paid back. @param tag the payment's, as the page showed it */
export async function refund(
  sentId: number,
  tag: string,
  _before: TypedState,
  form: FormData,
): Promise<TypedState> {
  const staff = await requireStaff();
  const { id, version } = toSent(sentId, tag);
  const runtime = await getRuntime();
  const typed = Object.fromEntries(REFUND_FIELDS.map((name) => [name, String(form.get(name) ?? '')]));
  const isAsSeen = (current: PaymentRow | null) => current !== null && etagOf(current) === version;
  try {
    await recordTypedRefund(runtime.db, id, typed, staffWriter(runtime, staff), isAsSeen);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'validation_failed') return { typed, problems: toProblems(error, typed) };
    leaveFor(
      `/admin/payments/${id}?notice=${error.code === 'conflict' ? 'precondition_failed' : error.code}`,
    );
  }
  leaveFor(`/admin/payments/${id}?notice=refund-recorded`);
}
