import { createCreditNote, refundPayment, settleRefund, voidCreditNote } from './actions';
import { collectedFor } from './actions/collected';
import { creditable } from './actions/credit-notes';
import { refundable } from './actions/refunds';
import { findInvoiceWith, findReturned } from './find-returned';
import { ControlError } from './find-target';
import { type Happened, type Happening, statusOf } from './happening';
import type { Invoice } from './model';
import type { World } from './world';

/** What happens to refunds and credit notes. */
export const RETURN_HAPPENINGS = {
  'refund.created': (target: Happening) => refund(target, 'refund.created'),
  'charge.refunded': (target: Happening) => refund(target, 'charge.refunded'),
  'refund.updated': (target: Happening) => {
    const status = statusOf('refund.updated', target);
    const waits = ['pending', 'requires_action'];
    return settle(target, status, waits, 'unsettled refund');
  },
  'refund.failed': (target: Happening) => {
    const mayFail = ['pending', 'requires_action', 'succeeded'];
    return settle(target, 'failed', mayFail, 'refund that could fail');
  },
  'credit_note.created': (target: Happening) => {
    const { world } = target;
    const invoice = findInvoiceWith(
      target,
      (one) => ['open', 'paid', 'uncollectible'].includes(one.status) && creditable(world, one) > 0,
      'creditable invoice',
    );
    const { object } = createCreditNote(world, { invoice: invoice.id, ...partsOf(world, invoice) });
    return {
      action: `The credit note ${object.number} was issued on the invoice ${invoice.number}.`,
      objects: [object, ...invoiceNow(world, invoice.id)],
    };
  },
  'credit_note.voided': (target: Happening) => {
    const { world } = target;
    const isVoidable = (id: string) =>
      ['open', 'uncollectible'].includes(world.invoices.get(id)?.status ?? '');
    const note = findReturned(
      target,
      world.creditNotes,
      ({ status, invoice, postPaymentAmount }) =>
        status === 'issued' && postPaymentAmount === 0 && isVoidable(invoice),
      'voidable credit note',
    );
    const { object } = voidCreditNote(world, note.id);
    return {
      action: `The credit note ${object.number} was voided.`,
      objects: [object, ...invoiceNow(world, object.invoice)],
    };
  },
};

function refund(target: Happening, type: 'refund.created' | 'charge.refunded'): Happened {
  const { world } = target;
  const invoice = findInvoiceWith(target, (one) => refundableOf(world, one) > 0, 'refundable invoice');
  const { object } = refundPayment(world, { invoice: invoice.id, status: statusOf(type, target) });
  return {
    action: `The payment of the invoice ${invoice.number} was refunded; the refund is ${object.status}.`,
    objects: [object, invoice],
  };
}

function settle(
  target: Happening,
  status: 'succeeded' | 'failed' | 'canceled',
  from: string[],
  noun: string,
): Happened {
  const { world } = target;
  const { id } = findReturned(target, world.refunds, (one) => from.includes(one.status), noun);
  const { object } = settleRefund(world, id, status);
  return { action: `The refund ${id} is ${status} now.`, objects: [object] };
}

/** Half of the remaining amount, so that the invoice stays open. Of a paid invoice all, and as much as possible is refunded. */
function partsOf(world: World, invoice: Invoice) {
  const amount = creditable(world, invoice);
  if (amount <= 0) throw new ControlError(409, `Nothing is left of the invoice ${invoice.number} to credit.`);
  if (invoice.status !== 'paid') {
    return { amount: Math.max(1, Math.floor((invoice.amountDue - invoice.amountPaid) / 2)) };
  }
  const refundAmount = Math.min(amount, refundableOf(world, invoice));
  return { amount, refundAmount, outOfBandAmount: amount - refundAmount };
}

function refundableOf(world: World, invoice: Invoice): number {
  return collectedFor(world, invoice).reduce((sum, payment) => sum + refundable(world, payment), 0);
}

function invoiceNow(world: World, id: string): Invoice[] {
  const invoice = world.invoices.get(id);
  return invoice ? [invoice] : [];
}
