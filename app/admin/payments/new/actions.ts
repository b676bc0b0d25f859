'use server';

import { requireStaff } from '@/lib/auth/staff-session';
import { AppError } from '@/lib/errors';
import { normalReference } from '@/lib/payments/normal-reference';
import { listPayments } from '@/lib/payments/queries';
import { recordForInvoice, TYPED_FIELDS } from '@/lib/payments/record-for-invoice';
import { staffWriter } from '@/lib/payments/staff-writer';
import { getRuntime, type Runtime } from '@/lib/runtime';
import { formatDate, formatMoney } from '../../../_components/format';
import { leaveFor } from '../../_components/record/leave-for';
import { toProblems } from '../../_components/to-problems';
import { PATH } from '../path';

export interface RecordState {
  /** The fields as they were typed. */
  typed: Record<string, string>;
  /** Of each wrong field its sentence; of '' what concerns no single one. */
  problems: Record<string, string>;
  /** The payment that has the reference already. */
  existing: { href: string; text: string } | null;
}

/** Records a payment of an invoice, and leads to it. */
export async function record(invoiceId: number, _before: RecordState, form: FormData): Promise<RecordState> {
  const staff = await requireStaff();
  const runtime = await getRuntime();
  const typed = Object.fromEntries(TYPED_FIELDS.map((name) => [name, String(form.get(name) ?? '')]));
  let id: number;
  try {
    ({ id } = await recordForInvoice(runtime.db, invoiceId, typed, staffWriter(runtime, staff)));
  } catch (error) {
    if (error instanceof AppError) return refusal(runtime, typed, error);
    throw error;
  }
  leaveFor(`${PATH}/${id}?notice=recorded`);
}

async function refusal({ db }: Runtime, typed: RecordState['typed'], error: AppError): Promise<RecordState> {
  const payment_reference = normalReference(typed.payment_reference ?? '').trim();
  const [payment] =
    error.code === 'conflict' ? (await listPayments(db, { payment_reference, per_page: 1 })).data : [];
  const existing = payment && {
    href: `${PATH}/${payment.id}`,
    text: `${formatMoney(payment.amount, payment.currency)} of ${formatDate(payment.payment_date)}`,
  };
  return { typed, problems: toProblems(error, typed), existing: existing ?? null };
}
