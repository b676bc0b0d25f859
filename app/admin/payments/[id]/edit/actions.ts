'use server';

import { leaveFor } from '@/app/admin/_components/page/staff-action';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { AppError } from '@/lib/errors';
import { etagOf } from '@/lib/http/etag';
import type { PaymentRow } from '@/lib/payments/schema';
import { CORRECTION_FIELDS, correctPayment } from '@/lib/payments/typed-payment';
import { staffWriter } from '@/lib/payments/write-payment';
import { getRuntime } from '@/lib/runtime';
import { type PaymentState, toRefusalState } from '../../refusal-state';
import { toSent } from '../../sent';

/** Corrects a payment. @param version the payment's tag, as the page showed it */
export async function edit(
  id: number,
  version: string,
  _before: PaymentState,
  form: FormData,
): Promise<PaymentState> {
  const staff = await requireStaff();
  const seen = toSent(id, version);
  const runtime = await getRuntime();
  const typed = Object.fromEntries(CORRECTION_FIELDS.map((name) => [name, String(form.get(name) ?? '')]));
  const isAsSeen = (current: PaymentRow) => etagOf(current) === seen.version;
  try {
    await correctPayment(runtime.db, seen.id, typed, staffWriter(runtime, staff), isAsSeen);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'validation_failed' || error.code === 'conflict') {
      return toRefusalState(runtime, typed, error);
    }
    leaveFor(`/admin/payments/${seen.id}?notice=${error.code}`);
  }
  leaveFor(`/admin/payments/${seen.id}?notice=edited`);
}
