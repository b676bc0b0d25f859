'use server';

import { z } from 'zod';
import { rowId } from '@/lib/fields';
import { issueCreditNote, toWantedCredit } from '@/lib/invoices/credit-notes';
import { staffRecordWriter } from '@/lib/records/record-kind';
import { checkAction } from '../_components/audit/check-action';
import type { FormState } from '../_components/forms/form';
import { staffFormAction, toProblems } from '../_components/page/staff-action';

/** Syncs an invoice and its payments with Stripe, and redirects to the invoice's page. */
export const check = checkAction('invoice');

/** Issues a credit note of an invoice, and redirects to the invoice's page. */
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
    return code === 'validation_failed'
      ? { typed, problems: toProblems(error, typed) }
      : `/admin/invoices/${id}?notice=${code}`;
  },
});

const textsOf = (form: FormData): Record<string, string> =>
  Object.fromEntries(
    [...form].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
