'use server';

import { z } from 'zod';
import { eraseCustomer, requireErasable } from '@/lib/erasure/erase-customer';
import { invalidField } from '@/lib/errors';
import { rowId } from '@/lib/fields';
import { mergeCustomers } from '@/lib/sync/staff/merge-customers';
import { syncDeps } from '@/lib/sync/sync-deps';
import { toHref } from '../../_components/search-params';
import type { FormState } from '../_components/forms/form';
import { staffFormAction } from '../_components/page/staff-action';

/** Erases a customer. The typed customer number confirms the action. */
export const erase = staffFormAction({
  role: 'admin',
  input: [rowId],
  form: ['customer_number'],
  run: async ({ runtime: { db, env, now }, actor }, id, { customer_number }) => {
    const number = await requireErasable(db, id);
    if (customer_number.trim().toLowerCase() !== number.toLowerCase())
      throw invalidField('customer_number', `this is not the number of this customer: type ${number}`);
    await eraseCustomer(db, id, { actor, now: now(), timeZone: env.timeZone });
  },
  done: (_erased, id) => `/admin/customers/${id}?notice=erased`,
  refused: ({ problem }, _id, { customer_number }): FormState => ({
    typed: { customer_number: customer_number.trim() },
    problems: { customer_number: problem },
  }),
});

/** A customer's id and the row version that the page showed. */
const seen = z.object({ id: rowId, version: z.int().min(0) });

/** Merges a customer into another. Redirects to the remaining customer or, if refused, to the merge page. */
export const merge = staffFormAction({
  role: 'admin',
  input: [seen, seen],
  form: { take: 'texts' },
  run: ({ runtime, actor }, gone, kept, { take: taken }) =>
    mergeCustomers(syncDeps(runtime), actor, { gone, kept, taken }),
  done: (_merged, _gone, kept) => `/admin/customers/${kept.id}?notice=merged`,
  refused: ({ code }, gone, kept) =>
    toHref(`/admin/customers/${kept.id}/merge`, { to: String(gone.id), notice: code }),
});
