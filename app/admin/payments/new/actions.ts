'use server';

import { notFound } from 'next/navigation';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { AppError } from '@/lib/errors';
import { rowId } from '@/lib/fields';
import { recordForInvoice, TYPED_FIELDS } from '@/lib/payments/typed-payment';
import { staffWriter } from '@/lib/payments/write-payment';
import { getRuntime } from '@/lib/runtime';
import { leaveFor } from '../../_components/page/staff-action';
import { type PaymentState, toRefusalState } from '../refusal-state';

/** Records a payment of an invoice, and leads to it. */
export async function record(
  invoiceId: number,
  _before: PaymentState,
  form: FormData,
): Promise<PaymentState> {
  const staff = await requireStaff();
  const runtime = await getRuntime();
  const typed = Object.fromEntries(TYPED_FIELDS.map((name) => [name, String(form.get(name) ?? '')]));
  let id: number;
  try {
    ({ id } = await recordForInvoice(
      runtime.db,
      rowId.safeParse(invoiceId).data ?? notFound(),
      typed,
      staffWriter(runtime, staff),
    ));
  } catch (error) {
    if (error instanceof AppError) return toRefusalState(runtime, typed, error);
    throw error;
  }
  leaveFor(`/admin/payments/${id}?notice=recorded`);
}
