import type { Invoice, InvoicePayment, PaymentIntent } from '../model';
import { emit, epochNow, getFrom, newId, type World } from '../world';

/** The intent of a finalized invoice and its place in the invoice's payments → payment_intent.created */
export function openIntent(world: World, invoice: Invoice): PaymentIntent {
  const amount = invoice.amountDue - invoice.amountPaid;
  const intent = world.paymentIntents.put({
    object: 'payment_intent',
    id: newId(world, 'pi_'),
    created: epochNow(world),
    customer: invoice.customer,
    invoice: invoice.id,
    amount,
    amountReceived: 0,
    currency: invoice.currency,
    status: 'requires_payment_method',
    latestCharge: null,
    lastPaymentError: null,
    canceledAt: null,
  });
  world.invoicePayments.put({
    object: 'invoice_payment',
    id: newId(world, 'inpay_'),
    created: epochNow(world),
    invoice: invoice.id,
    amountRequested: amount,
    amountPaid: null,
    currency: invoice.currency,
    isDefault: true,
    status: 'open',
    payment: { type: 'payment_intent', payment_intent: intent.id },
    paidAt: null,
    canceledAt: null,
  });
  emit(world, 'payment_intent.created', intent);
  return intent;
}

export function changeIntent(world: World, id: string, patch: Partial<PaymentIntent>): PaymentIntent {
  return world.paymentIntents.put({ ...getFrom(world.paymentIntents, id, 'payment_intent'), ...patch });
}

/** The intent's entry among the invoice's payments. */
export function defaultPayment(world: World, invoice: Invoice): InvoicePayment | undefined {
  for (const payment of world.invoicePayments.where('invoice', invoice.id)) {
    if (payment.isDefault) return payment;
  }
  return undefined;
}

/** Nothing will be charged any more → payment_intent.canceled */
export function cancelIntent(world: World, invoice: Invoice): void {
  const canceledAt = epochNow(world);
  const payment = defaultPayment(world, invoice);
  if (payment?.status === 'open') world.invoicePayments.put({ ...payment, status: 'canceled', canceledAt });
  if (!invoice.paymentIntent) return;
  emit(
    world,
    'payment_intent.canceled',
    changeIntent(world, invoice.paymentIntent, { status: 'canceled', canceledAt }),
  );
}

/** The intent's amount follows the invoice's remaining amount, as at Stripe. */
export function resizeIntent(world: World, invoice: Invoice): void {
  const amount = invoice.amountDue - invoice.amountPaid;
  const payment = defaultPayment(world, invoice);
  if (payment?.status === 'open') world.invoicePayments.put({ ...payment, amountRequested: amount });
  if (invoice.paymentIntent) changeIntent(world, invoice.paymentIntent, { amount });
}
