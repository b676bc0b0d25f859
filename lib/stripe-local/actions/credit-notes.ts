import { collectedFor, isLive, requirePositive } from '../charges';
import type { CreditNote, Invoice } from '../model';
import { action, emit, epochNow, getFrom, newId, type World, WorldError } from '../world';
import { cancelIntent, changeInvoice, resizeIntent } from './invoices';
import { refundable, refundPayment } from './money-back';
import { activateSubscription, invoiceThatIs } from './subscriptions';

interface CreditNoteInput extends Partial<Pick<CreditNote, 'outOfBandAmount' | 'reason'>> {
  invoice: string;
  amount: number;
  /** These and `outOfBandAmount` make up what the note gives back of the money that was paid. */
  refundAmount?: number;
  balanceAmount?: number;
}

/**
 * Reduces the remaining amount, and gives the rest back as the input says.
 * → (refund.created, charge.refunded), credit_note.created, invoice.updated; if nothing remains to be paid then
 * (payment_intent.canceled), invoice.updated, invoice.paid
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
  creditInvoice(world, invoice, note);
  return note;
});

/** Only while the invoice is still to be paid → credit_note.updated, credit_note.voided, invoice.updated */
export const voidCreditNote = action((world, id: string): CreditNote => {
  const before = getFrom(world, 'credit_note', id);
  if (before.status === 'void') throw new WorldError(`The credit note ${before.number} is already void.`);
  if (before.postPaymentAmount > 0)
    throw new WorldError(`The credit note ${before.number} gave money back and cannot be voided.`);
  const invoice = invoiceThatIs(world, before.invoice, 'open', 'uncollectible');
  const note = world.creditNotes.put({ ...before, status: 'void', voidedAt: epochNow(world) });
  emit(world, 'credit_note.updated', note, before);
  emit(world, 'credit_note.voided', note);
  uncreditInvoice(world, invoice, note);
  return note;
});

/** What credit notes may still take: as at Stripe, refunds of their own count as well. */
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

/** What can be refunded of everything that Stripe collected for an invoice. */
export function refundableOf(world: World, invoice: Invoice): number {
  return collectedFor(world, invoice).reduce((sum, payment) => sum + refundable(world, payment), 0);
}

/** An invoice may have been paid in parts, each with its own charge. */
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
    `What is refunded, credited to the balance and given back off Stripe must be ${wanted} together, not ${sum}.`,
  );
}

function nextNumber(world: World, { id, number }: Invoice): string {
  const sequence = [...world.creditNotes.where('invoice', id)].length + 1;
  return `${number}-CN-${String(sequence).padStart(2, '0')}`;
}

/** What a new credit note does to its invoice → (payment_intent.canceled), invoice.updated, (invoice.paid) */
function creditInvoice(world: World, before: Invoice, note: CreditNote): void {
  const credited: Partial<Invoice> = {
    amountDue: before.amountDue - note.prePaymentAmount,
    prePaymentCreditNotesAmount: before.prePaymentCreditNotesAmount + note.prePaymentAmount,
    postPaymentCreditNotesAmount: before.postPaymentCreditNotesAmount + note.postPaymentAmount,
  };
  if (before.status === 'paid') {
    changeInvoice(world, before, credited);
  } else if (credited.amountDue === before.amountPaid) {
    cancelIntent(world, before);
    const paid = {
      status: 'paid',
      attempted: true,
      nextPaymentAttempt: null,
      paidAt: epochNow(world),
    } as const;
    activateSubscription(world, changeInvoice(world, before, { ...credited, ...paid }, 'invoice.paid'));
  } else {
    resizeIntent(world, changeInvoice(world, before, credited));
  }
}

/** What a voided one had taken off is to be paid again → invoice.updated */
function uncreditInvoice(world: World, before: Invoice, note: CreditNote): void {
  const invoice = changeInvoice(world, before, {
    amountDue: before.amountDue + note.prePaymentAmount,
    prePaymentCreditNotesAmount: before.prePaymentCreditNotesAmount - note.prePaymentAmount,
  });
  resizeIntent(world, invoice);
}
