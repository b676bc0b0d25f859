'use server';

import { z } from 'zod';
import { rowId } from '@/lib/fields';
import {
  correctTransfer,
  deleteTransfer,
  payBackCredit,
  REFUND_FIELDS,
  recordTransfer,
  staffWriter,
  TRANSFER_FIELDS,
  undoPayBack,
} from '@/lib/payments/typed-payment';
import type { FormState } from '../../_components/forms/form';
import {
  refuseStep,
  staffAction,
  staffFormAction,
  textsOf,
  toProblems,
} from '../../_components/page/staff-action';

/** Row version of the transfer that the page showed. */
const version = z.int().min(0);
const currency = z.string().regex(/^[a-z]{3}$/);

const pageOf = (id: number, notice: string) => `/admin/payments/transfers/${id}?notice=${notice}`;

/** Records a transfer from a customer, and redirects to the transfer's page. */
export const spread = staffFormAction({
  role: 'staff',
  input: [rowId, currency],
  form: TRANSFER_FIELDS,
  run: ({ runtime, staff }, customerId, code, _typed, form) =>
    recordTransfer(runtime.db, customerId, code, textsOf(form), staffWriter(runtime, staff)),
  done: (id) => pageOf(id, 'recorded'),
  refused: ({ error, code }, customerId, _code, _typed, form): FormState | string => {
    if (code === 'not_found') return `/admin/customers/${customerId}`;
    const typed = textsOf(form);
    return { typed, problems: toProblems(error, typed) };
  },
});

/** Corrects a transfer. The form shows which values were refused. Other errors redirect to the transfer's page. */
export const correct = staffFormAction({
  role: 'staff',
  input: [rowId, version],
  form: TRANSFER_FIELDS,
  run: ({ runtime, staff }, id, seen, typed) =>
    correctTransfer(runtime.db, { id, version: seen }, typed, staffWriter(runtime, staff)),
  done: (_corrected, id) => pageOf(id, 'edited'),
  refused: ({ code, problems }, id, _seen, typed): FormState | string =>
    code === 'validation_failed' || code === 'conflict' ? { typed, problems } : pageOf(id, code),
});

/** Records that all or part of a transfer's credit was paid back to the customer. */
export const payBack = staffFormAction({
  role: 'staff',
  input: [rowId, version],
  form: REFUND_FIELDS,
  run: ({ runtime, staff }, id, seen, typed) =>
    payBackCredit(runtime.db, { id, version: seen }, typed, staffWriter(runtime, staff)),
  done: (_paidBack, id) => pageOf(id, 'paid_back'),
  refused: ({ code, problems }, id, _seen, typed): FormState | string =>
    code === 'validation_failed' || code === 'conflict' ? { typed, problems } : pageOf(id, code),
});

/** Removes the record that an amount was paid back, so that the amount becomes credit again. */
export const withdraw = staffAction({
  role: 'staff',
  input: [rowId, version, z.int().min(0)],
  run: ({ runtime, staff }, id, seen, position) =>
    undoPayBack(runtime.db, { id, version: seen }, position, staffWriter(runtime, staff)),
  done: (_withdrawn, id) => pageOf(id, 'withdrawn'),
  refused: (refusal, id) => refuseStep(refusal, `/admin/payments/transfers/${id}`),
});

/** Deletes a transfer with its payments, and redirects to the customer's page. */
export const remove = staffAction({
  role: 'staff',
  input: [rowId, version, rowId],
  run: ({ runtime, staff }, id, seen) =>
    deleteTransfer(runtime.db, { id, version: seen }, staffWriter(runtime, staff)),
  done: (_deleted, _id, _seen, customerId) => `/admin/customers/${customerId}?notice=transfer_deleted`,
  refused: (refusal, id) => refuseStep(refusal, `/admin/payments/transfers/${id}`),
});
