'use server';

import { z } from 'zod';
import {
  bookEntry,
  bookExactMatches,
  bookNamedEntry,
  deleteRule,
  explainAsPayout,
  ignoreOutgoing,
  setEntryState,
  undoEntry,
} from '@/lib/bank/book-entries';
import { bookReturn } from '@/lib/bank/returns';
import { rowId } from '@/lib/fields';
import { MAX_SHARES } from '@/lib/payments/stripe-payment';
import { staffWriter } from '@/lib/payments/typed-payment';
import { staffAction, staffFormAction } from '../_components/page/staff-action';

const pageOf = (statement: number, notice: string) => `/admin/bank/${statement}?notice=${notice}`;

const shares = z.array(z.strictObject({ invoice_id: rowId, amount: z.int().min(1) })).max(MAX_SHARES);

/** Books an entry of a bank statement as proposed. If `remember` is set, also stores a rule for the payer's account. */
export const accept = staffFormAction({
  role: 'staff',
  input: [rowId, rowId, rowId, shares],
  form: { remember: 'flag' },
  run: ({ runtime, staff }, _statement, id, customerId, chosen, { remember }) =>
    bookEntry(runtime.db, id, { customerId, shares: chosen, remember }, staffWriter(runtime, staff)),
  done: (_booked, statement) => pageOf(statement, 'booked'),
  refused: ({ code }, statement) => pageOf(statement, code),
});

/** Books an entry for the customer or invoice whose number was typed. */
export const acceptNamed = staffFormAction({
  role: 'staff',
  input: [rowId, rowId],
  form: { named: 'text', remember: 'flag' },
  run: ({ runtime, staff }, _statement, id, { named, remember }) =>
    bookNamedEntry(runtime.db, id, { named: named.trim(), remember }, staffWriter(runtime, staff)),
  done: (_booked, statement) => pageOf(statement, 'booked'),
  refused: ({ code, problems }, statement, _id, typed) =>
    code === 'validation_failed' ? { typed, problems } : pageOf(statement, code),
});

/** Books the exact matches of a statement, at most 300 at once. */
export const acceptExact = staffAction({
  role: 'staff',
  input: [rowId],
  run: ({ runtime, staff }, statement) =>
    bookExactMatches(runtime.db, statement, staffWriter(runtime, staff)),
  done: ({ booked, left }, statement) => pageOf(statement, `exact&booked=${booked}&left=${left}`),
  refused: ({ code }, statement) => pageOf(statement, code),
});

/** Undoes the booking of an entry, so that the entry is open again. */
export const undo = staffAction({
  role: 'staff',
  input: [rowId, rowId],
  run: ({ runtime, staff }, _statement, id) => undoEntry(runtime.db, id, staffWriter(runtime, staff)),
  done: (_undone, statement) => pageOf(statement, 'undone'),
  refused: ({ code }, statement) => pageOf(statement, code === 'conflict' ? 'kept' : code),
});

/** Books an entry as the return of a payment or a transfer. The invoices that this money had paid are owed again. */
export const takeBack = staffAction({
  role: 'staff',
  input: [rowId, rowId, z.enum(['transfer', 'payment']), rowId],
  run: ({ runtime, staff }, _statement, entry, kind, id) =>
    bookReturn(runtime.db, entry, { kind, id }, staffWriter(runtime, staff)),
  done: (_returned, statement) => pageOf(statement, 'returned'),
  refused: ({ code }, statement) => pageOf(statement, code),
});

/** Links an entry to the Stripe payout that the page proposed. */
export const acceptPayout = staffAction({
  role: 'staff',
  input: [rowId, rowId, rowId],
  run: ({ runtime, staff }, _statement, id, payoutId) =>
    explainAsPayout(runtime.db, id, payoutId, staffWriter(runtime, staff)),
  done: (_explained, statement) => pageOf(statement, 'payout'),
  refused: ({ code }, statement) => pageOf(statement, code),
});

/** Ignores an open entry, or reopens an ignored one. */
export const explain = staffAction({
  role: 'staff',
  input: [rowId, rowId, z.enum(['open', 'ignored'])],
  run: ({ runtime, staff }, _statement, id, state) =>
    setEntryState(runtime.db, id, state, staffWriter(runtime, staff)),
  done: (_explained, statement, _id, state) => pageOf(statement, state),
  refused: ({ code }, statement, _id, state) =>
    pageOf(statement, code === 'conflict' && state === 'open' ? 'linked' : code),
});

/** Ignores all open outgoing entries of a statement, except for entries that return a payment. */
export const ignoreOut = staffAction({
  role: 'staff',
  input: [rowId],
  run: ({ runtime, staff }, statement) => ignoreOutgoing(runtime.db, statement, staffWriter(runtime, staff)),
  done: (_ignored, statement) => pageOf(statement, 'ignored'),
  refused: ({ code }, statement) => pageOf(statement, code),
});

/** Deletes the rule that assigns a bank account to a customer. */
export const forget = staffAction({
  role: 'staff',
  input: [rowId],
  run: ({ runtime, staff }, id) => deleteRule(runtime.db, id, staffWriter(runtime, staff)),
  done: () => '/admin/bank?notice=forgotten',
  refused: () => '/admin/bank',
});
