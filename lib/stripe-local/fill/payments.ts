import type { Invoice, InvoicePayment, PaymentIntent } from '../model';
import { newId, type World } from '../world';

/**
 * The payments that an invoice's state speaks of: what Stripe collected, what was paid elsewhere, and the
 * intent that still waits, failed or was cancelled.
 */
export function fillPayments(
  world: World,
  invoice: Invoice,
  known: { paymentIntent: string | null; failed: boolean },
): Pick<Invoice, 'paymentIntent' | 'charge'> {
  const collected = invoice.amountPaid - invoice.amountPaidOffStripe;
  const paidAt = invoice.paidAt ?? invoice.created;
  let named: Pick<Invoice, 'paymentIntent' | 'charge'> = { paymentIntent: null, charge: null };
  if (invoice.amountPaidOffStripe > 0) {
    putPayment(world, invoice, {
      amountRequested: invoice.amountPaidOffStripe,
      amountPaid: invoice.amountPaidOffStripe,
      status: 'paid',
      payment: { type: 'payment_record', payment_record: newId(world, 'pr_') },
      paidAt,
    });
  }
  if (collected > 0) {
    const charge = newId(world, 'ch_');
    const intent = putIntent(world, invoice, {
      id: known.paymentIntent ?? newId(world, 'pi_'),
      amount: collected,
      amountReceived: collected,
      status: 'succeeded',
      latestCharge: charge,
    });
    putPayment(world, invoice, {
      amountRequested: collected,
      amountPaid: collected,
      isDefault: invoice.status === 'paid',
      status: 'paid',
      payment: { type: 'payment_intent', payment_intent: intent.id },
      paidAt,
    });
    named = { paymentIntent: intent.id, charge };
  }
  const remaining = invoice.amountDue - invoice.amountPaid;
  if (invoice.status === 'draft' || invoice.status === 'paid' || remaining <= 0) return named;
  return { ...named, paymentIntent: putWaiting(world, invoice, remaining, known.failed) };
}

function putWaiting(world: World, invoice: Invoice, amount: number, failed: boolean): string {
  const canceledAt = invoice.status === 'void' ? invoice.voidedAt : null;
  const intent = putIntent(world, invoice, {
    amount,
    status: canceledAt === null ? 'requires_payment_method' : 'canceled',
    lastPaymentError: failed ? { code: 'card_declined', message: 'Your card was declined.' } : null,
    canceledAt,
  });
  putPayment(world, invoice, {
    amountRequested: amount,
    isDefault: true,
    status: canceledAt === null ? 'open' : 'canceled',
    payment: { type: 'payment_intent', payment_intent: intent.id },
    canceledAt,
  });
  return intent.id;
}

function putIntent(world: World, invoice: Invoice, given: Partial<PaymentIntent>): PaymentIntent {
  return world.paymentIntents.put({
    object: 'payment_intent',
    id: given.id ?? newId(world, 'pi_'),
    created: invoice.created,
    customer: invoice.customer,
    invoice: invoice.id,
    amount: 0,
    amountReceived: 0,
    currency: invoice.currency,
    status: 'requires_payment_method',
    latestCharge: null,
    lastPaymentError: null,
    canceledAt: null,
    ...given,
  });
}

function putPayment(
  world: World,
  invoice: Invoice,
  given: Partial<InvoicePayment> & Pick<InvoicePayment, 'amountRequested' | 'payment' | 'status'>,
): void {
  world.invoicePayments.put({
    object: 'invoice_payment',
    id: newId(world, 'inpay_'),
    created: invoice.created,
    invoice: invoice.id,
    amountPaid: null,
    currency: invoice.currency,
    isDefault: false,
    paidAt: null,
    canceledAt: null,
    ...given,
  });
}
