'use server';

import { requireStaff } from '@/lib/auth/session/staff-session';
import { AppError } from '@/lib/errors';
import { etagOf } from '@/lib/http/etag';
import type { PaymentRow } from '@/lib/payments/schema';
import { staffWriter } from '@/lib/payments/staff-writer';
import { TYPED_FIELDS, toPayment } from '@/lib/payments/typed-payment';
import { updatePayment } from '@/lib/payments/update-payment';
import { getRuntime } from '@/lib/runtime';
import { leaveFor } from '../../../_components/forms/record/leave-for';
import { PATH } from '../../path';
import { type PaymentState, toRefusalState } from '../../refusal-state';

/** Changes a pending payment. @param version the payment's tag, as the page showed it */
export async function edit(
  id: number,
  version: string,
  _before: PaymentState,
  form: FormData,
): Promise<PaymentState> {
  const staff = await requireStaff();
  const runtime = await getRuntime();
  const typed = Object.fromEntries(TYPED_FIELDS.map((name) => [name, String(form.get(name) ?? '')]));
  const isAsSeen = (current: PaymentRow | null) =>
    current?.status === 'pending' && etagOf(current) === version;
  try {
    await updatePayment(runtime.db, id, toPayment(typed), staffWriter(runtime, staff), isAsSeen);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'validation_failed' || error.code === 'conflict') {
      return toRefusalState(runtime, typed, error);
    }
    leaveFor(`${PATH}/${id}?notice=${error.code}`);
  }
  leaveFor(`${PATH}/${id}?notice=edited`);
}
