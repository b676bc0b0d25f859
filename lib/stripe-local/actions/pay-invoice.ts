import { putIntent, putPayment } from '../charges';
import type { Invoice, InvoicePayment } from '../model';
import { action, emit, epochNow, newId, type World, WorldError } from '../world';
import { cancelIntent, changeIntent, changeInvoice, defaultPayment } from './invoices';
import { activateSubscription, invoiceThatIs, updateSubscription } from './subscriptions';

/**
 * Through the payment intent
 * → payment_intent.succeeded, invoice_payment.paid, invoice.updated, invoice.paid, invoice.payment_succeeded;
 * wholly off Stripe (the customer paid in cash) the last is not sent.
 * Its subscription becomes active → customer.subscription.updated.
 *
 * @param options.offStripe true: all; a number: this part of the amount, and Stripe collects the rest
 */
export const payInvoice = action(
  (world, id: string, options: { offStripe?: true | number } = {}): Invoice => {
    const before = invoiceThatIs(world, id, 'open', 'uncollectible');
    const remaining = before.amountDue - before.amountPaid;
    const off = options.offStripe === true ? remaining : (options.offStripe ?? 0);
    if (off < 0 || off > remaining)
      throw new WorldError(`The invoice ${id} has ${remaining} left to pay, not ${off}.`);
    if (off > 0) recordOffStripe(world, before, off);
    const charge = off < remaining ? collect(world, before, remaining - off) : null;
    if (!charge) cancelIntent(world, before);
    const patch: Partial<Invoice> = {
      status: 'paid',
      attempted: true,
      attemptCount: before.attemptCount + (charge ? 1 : 0),
      nextPaymentAttempt: null,
      paidAt: epochNow(world),
      amountPaid: before.amountPaid + remaining,
      amountPaidOffStripe: before.amountPaidOffStripe + off,
      charge,
    };
    const succeeded = charge ? ['invoice.payment_succeeded'] : [];
    const invoice = changeInvoice(world, before, patch, 'invoice.paid', ...succeeded);
    activateSubscription(world, invoice);
    return invoice;
  },
);

/**
 * A part of what is open: off Stripe, or collected beside the invoice's own payment intent
 * → (payment_intent.succeeded), invoice_payment.paid, invoice.updated
 *
 * @param amount less than the remaining amount
 */
export const payInvoicePart = action(
  (world, id: string, amount: number, options: { offStripe?: boolean } = {}): Invoice => {
    const before = invoiceThatIs(world, id, 'open', 'uncollectible');
    const remaining = before.amountDue - before.amountPaid;
    if (amount <= 0 || amount >= remaining)
      throw new WorldError(`The invoice ${id} has ${remaining} left to pay, of which ${amount} is no part.`);
    if (options.offStripe) recordOffStripe(world, before, amount);
    else collectPart(world, before, amount);
    changeIntent(world, intentOf(before), { amount: remaining - amount });
    return changeInvoice(world, before, {
      amountPaid: before.amountPaid + amount,
      amountPaidOffStripe: before.amountPaidOffStripe + (options.offStripe ? amount : 0),
    });
  },
);

/** A bank debit on its way: attempted, neither paid nor failed → payment_intent.processing, invoice.updated */
export const beginPayment = action((world, id: string): Invoice => {
  const before = invoiceThatIs(world, id, 'open');
  const intent = changeIntent(world, intentOf(before), { status: 'processing', lastPaymentError: null });
  emit(world, 'payment_intent.processing', intent);
  return changeInvoice(world, before, { attempted: true, attemptCount: before.attemptCount + 1 });
});

const DAY = 86_400;

/**
 * → payment_intent.payment_failed, invoice.updated, invoice.payment_failed;
 * an active subscription becomes past due → customer.subscription.updated
 */
export const failInvoicePayment = action((world, id: string): Invoice => {
  const before = invoiceThatIs(world, id, 'open', 'uncollectible');
  const intent = changeIntent(world, intentOf(before), {
    status: 'requires_payment_method',
    lastPaymentError: { code: 'card_declined', message: 'Your card was declined.' },
  });
  emit(world, 'payment_intent.payment_failed', intent);
  const patch = {
    attempted: true,
    attemptCount: before.attemptCount + 1,
    nextPaymentAttempt: before.status === 'open' ? epochNow(world) + 3 * DAY : null,
  };
  const invoice = changeInvoice(world, before, patch, 'invoice.payment_failed');
  const subscription = world.subscriptions.get(invoice.subscription ?? '');
  if (subscription?.status === 'active') updateSubscription(world, subscription.id, { status: 'past_due' });
  return invoice;
});

function intentOf(invoice: Invoice): string {
  if (!invoice.paymentIntent) throw new WorldError(`The invoice ${invoice.id} has no payment intent.`);
  return invoice.paymentIntent;
}

function collect(world: World, invoice: Invoice, amount: number): string {
  const latestCharge = newId(world, 'ch_');
  const intent = changeIntent(world, intentOf(invoice), {
    status: 'succeeded',
    amount,
    amountReceived: amount,
    latestCharge,
    lastPaymentError: null,
  });
  emit(world, 'payment_intent.succeeded', intent);
  const payment = defaultPayment(world, invoice);
  if (!payment) throw new WorldError(`The invoice ${invoice.id} has no payment to settle.`);
  const paid = world.invoicePayments.put({
    ...payment,
    status: 'paid',
    amountRequested: amount,
    amountPaid: amount,
    paidAt: epochNow(world),
  });
  emit(world, 'invoice_payment.paid', paid);
  return latestCharge;
}

function collectPart(world: World, invoice: Invoice, amount: number): void {
  const intent = putIntent(world, invoice, {
    id: newId(world, 'pi_'),
    amount,
    amountReceived: amount,
    status: 'succeeded',
    latestCharge: newId(world, 'ch_'),
  });
  emit(world, 'payment_intent.succeeded', intent);
  recordPaid(world, invoice, amount, { type: 'payment_intent', payment_intent: intent.id });
}

function recordOffStripe(world: World, invoice: Invoice, amount: number): void {
  recordPaid(world, invoice, amount, { type: 'payment_record', payment_record: newId(world, 'pr_') });
}

function recordPaid(
  world: World,
  invoice: Invoice,
  amount: number,
  payment: InvoicePayment['payment'],
): void {
  const paid = putPayment(world, invoice, {
    amountRequested: amount,
    amountPaid: amount,
    status: 'paid',
    payment,
    paidAt: epochNow(world),
  });
  emit(world, 'invoice_payment.paid', paid);
}
