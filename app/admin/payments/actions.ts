'use server';

import { notFound } from 'next/navigation';
import { z } from 'zod';
import { formatDate, formatMoney } from '@/app/_components/format';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { AppError } from '@/lib/errors';
import { rowId } from '@/lib/fields';
import { etagOf } from '@/lib/http/etag';
import { CORRECTION_FIELDS, correctPayment } from '@/lib/payments/correct-payment';
import { deletePayment } from '@/lib/payments/delete-payment';
import { normalReference } from '@/lib/payments/normal-reference';
import { listPayments } from '@/lib/payments/queries';
import { recordForInvoice } from '@/lib/payments/record-for-invoice';
import { REFUND_FIELDS, recordTypedRefund } from '@/lib/payments/record-typed-refund';
import type { PaymentRow } from '@/lib/payments/schema';
import { staffWriter } from '@/lib/payments/staff-writer';
import { TYPED_FIELDS } from '@/lib/payments/typed-payment';
import { updatePayment } from '@/lib/payments/update-payment';
import { getRuntime, type Runtime } from '@/lib/runtime';
import { checkNow } from '../_components/audit/check/check-now';
import { leaveFor, refusalOf, toProblems } from '../_components/page/staff-action';
import type { Existing, TypedState } from './payment-forms';

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

export interface PaymentState extends TypedState {
  /** The payment that has the reference already. */
  existing: Existing | null;
}

/** What a payment's form shows after it was refused. */
async function toRefusalState(
  { db }: Runtime,
  typed: PaymentState['typed'],
  error: AppError,
): Promise<PaymentState> {
  const payment_reference = normalReference(typed.payment_reference ?? '').trim();
  const [payment] =
    error.code === 'conflict' ? (await listPayments(db, { payment_reference, per_page: 1 })).data : [];
  const existing = payment && {
    href: `/admin/payments/${payment.id}`,
    text: `${formatMoney(payment.amount, payment.currency)} of ${formatDate(payment.payment_date)}`,
  };
  return { typed, problems: toProblems(error, typed), existing: existing ?? null };
}

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

const sent = z.object({ id: rowId, version: z.string().max(100) });

/** A payment and its tag, as a browser sends them back; anything else is not found. */
const toSent = (id: unknown, version: unknown) => sent.safeParse({ id, version }).data ?? notFound();
