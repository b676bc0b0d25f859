'use server';

import { z } from 'zod';
import { rowId } from '@/lib/fields';
import { issueCreditNote, toWantedCredit } from '@/lib/invoices/credit-notes';
import { applyCredit, staffWriter } from '@/lib/payments/typed-payment';
import { staffRecordWriter } from '@/lib/records/record-kind';
import { checkAction } from '../_components/audit/check-action';
import type { FormState } from '../_components/forms/form';
import { isOutdated, staffFormAction, textsOf, toProblems } from '../_components/page/staff-action';

/** Syncs an invoice, its payments, and their refunds and disputes with Stripe. Redirects to the invoice's page. */
export const check = checkAction('invoice');

/** Issues a credit note for an invoice, and redirects to the invoice's page. */
export const credit = staffFormAction({
  role: 'staff',
  input: [rowId, z.int().min(0)],
  form: ['reason'],
  run: ({ runtime, staff }, id, version, _typed, form) =>
    issueCreditNote(
      runtime.db,
      { id, version },
      toWantedCredit(textsOf(form)),
      staffRecordWriter(runtime, staff),
    ),
  done: (_issued, id) => `/admin/invoices/${id}?notice=credited`,
  refused: ({ code, error }, id, _version, _typed, form): FormState | string => {
    const typed = textsOf(form);
    return isOutdated(code)
      ? `/admin/invoices/${id}?notice=${code}`
      : { typed, problems: toProblems(error, typed) };
  },
});

/** Pays an invoice with its customer's credit, and redirects to the invoice's page. */
export const payWithCredit = staffFormAction({
  role: 'staff',
  input: [rowId, z.int().min(0)],
  form: ['amount'],
  run: ({ runtime, staff }, id, version, { amount }) =>
    applyCredit(runtime.db, { id, version }, amount, staffWriter(runtime, staff)),
  done: (_used, id) => `/admin/invoices/${id}?notice=credit_used`,
  refused: ({ code, problems }, id, _version, typed): FormState | string =>
    isOutdated(code) ? `/admin/invoices/${id}?notice=${code}` : { typed, problems },
});
