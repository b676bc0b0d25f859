'use server';

import { z } from 'zod';
import type { ErrorCode } from '@/lib/errors';
import { rowId } from '@/lib/fields';
import { etagOf } from '@/lib/http/messages';
import { listPayments } from '@/lib/payments/queries';
import { normalReference, type PaymentRow } from '@/lib/payments/schema';
import {
  CORRECTION_FIELDS,
  correctPayment,
  REFUND_FIELDS,
  recordForInvoice,
  recordTypedRefund,
  staffWriter,
  TYPED_FIELDS,
} from '@/lib/payments/typed-payment';
import { deletePayment, updatePayment } from '@/lib/payments/write-payment';
import type { Runtime } from '@/lib/runtime';
import { formatDate, formatMoney } from '../../_components/format';
import { checkAction } from '../_components/audit/check-action';
import type { FormState } from '../_components/forms/form';
import { refuseStep, staffAction, staffFormAction } from '../_components/page/staff-action';

/** ETag of the payment as the page showed it, to detect that the payment has changed since then. */
const tag = z.string().max(100);

const pageOf = (id: number, notice: string) => `/admin/payments/${id}?notice=${notice}`;

/** Records a payment for an invoice, and redirects to the payment's page. */
export const record = staffFormAction({
  role: 'staff',
  input: [rowId],
  form: TYPED_FIELDS,
  run: ({ runtime, staff }, invoiceId, typed) =>
    recordForInvoice(runtime.db, invoiceId, typed, staffWriter(runtime, staff)),
  done: ({ id }) => pageOf(id, 'recorded'),
  refused: ({ runtime, code, problems }, _invoiceId, typed) => toFormState(runtime, typed, code, problems),
});

/** Corrects a payment. If a value is refused, the form shows the error. Other errors redirect to the payment's page. */
export const edit = staffFormAction({
  role: 'staff',
  input: [rowId, tag],
  form: CORRECTION_FIELDS,
  run: ({ runtime, staff }, id, version, typed) =>
    correctPayment(runtime.db, id, typed, staffWriter(runtime, staff), (now) => etagOf(now) === version),
  done: (_corrected, id) => pageOf(id, 'edited'),
  refused: async ({ runtime, code, problems }, id, _version, typed): Promise<FormState | string> =>
    code === 'validation_failed' || code === 'conflict'
      ? toFormState(runtime, typed, code, problems, id)
      : pageOf(id, code),
});

/** Returns the state of a refused form. If a payment other than `own` has the reference, the error links to it. */
async function toFormState(
  { db }: Runtime,
  typed: Record<string, string>,
  code: ErrorCode,
  problems: FormState['problems'],
  own = 0,
): Promise<FormState> {
  if (code !== 'conflict') return { typed, problems };
  const payment_reference = normalReference(typed.payment_reference ?? '').trim();
  const [payment] = (await listPayments(db, { payment_reference, per_page: 1 })).data;
  if (!payment || payment.id === own) return { typed, problems };
  const { id, amount, currency, payment_date } = payment;
  const link = {
    href: `/admin/payments/${id}`,
    text: `${formatMoney(amount, currency)} of ${formatDate(payment_date)}`,
  };
  const taken = { text: 'Another payment has this reference:', link };
  return { typed, problems: { ...problems, payment_reference: taken } };
}

/** Records a full or partial refund of a payment. */
export const refund = staffFormAction({
  role: 'staff',
  input: [rowId, tag],
  form: REFUND_FIELDS,
  run: ({ runtime, staff }, id, version, typed) =>
    recordTypedRefund(runtime.db, id, typed, staffWriter(runtime, staff), isAsSeen(version)),
  done: (_refunded, id) => pageOf(id, 'refund-recorded'),
  refused: ({ code, problems }, id, _version, typed): FormState | string =>
    code === 'validation_failed'
      ? { typed, problems }
      : pageOf(id, code === 'conflict' ? 'precondition_failed' : code),
});

/** Marks a completed payment as refunded in full. */
export const markRefunded = staffAction({
  role: 'staff',
  input: [rowId, tag],
  run: ({ runtime, staff }, id, version) =>
    updatePayment(
      runtime.db,
      id,
      { status: 'refunded' },
      staffWriter(runtime, staff),
      isAsSeen(version, 'completed'),
    ),
  done: (_updated, id) => pageOf(id, 'refunded'),
  refused: (refusal, id) => refuseStep(refusal, `/admin/payments/${id}`),
});

/** Completes a pending payment, or marks it as failed. */
export const decide = staffAction({
  role: 'staff',
  input: [rowId, tag, z.enum(['completed', 'failed'])],
  run: ({ runtime, staff }, id, version, status) =>
    updatePayment(runtime.db, id, { status }, staffWriter(runtime, staff), isAsSeen(version, 'pending')),
  done: (_updated, id, _version, status) => pageOf(id, status),
  refused: (refusal, id) => refuseStep(refusal, `/admin/payments/${id}`),
});

/** Deletes a payment, and redirects to the list of payments, which shows a notice about the deletion. */
export const remove = staffAction({
  role: 'staff',
  input: [rowId, tag],
  run: ({ runtime, staff }, id, version) =>
    deletePayment(runtime.db, id, staffWriter(runtime, staff), isAsSeen(version)),
  done: (_deleted, id) => `/admin/payments?deleted=${id}`,
  // If another person has already deleted the payment, the notice on the list names that person.
  refused: (refusal, id) =>
    refusal.code === 'not_found'
      ? `/admin/payments?deleted=${id}`
      : refuseStep(refusal, `/admin/payments/${id}`),
});

/** Syncs a payment, its invoice, its refunds and its disputes with Stripe. */
export const check = checkAction('payment');

/** Returns a check that a payment is unchanged since the page was loaded and, if `status` is given, has that status. */
const isAsSeen = (version: string, status?: PaymentRow['status']) => (current: PaymentRow | null) =>
  current !== null && etagOf(current) === version && (status === undefined || current.status === status);
