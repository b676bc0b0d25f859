import {
  type Collected,
  chargeOf,
  collectedFor,
  collectedPayment,
  disputedOf,
  isChargeRefundable,
  isLive,
  type Paid,
  refundedOf,
  requirePositive,
} from '../charges';
import type { CreditNote, Dispute, DisputeStatus, DisputeTransaction, Invoice, Refund } from '../model';
import { action, DAY, emit, epochNow, getFrom, newId, type World, WorldError } from '../world';
import { cancelIntent, changeInvoice, resizeIntent } from './invoices';
import { activateSubscription, invoiceThatIs } from './subscriptions';

export type RefundInput = Paid & {
  /** Amount in minor units. Defaults to the part of the charge that is not refunded yet. */
  amount?: number;
  status?: 'pending' | 'requires_action' | 'succeeded';
  reason?: Refund['reason'];
};

/** Refunds a payment. Emits refund.created and charge.refunded. */
export const refundPayment = action((world, input: RefundInput): Refund => {
  const leftOf = (payment: Collected) => refundable(world, payment);
  const intent = collectedPayment(world, input, leftOf, input.amount);
  const amount = input.amount ?? leftOf(intent);
  if (isChargedBack(world, intent)) {
    throw new WorldError(`Charge ${intent.latestCharge} has been charged back; cannot issue a refund.`);
  }
  const left = leftOf(intent);
  if (left <= 0) throw new WorldError(`Charge ${intent.latestCharge} has already been refunded.`);
  requirePositive(amount);
  if (amount > left) {
    throw new WorldError(`Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`);
  }
  const before = chargeOf(world, intent);
  const refund = world.refunds.put({
    object: 'refund',
    id: newId(world, 're_'),
    created: epochNow(world),
    amount,
    charge: intent.latestCharge,
    paymentIntent: intent.id,
    customer: intent.customer,
    currency: intent.currency,
    status: input.status ?? 'succeeded',
    reason: input.reason ?? null,
    failureReason: null,
    balanceTransaction: newId(world, 'txn_'),
    failureBalanceTransaction: null,
    metadata: {},
  });
  emit(world, 'refund.created', refund);
  emit(world, 'charge.refunded', chargeOf(world, intent), before);
  return refund;
});

const NEXT: Partial<Record<Refund['status'], readonly Refund['status'][]>> = {
  pending: ['succeeded', 'failed', 'canceled'],
  requires_action: ['succeeded', 'failed', 'canceled'],
  // The customer's bank may return a succeeded refund weeks later.
  succeeded: ['failed'],
};

/** Changes a refund's status. Emits refund.updated, then refund.failed if the refund has failed. */
export const settleRefund = action(
  (world, id: string, status: 'succeeded' | 'failed' | 'canceled'): Refund => {
    const before = getFrom(world, 'refund', id);
    if (!NEXT[before.status]?.includes(status)) {
      throw new WorldError(`The refund ${id} is ${before.status} and cannot become ${status}.`);
    }
    const returned = status !== 'succeeded';
    const refund = world.refunds.put({
      ...before,
      status,
      failureReason: status === 'failed' ? 'expired_or_canceled_card' : null,
      failureBalanceTransaction: returned ? newId(world, 'txn_') : null,
    });
    emit(world, 'refund.updated', refund, before);
    if (status === 'failed') emit(world, 'refund.failed', refund);
    return refund;
  },
);

/**
 * Returns the amount of a payment that can still be refunded. It is 0 if the payment has a dispute that is not only an
 * inquiry.
 */
export function refundable(world: World, payment: Collected): number {
  return isChargedBack(world, payment) ? 0 : unrefunded(world, payment);
}

export function unrefunded(world: World, payment: Collected): number {
  return payment.amountReceived - refundedOf(world, payment.latestCharge);
}

function isChargedBack(world: World, { latestCharge }: Collected): boolean {
  return [...world.disputes.where('charge', latestCharge)].some((dispute) => !isChargeRefundable(dispute));
}

type DisputeInput = Paid & {
  /** Amount in minor units. Defaults to the part that is neither refunded nor disputed yet. */
  amount?: number;
  reason?: string;
  /** Whether to open an inquiry, for which the bank does not withdraw money yet. */
  inquiry?: boolean;
};

/** Opens a dispute. Emits charge.dispute.created and, unless it is an inquiry, charge.dispute.funds_withdrawn. */
export const openDispute = action((world, input: DisputeInput): Dispute => {
  const dispute = putDispute(world, input, {
    reason: input.reason ?? 'fraudulent',
    status: input.inquiry ? 'warning_needs_response' : 'needs_response',
    evidenceDueBy: evidenceDueBy(world),
  });
  emit(world, 'charge.dispute.created', dispute);
  if (!input.inquiry) emit(world, 'charge.dispute.funds_withdrawn', dispute);
  return dispute;
});

/**
 * Simulates a paid direct debit that the customer's bank returns. At Stripe, this is a dispute that is lost
 * immediately. Emits charge.dispute.created, charge.dispute.funds_withdrawn and charge.dispute.closed.
 */
export const returnDebit = action((world, input: { invoice: string; reason?: string }): Dispute => {
  const reason = input.reason ?? 'insufficient_funds';
  const dispute = putDispute(world, input, { reason, status: 'lost', evidenceDueBy: 0 });
  emit(world, 'charge.dispute.created', dispute);
  emit(world, 'charge.dispute.funds_withdrawn', dispute);
  emit(world, 'charge.dispute.closed', dispute);
  return dispute;
});

function putDispute(
  world: World,
  paid: Paid & { amount?: number },
  given: Pick<Dispute, 'reason' | 'status' | 'evidenceDueBy'>,
): Dispute {
  // A bank may also dispute an amount that was refunded, because it may not have received the refund yet.
  const leftOf = ({ amountReceived, latestCharge }: Collected) =>
    amountReceived - disputedOf(world, latestCharge);
  const intent = collectedPayment(world, paid, leftOf, paid.amount);
  const amount = paid.amount ?? untouched(world, intent);
  if (paid.amount === undefined && amount <= 0) {
    throw new WorldError(`The charge ${intent.latestCharge} has nothing left to dispute.`);
  }
  requirePositive(amount);
  if (amount > leftOf(intent)) {
    throw new WorldError(
      `The charge ${intent.latestCharge} has ${leftOf(intent)} left to dispute, not ${amount}.`,
    );
  }
  return world.disputes.put({
    object: 'dispute',
    id: newId(world, 'dp_'),
    created: epochNow(world),
    amount,
    charge: intent.latestCharge,
    paymentIntent: intent.id,
    currency: intent.currency,
    ...given,
    submissionCount: 0,
    pastDue: false,
    balanceTransactions: given.status === 'warning_needs_response' ? [] : [moved(world, -amount)],
  });
}

/** Returns the amount of a payment that is neither refunded nor disputed yet. */
export function untouched(world: World, payment: Collected): number {
  return unrefunded(world, payment) - disputedOf(world, payment.latestCharge);
}

const NEXT_STATUSES: Partial<Record<DisputeStatus, readonly DisputeStatus[]>> = {
  warning_needs_response: ['warning_under_review', 'warning_closed', 'needs_response', 'prevented'],
  warning_under_review: ['warning_closed', 'needs_response', 'prevented'],
  needs_response: ['under_review', 'won', 'lost'],
  under_review: ['won', 'lost'],
  // A bank may reverse its decision.
  won: ['lost'],
  lost: ['won'],
};

/**
 * Moves a dispute to another status. A status of review submits evidence, `needs_response` turns an inquiry into a
 * dispute that withdraws the money, `won` returns the money, and `lost` after `won` withdraws it again. Emits
 * charge.dispute.updated, or charge.dispute.closed for a decided or final status. If money moves,
 * charge.dispute.funds_withdrawn or charge.dispute.funds_reinstated follows.
 */
export const moveDispute = action((world, id: string, status: DisputeStatus): Dispute => {
  const before = getFrom(world, 'dispute', id);
  if (!mayBecome(before, status)) {
    throw new WorldError(`The dispute ${id} is ${before.status} and cannot become ${status}.`);
  }
  const dispute = world.disputes.put({ ...before, ...changes(world, before, status), status });
  const isDecided = status === 'won' || status === 'lost' || !NEXT_STATUSES[status];
  if (!isDecided) emit(world, 'charge.dispute.updated', dispute, before);
  else emit(world, 'charge.dispute.closed', dispute);
  if (status === 'needs_response' || before.status === 'won') {
    emit(world, 'charge.dispute.funds_withdrawn', dispute);
  }
  if (status === 'won') emit(world, 'charge.dispute.funds_reinstated', dispute);
  return dispute;
});

export function mayBecome(dispute: Dispute, status: DisputeStatus): boolean {
  return NEXT_STATUSES[dispute.status]?.includes(status) ?? false;
}

function changes(world: World, before: Dispute, status: DisputeStatus): Partial<Dispute> {
  const { balanceTransactions, amount } = before;
  if (status === 'under_review' || status === 'warning_under_review') {
    return { submissionCount: before.submissionCount + 1, pastDue: epochNow(world) > before.evidenceDueBy };
  }
  if (status === 'won') return { balanceTransactions: [...balanceTransactions, moved(world, amount)] };
  const withdrawn = { balanceTransactions: [...balanceTransactions, moved(world, -amount)] };
  if (status === 'lost' && before.status === 'won') return withdrawn;
  return status === 'needs_response' ? { ...withdrawn, evidenceDueBy: evidenceDueBy(world) } : {};
}

/** Picks a random deadline for evidence, 9 to 20 days from now. */
function evidenceDueBy(world: World): number {
  return epochNow(world) + (9 + Math.floor(world.chance.draw() * 12)) * DAY;
}

/** Creates the balance transaction of a dispute. The amount is negative if money leaves the account's balance. */
function moved(world: World, amount: number): DisputeTransaction {
  return { id: newId(world, 'txn_'), created: epochNow(world), amount };
}

interface CreditNoteInput extends Partial<Pick<CreditNote, 'outOfBandAmount' | 'reason'>> {
  invoice: string;
  amount: number;
  /**
   * Amount to refund. Together with `balanceAmount` and `outOfBandAmount`, it must equal the part of `amount` that was
   * already paid.
   */
  refundAmount?: number;
  balanceAmount?: number;
}

/**
 * Creates a credit note. It first reduces the invoice's unpaid amount. The input says how the rest is refunded,
 * credited to the customer's balance or returned outside Stripe. Emits the events of the refunds, then
 * credit_note.created, then the events of `creditInvoice`.
 */
export const createCreditNote = action((world, input: CreditNoteInput): CreditNote => {
  const invoice = invoiceThatIs(world, input.invoice, 'open', 'uncollectible', 'paid');
  requirePositive(input.amount);
  const room = creditable(world, invoice);
  if (input.amount > room) {
    throw new WorldError(`The invoice ${invoice.number} has ${room} left to credit, not ${input.amount}.`);
  }
  const left = invoice.status === 'paid' ? 0 : invoice.amountDue - invoice.amountPaid;
  const prePaymentAmount = Math.min(input.amount, left);
  const postPaymentAmount = input.amount - prePaymentAmount;
  refuseUnequal(input, postPaymentAmount);
  const note = world.creditNotes.put({
    object: 'credit_note',
    id: newId(world, 'cn_'),
    created: epochNow(world),
    number: nextNumber(world, invoice),
    invoice: invoice.id,
    customer: invoice.customer,
    currency: invoice.currency,
    amount: input.amount,
    prePaymentAmount,
    postPaymentAmount,
    outOfBandAmount: input.outOfBandAmount ?? 0,
    customerBalanceTransaction: input.balanceAmount ? newId(world, 'cbtxn_') : null,
    refunds: refundParts(world, invoice, input.refundAmount ?? 0),
    reason: input.reason ?? null,
    status: 'issued',
    voidedAt: null,
    metadata: {},
  });
  emit(world, 'credit_note.created', note);
  creditInvoice(world, invoice, note, 1);
  return note;
});

/** Voids a credit note of an unpaid invoice. Emits credit_note.updated, credit_note.voided and invoice.updated. */
export const voidCreditNote = action((world, id: string): CreditNote => {
  const before = getFrom(world, 'credit_note', id);
  if (before.status === 'void') throw new WorldError(`The credit note ${before.number} is already void.`);
  if (before.postPaymentAmount > 0)
    throw new WorldError(`The credit note ${before.number} gave money back and cannot be voided.`);
  const invoice = invoiceThatIs(world, before.invoice, 'open', 'uncollectible');
  const note = world.creditNotes.put({ ...before, status: 'void', voidedAt: epochNow(world) });
  emit(world, 'credit_note.updated', note, before);
  emit(world, 'credit_note.voided', note);
  creditInvoice(world, invoice, note, -1);
  return note;
});

/**
 * Returns the amount of an invoice that can still be credited. Refunds without a credit note reduce it, as at Stripe.
 */
export function creditable(world: World, invoice: Invoice): number {
  const { total, prePaymentCreditNotesAmount, postPaymentCreditNotesAmount } = invoice;
  const noted = new Set<string>();
  for (const { refunds } of world.creditNotes.where('invoice', invoice.id))
    for (const { refund } of refunds) noted.add(refund);
  const alone = collectedFor(world, invoice)
    .flatMap(({ latestCharge }) => [...world.refunds.where('charge', latestCharge)])
    .filter((refund) => isLive(refund) && !noted.has(refund.id))
    .reduce((sum, { amount }) => sum + amount, 0);
  return total - prePaymentCreditNotesAmount - postPaymentCreditNotesAmount - alone;
}

/** Returns how much of the payments that Stripe collected for an invoice can still be refunded. */
export function refundableOf(world: World, invoice: Invoice): number {
  return collectedFor(world, invoice).reduce((sum, payment) => sum + refundable(world, payment), 0);
}

/** Refunds an amount from one or more charges, because an invoice may have several payments. */
function refundParts(world: World, invoice: Invoice, amount: number): CreditNote['refunds'] {
  const all = refundableOf(world, invoice);
  if (amount > all)
    throw new WorldError(`The invoice ${invoice.number} has ${all} to refund, not ${amount}.`);
  let left = amount;
  return collectedFor(world, invoice).flatMap((payment) => {
    const part = Math.min(left, refundable(world, payment));
    left -= part;
    if (part === 0) return [];
    const { object } = refundPayment(world, { paymentIntent: payment.id, amount: part });
    return [{ refund: object.id, amount: part }];
  });
}

function refuseUnequal(input: CreditNoteInput, wanted: number): void {
  const parts = [input.refundAmount ?? 0, input.balanceAmount ?? 0, input.outOfBandAmount ?? 0];
  const sum = parts.reduce((one, other) => one + other, 0);
  if (sum === wanted && parts.every((part) => part >= 0)) return;
  throw new WorldError(
    `The refund, the credit to the balance and the amount returned outside Stripe must add up to ${wanted}, not ${sum}.`,
  );
}

function nextNumber(world: World, { id, number }: Invoice): string {
  const sequence = [...world.creditNotes.where('invoice', id)].length + 1;
  return `${number}-CN-${String(sequence).padStart(2, '0')}`;
}

/**
 * Applies a credit note to its invoice, and emits invoice.updated. If the credit note settles an unpaid invoice, emits
 * payment_intent.canceled first, and invoice.paid last. This can activate the subscription, which emits another event.
 *
 * @param sign 1 to apply the credit note, -1 to reverse it after it was voided
 */
function creditInvoice(world: World, before: Invoice, note: CreditNote, sign: 1 | -1): void {
  const credited: Partial<Invoice> = {
    amountDue: before.amountDue - sign * note.prePaymentAmount,
    prePaymentCreditNotesAmount: before.prePaymentCreditNotesAmount + sign * note.prePaymentAmount,
    postPaymentCreditNotesAmount: before.postPaymentCreditNotesAmount + sign * note.postPaymentAmount,
  };
  if (before.status === 'paid') {
    changeInvoice(world, before, credited);
  } else if (credited.amountDue === before.amountPaid) {
    cancelIntent(world, before);
    const paidAt = epochNow(world);
    const paid = { status: 'paid', attempted: true, nextPaymentAttempt: null, paidAt } as const;
    activateSubscription(world, changeInvoice(world, before, { ...credited, ...paid }, 'invoice.paid'));
  } else {
    resizeIntent(world, changeInvoice(world, before, credited));
  }
}
