import { startOfDay, toCalendarDate } from '../dates';
import { AppError, invalidField } from '../errors';
import { claimedOf, leftOf } from '../invoices/settle';
import { fromThousandths, MAX_AMOUNT, toAmountText, toThousandths } from '../money';
import { amountProblem } from '../records/fields';
import {
  type Keys,
  keysOf,
  type StoredInvoice,
  type StoredPayment,
  type StoredTransfer,
} from '../store/snapshot';
import {
  create,
  type PaymentDecision,
  type PaymentDraft,
  referenceTaken,
  remove,
  removeShare,
  update,
} from './decide-payment';
import type { CreditSource, PaymentWriter, RefundState } from './schema';
import { isReleasable, MAX_REFERENCE, MAX_SHARES, namesStripeMoney } from './stripe-payment';

/** A part of a transfer that pays an invoice. */
export interface Share {
  invoice_id: number;
  amount: number;
}

export interface TransferValues {
  amount: number;
  payment_date: string;
  reference: string;
  method: string | null;
}

/** The reference of the transfer to change, and the version that the page showed. */
interface Seen {
  reference: string;
  version: number;
}

export type TransferChange =
  | { kind: 'record'; customer_id: number; currency: string; values: TransferValues; shares: Share[] }
  | { kind: 'correct'; seen: Seen; values: TransferValues }
  /** With `onlyKept`, the change is refused if money of the transfer was paid back, refunded or returned. */
  | { kind: 'delete'; seen: Seen; onlyKept?: boolean | undefined }
  | { kind: 'pay_back'; seen: Seen; amount: number; date: string }
  | { kind: 'undo_pay_back'; seen: Seen; position: number }
  /** The bank has taken back the whole transfer. `date` is the day of the return. */
  | { kind: 'return'; seen: Seen; date: string }
  | { kind: 'undo_return'; seen: Seen }
  /** Pays an invoice with credit, from the sources in the given order. `hasMore` if the customer has other sources. */
  | { kind: 'use_credit'; invoice_id: number; amount: number; sources: CreditSource[]; hasMore: boolean };

/** The decided change. `transfer` is null if it was deleted, or if the change does not concern a single transfer. */
export interface TransferDecision {
  transfer: StoredTransfer | null;
  payments: PaymentDecision[];
}

/** Returns all references that the payments of a transfer can have: REF, REF/2, REF/3, … */
function namesOf(reference: string): string[] {
  return Array.from({ length: MAX_SHARES }, (_, at) => (at === 0 ? reference : `${reference}/${at + 1}`));
}

/** Returns the keys of all rows that a decision about a transfer reads. */
export function keysOfTransfer(change: TransferChange): Keys {
  if (change.kind === 'record') {
    return keysOf({
      recorded: namesOf(change.values.reference),
      invoiceIds: change.shares.map(({ invoice_id }) => invoice_id),
      mergedIds: [change.customer_id],
    });
  }
  if (change.kind === 'use_credit') {
    const { sources } = change;
    const references = sources.map((one) => ('transfer' in one ? one.transfer : one.reference));
    return keysOf({
      transfers: references,
      recorded: references.flatMap(namesOf),
      paymentIds: sources.flatMap((one) => ('payment' in one ? one.payment : [])),
      invoiceIds: [change.invoice_id],
    });
  }
  const { reference } = change.seen;
  const renamed = change.kind === 'correct' && change.values.reference !== reference;
  return keysOf({
    transfers: [reference],
    ...(renamed && { recorded: namesOf(change.values.reference) }),
  });
}

/**
 * Decides on a change of a transfer, and adds the changed rows to the draft. Afterwards, the amount of the transfer
 * equals the sum of its payments, its credit and the credit that was paid back.
 *
 * @throws AppError not_found; precondition_failed if the transfer has changed; validation_failed with the fields, where
 * `share_N` is the share of the invoice with id N; conflict, for example if the reference is taken
 */
export function decideTransfer(
  draft: PaymentDraft,
  change: TransferChange,
  writer: PaymentWriter,
): TransferDecision {
  switch (change.kind) {
    case 'record':
      return record(draft, change, writer);
    case 'use_credit':
      return { transfer: null, payments: payWithCredit(draft, change, writer) };
    case 'correct':
      return correct(draft, findSeen(draft, change.seen), change.values, writer);
    case 'delete':
      return deleteWhole(draft, findSeen(draft, change.seen), change, writer);
    case 'pay_back':
      return payBack(draft, findSeen(draft, change.seen), change, writer);
    case 'return':
      return returnWhole(draft, findSeen(draft, change.seen), change.date, writer);
    case 'undo_return':
      return undoReturn(draft, findSeen(draft, change.seen), writer);
    case 'undo_pay_back':
      return undoPayBack(draft, findSeen(draft, change.seen), change.position);
  }
}

function findSeen(draft: PaymentDraft, { reference, version }: Seen): StoredTransfer {
  const transfer = draft.findTransfer(reference);
  if (!transfer) throw new AppError('not_found', `There is no transfer ${reference}.`);
  if (transfer.version !== version) {
    throw new AppError('precondition_failed', 'The transfer has changed since you read it: read it again.');
  }
  return transfer;
}

function record(
  draft: PaymentDraft,
  { customer_id, currency, values, shares }: TransferChange & { kind: 'record' },
  writer: PaymentWriter,
): TransferDecision {
  checkValues(draft, values, currency, writer);
  const total = shares.reduce((sum, { amount }) => sum + toThousandths(String(amount)), 0);
  if (total > toThousandths(String(values.amount))) {
    const text = toAmountText(fromThousandths(total), currency);
    throw invalidField('amount', `must be at least ${text}, which is the sum of the shares`);
  }
  const { amount, payment_date, reference, method } = values;
  const made: StoredTransfer = {
    id: draft.newId(),
    customer_id: draft.snapshot.mergedInto.get(customer_id) ?? customer_id,
    ...{ amount: amount.toFixed(3), credit: amount.toFixed(3), paid_back: [], currency },
    ...{ payment_date, reference, method, version: 0 },
    ...{ created_at: writer.now, updated_at: writer.now },
  };
  draft.transfers.put(made);
  const payments = shares.map((share) => {
    try {
      return allocate(draft, reference, share, writer);
    } catch (error) {
      throw toShareError(error, share);
    }
  });
  return { transfer: made, payments };
}

/**
 * Moves a validation error of a share's payment to the form field `share_N`, where N is the id of the invoice. Returns
 * any other error unchanged.
 */
function toShareError(error: unknown, { invoice_id }: Share): unknown {
  if (!(error instanceof AppError) || error.code !== 'validation_failed') return error;
  const [first] = error.fields;
  return first ? invalidField(`share_${invoice_id}`, first.message) : error;
}

function checkValues(
  draft: PaymentDraft,
  { amount, payment_date, reference }: TransferValues,
  currency: string,
  { now, timeZone }: PaymentWriter,
  before?: StoredTransfer,
): void {
  const problem =
    amountProblem(amount, currency) ?? (amount > MAX_AMOUNT ? `must be at most ${MAX_AMOUNT}` : null);
  if (problem) throw invalidField('amount', problem);
  if (payment_date > toCalendarDate(now, timeZone)) {
    throw invalidField('payment_date', 'must not be in the future');
  }
  if (reference === before?.reference) return;
  if (namesStripeMoney(reference)) {
    throw invalidField(
      'payment_reference',
      'must not be a Stripe id, because Stripe reports its own payments',
    );
  }
  if (reference.length > MAX_REFERENCE) {
    throw invalidField(
      'payment_reference',
      `must have at most ${MAX_REFERENCE} characters, so that its payments can be numbered`,
    );
  }
  const isTaken = draft.payments.all().some((row) => row.payment_reference === reference);
  if (isTaken || draft.findTransfer(reference)) throw referenceTaken();
}

/**
 * Pays an invoice from the credit of a transfer. If the transfer already has an unrefunded payment for this invoice,
 * increases that payment's amount.
 */
function allocate(
  draft: PaymentDraft,
  reference: string,
  { invoice_id, amount }: Share,
  writer: PaymentWriter,
): PaymentDecision {
  const transfer = draft.findTransfer(reference);
  if (!transfer) throw new Error('the transfer was not read');
  const invoice = draft.invoices.get(invoice_id);
  if (invoice && invoice.currency !== transfer.currency) {
    const [its, ours] = [invoice.currency, transfer.currency].map((code) => code.toUpperCase());
    throw invalidField('amount', `is in ${ours}, and the invoice in ${its}`);
  }
  const before = draft.payments.all().find((row) => isShareOf(row, reference, invoice_id)) ?? null;
  if (before) {
    const sum = (toThousandths(before.amount) + toThousandths(String(amount))) / 1000;
    return { before, after: update(draft, before, { amount: sum }, writer) };
  }
  const { customer_id, payment_date } = transfer;
  const payment_reference = freeName(draft, reference);
  const input = { invoice_id, customer_id, amount, payment_date, payment_reference };
  // Keep the source of the transfer's payments, including a payment that has just become a transfer. The source selects
  // the ledger account of the money, and the use of credit must not move money between accounts.
  const isPartOfIt = (row: StoredPayment) => (row.transfer ?? row.payment_reference) === reference;
  const { source } = [...draft.snapshot.rows.payments.values()].find(isPartOfIt) ?? writer;
  return { before, after: create(draft, input, writer, { source, transfer: reference }) };
}

const isShareOf = (row: StoredPayment, reference: string, invoiceId: number) =>
  row.transfer === reference && row.invoice_id === invoiceId && Number(row.refunded_amount) === 0;

/**
 * Returns the first free reference for a payment of a transfer. References that are in use before the commit count as
 * taken, even if this draft frees them.
 */
function freeName(draft: PaymentDraft, reference: string): string {
  const rows = [...draft.snapshot.rows.payments.values(), ...draft.payments.all()];
  const others = draft.transfers.all().filter((one) => one.reference !== reference);
  const taken = new Set([...rows.map((row) => row.payment_reference), ...others.map((one) => one.reference)]);
  const free = namesOf(reference).find((name) => !taken.has(name));
  if (free === undefined) {
    throw new AppError(
      'conflict',
      `Transfer ${reference} already has ${MAX_SHARES} payments, and cannot have more.`,
    );
  }
  return free;
}

/** Pays an invoice with the customer's credit. @throws AppError, for example if the credit is too small */
function payWithCredit(
  draft: PaymentDraft,
  { invoice_id, amount, sources, hasMore }: TransferChange & { kind: 'use_credit' },
  writer: PaymentWriter,
): PaymentDecision[] {
  const target = draft.invoices.get(invoice_id);
  if (!target) throw new AppError('not_found', `There is no invoice ${invoice_id}.`);
  const problem = amountProblem(amount, target.currency);
  if (problem) throw invalidField('amount', problem);
  const wanted = toThousandths(String(amount));
  if (target.stripe_invoice_id === null && wanted > toThousandths(target.amount_due)) {
    const text = toAmountText(target.amount_due, target.currency);
    throw invalidField('amount', `must be at most ${text}, which the invoice owes`);
  }
  let left = wanted;
  const decisions: PaymentDecision[] = [];
  for (const source of sources) {
    const part = Math.min(left, availableIn(draft, source, target));
    if (part === 0) continue;
    if ('payment' in source) decisions.push(release(draft, source.payment, part, writer));
    const reference = 'transfer' in source ? source.transfer : source.reference;
    decisions.push(allocate(draft, reference, { invoice_id, amount: part / 1000 }, writer));
    left -= part;
  }
  if (left > 0) {
    const text = toAmountText(fromThousandths(wanted - left), target.currency);
    const reason = hasMore
      ? `because one payment can use only ${sources.length} credits`
      : "which is the customer's credit";
    throw invalidField('amount', `must be at most ${text}, ${reason}`);
  }
  return decisions;
}

/** Returns how many thousandths of a source can pay an invoice. Returns 0 if the customer or the currency differs. */
function availableIn(draft: PaymentDraft, source: CreditSource, target: StoredInvoice): number {
  if ('transfer' in source) {
    const transfer = draft.findTransfer(source.transfer);
    const isIts = transfer?.customer_id === target.customer_id && transfer.currency === target.currency;
    return isIts ? toThousandths(transfer.credit) : 0;
  }
  const payment = draft.payments.get(source.payment);
  const invoice = payment && draft.invoices.get(payment.invoice_id);
  if (!payment || !invoice || invoice.id === target.id || !isReleasable(payment)) return 0;
  if (invoice.customer_id !== target.customer_id || invoice.currency !== target.currency) return 0;
  return Math.min(leftOf(payment), overpaidBy(draft, invoice));
}

/**
 * Returns by how many thousandths the payments of one of our own invoices exceed what it claims. Ignores an amount that
 * was imported as paid without payments, because there is no payment that could be reduced.
 */
function overpaidBy(draft: PaymentDraft, invoice: StoredInvoice): number {
  const { stripe_invoice_id, status } = invoice;
  if (stripe_invoice_id !== null || (status !== 'paid' && status !== 'cancelled')) return 0;
  return Math.max(0, draft.paidOf(invoice.id).all - claimedOf(invoice));
}

/** Moves a part of a payment to the credit of its transfer. If the payment has no transfer, first creates one. */
function release(draft: PaymentDraft, id: number, part: number, writer: PaymentWriter): PaymentDecision {
  const before = draft.payments.get(id);
  if (!before) throw new Error('the payment was not read');
  if (before.transfer === null) draft.transfers.put(toTransfer(draft, before, writer));
  const share = { ...before, transfer: before.transfer ?? before.payment_reference };
  const rest = toThousandths(share.amount) - part;
  if (rest > 0) return { before, after: update(draft, share, { amount: rest / 1000 }, writer) };
  removeShare(draft, share, writer);
  return { before, after: null };
}

function toTransfer(draft: PaymentDraft, payment: StoredPayment, { now }: PaymentWriter): StoredTransfer {
  const { customer_id, amount, currency, payment_date, payment_reference: reference } = payment;
  return {
    id: draft.newId(),
    ...{
      customer_id,
      amount,
      credit: '0.000',
      paid_back: [],
      currency,
      payment_date,
      reference,
      method: null,
    },
    ...{ version: 0, created_at: now, updated_at: now },
  };
}

function correct(
  draft: PaymentDraft,
  before: StoredTransfer,
  values: TransferValues,
  writer: PaymentWriter,
): TransferDecision {
  checkValues(draft, values, before.currency, writer, before);
  const used = toThousandths(before.amount) - toThousandths(before.credit);
  const credit = toThousandths(String(values.amount)) - used;
  if (credit < 0) {
    const text = toAmountText(fromThousandths(used), before.currency);
    throw invalidField('amount', `must be at least ${text}, which pays invoices or was paid back`);
  }
  const { amount, payment_date, reference, method } = values;
  const changed = { amount: amount.toFixed(3), credit: fromThousandths(credit) };
  const after = draft.transfers.put({ ...before, ...changed, payment_date, reference, method });
  const shares = sharesOf(draft, before).sort((a, b) => a.id - b.id);
  const payments = shares.map((share) => {
    const isRenamed = reference !== before.reference;
    const payment_reference = isRenamed ? freeName(draft, reference) : share.payment_reference;
    const decided = update(draft, share, { payment_date, payment_reference }, writer);
    return { before: share, after: draft.payments.put({ ...decided, transfer: reference }) };
  });
  return { transfer: after, payments };
}

const sharesOf = (draft: PaymentDraft, { reference }: StoredTransfer) =>
  draft.payments.all().filter(({ transfer }) => transfer === reference);

/** Deletes a transfer with its payments and their refunds that were recorded here. */
function deleteWhole(
  draft: PaymentDraft,
  transfer: StoredTransfer,
  { onlyKept = false }: { onlyKept?: boolean | undefined },
  writer: PaymentWriter,
): TransferDecision {
  const shares = sharesOf(draft, transfer);
  if (onlyKept && isPartlyReturned(transfer, shares)) {
    throw new AppError(
      'conflict',
      'Money of this transfer was paid back, refunded or returned: open the transfer to undo that or to delete it, or undo the entry of the return.',
    );
  }
  for (const share of shares) remove(draft, share, writer);
  draft.transfers.delete(transfer.id);
  return { transfer: null, payments: shares.map((before) => ({ before, after: null })) };
}

const isPartlyReturned = ({ paid_back }: StoredTransfer, shares: StoredPayment[]) =>
  paid_back.length > 0 || shares.some(({ refunded_amount }) => Number(refunded_amount) > 0);

const MAX_PAID_BACK = 99;

function payBack(
  draft: PaymentDraft,
  transfer: StoredTransfer,
  { amount, date }: { amount: number; date: string },
  { now, timeZone }: PaymentWriter,
): TransferDecision {
  const problem = amountProblem(amount, transfer.currency);
  if (problem) throw invalidField('amount', problem);
  const credit = toThousandths(transfer.credit) - toThousandths(String(amount));
  if (credit < 0) {
    const text = toAmountText(transfer.credit, transfer.currency);
    throw invalidField('amount', `must be at most ${text}, which is the credit`);
  }
  if (date > toCalendarDate(now, timeZone)) throw invalidField('date', 'must not be in the future');
  if (date < transfer.payment_date) throw invalidField('date', 'must not be before the transfer');
  if (transfer.paid_back.length === MAX_PAID_BACK) {
    throw new AppError(
      'conflict',
      `Transfer ${transfer.reference} was already paid back ${MAX_PAID_BACK} times, and cannot be paid back again.`,
    );
  }
  const paid_back = [...transfer.paid_back, { amount: amount.toFixed(3), date }];
  return {
    transfer: draft.transfers.put({ ...transfer, credit: fromThousandths(credit), paid_back }),
    payments: [],
  };
}

function undoPayBack(draft: PaymentDraft, transfer: StoredTransfer, position: number): TransferDecision {
  const undone = transfer.paid_back[position];
  if (!undone) throw new AppError('not_found', 'This amount was not paid back.');
  if (undone.is_return) {
    throw new AppError('conflict', 'The bank returned this amount: undo the return in the bank statement.');
  }
  return restoreCredit(draft, transfer, undone);
}

function restoreCredit(
  draft: PaymentDraft,
  transfer: StoredTransfer,
  undone: StoredTransfer['paid_back'][number],
): TransferDecision {
  const paid_back = transfer.paid_back.filter((one) => one !== undone);
  const credit = fromThousandths(toThousandths(transfer.credit) + toThousandths(undone.amount));
  return { transfer: draft.transfers.put({ ...transfer, credit, paid_back }), payments: [] };
}

/** Reason of a refund that records that the bank took the money back. */
export const BANK_RETURN = 'returned_by_bank';

/**
 * Marks all payments of a transfer as refunded and its credit as paid back, so that its invoices become due again.
 *
 * @throws AppError conflict if a part was already refunded or paid back, because the bank returns only whole transfers
 */
function returnWhole(
  draft: PaymentDraft,
  transfer: StoredTransfer,
  date: string,
  writer: PaymentWriter,
): TransferDecision {
  const { reference, credit } = transfer;
  const shares = sharesOf(draft, transfer);
  if (isPartlyReturned(transfer, shares)) {
    throw new AppError('conflict', `A part of transfer ${reference} was refunded or paid back already.`);
  }
  const refund = { refundedAt: startOfDay(date, writer.timeZone), refundReason: BANK_RETURN };
  const payments = shares.map((share) => ({
    before: share,
    after: update(draft, share, { cameBack: Number(share.amount), ...refund }, writer),
  }));
  if (toThousandths(credit) === 0) return { transfer, payments };
  const returned = [{ amount: credit, date, is_return: true as const }];
  return { transfer: draft.transfers.put({ ...transfer, credit: '0.000', paid_back: returned }), payments };
}

/** Returns whether a payment is refunded because the bank took the money back, and not for another reason. */
export const wasReturned = (payment: StoredPayment, refunds: RefundState[]) =>
  payment.status === 'refunded' &&
  refunds.some(({ reason, status }) => reason === BANK_RETURN && status !== 'cancelled');

/**
 * Undoes a return by the bank. The payments that the return refunded become completed, and the returned credit is
 * restored.
 */
function undoReturn(draft: PaymentDraft, transfer: StoredTransfer, writer: PaymentWriter): TransferDecision {
  const payments = sharesOf(draft, transfer)
    .filter((share) => wasReturned(share, draft.moneyBackOf(share.id).refunds))
    .map((share) => ({ before: share, after: update(draft, share, { status: 'completed' }, writer) }));
  const returned = transfer.paid_back.find(({ is_return }) => is_return);
  const undone = returned ? restoreCredit(draft, transfer, returned) : { transfer };
  return { ...undone, payments };
}
