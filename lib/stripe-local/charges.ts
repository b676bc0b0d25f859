import type {
  BalanceTransaction,
  Charge,
  Dispute,
  Invoice,
  InvoicePayment,
  PaymentIntent,
  Refund,
} from './model';
import { epochNow, getFrom, newId, type World, WorldError } from './world';

/** A payment intent that has collected money. */
export type Collected = PaymentIntent & { readonly latestCharge: string };

export function isCollected(intent: PaymentIntent): intent is Collected {
  return intent.status === 'succeeded' && intent.latestCharge !== null;
}

/** Returns the charge of an intent in its current state, with its refunds and disputes. */
export function chargeOf(world: World, intent: Collected): Charge {
  return {
    object: 'charge',
    id: intent.latestCharge,
    created: intent.created,
    amount: intent.amountReceived,
    amountRefunded: refundedOf(world, intent.latestCharge),
    disputed: !world.disputes.where('charge', intent.latestCharge).next().done,
    customer: intent.customer,
    currency: intent.currency,
    paymentIntent: intent.id,
    invoice: intent.invoice,
    hasFailed: false,
  };
}

/** Finds a charge that collected money, or the charge of a failed bank debit. */
export function findCharge(world: World, id: string): Charge | undefined {
  for (const intent of world.paymentIntents.values()) {
    if (intent.latestCharge === id && isCollected(intent)) return chargeOf(world, intent);
    const failed = intent.failedDebits?.find(({ charge }) => charge === id);
    if (!failed) continue;
    const debit = { ...intent, latestCharge: id, amountReceived: failed.amount };
    return { ...chargeOf(world, debit), hasFailed: true };
  }
  return undefined;
}

/** Returns the refunded amount of a charge, including pending refunds. */
export function refundedOf(world: World, charge: string): number {
  return sumOf([...world.refunds.where('charge', charge)].filter(isLive));
}

/** Returns the disputed amount of a charge. Disputes that ended in our favour and closed inquiries do not count. */
export function disputedOf(world: World, charge: string): number {
  const isOver = ({ status }: Dispute) => ['won', 'prevented', 'warning_closed'].includes(status);
  return sumOf([...world.disputes.where('charge', charge)].filter((dispute) => !isOver(dispute)));
}

function sumOf(moved: { amount: number }[]): number {
  return moved.reduce((sum, { amount }) => sum + amount, 0);
}

/** Returns whether a refund counts. The money of a failed or canceled refund was returned to us. */
export function isLive({ status }: Refund): boolean {
  return status !== 'failed' && status !== 'canceled';
}

/** Returns whether a charge with this dispute can be refunded. An inquiry allows it, because no money was withdrawn. */
export function isChargeRefundable({ status }: Dispute): boolean {
  return status.startsWith('warning_');
}

/** A movement of the balance, without the id of its payout. */
export type Movement = Omit<BalanceTransaction, 'payout'>;

/** Stripe's fee for a dispute, in minor units. It is not part of the dispute's amount. */
const DISPUTE_FEE = 1500;

/** Returns the movements of the balance that a dispute caused. */
export function movementsOf({ id: source, charge, currency, balanceTransactions }: Dispute): Movement[] {
  return balanceTransactions.map((moved) => ({
    object: 'balance_transaction',
    ...moved,
    fee: moved.amount < 0 ? DISPUTE_FEE : 0,
    currency,
    description: `Chargeback ${moved.amount < 0 ? 'withdrawal' : 'reversal'} for ${charge}`,
    source,
    type: 'adjustment',
  }));
}

/** Identifies a payment by its intent or by its invoice. */
export type Paid = { paymentIntent: string } | { invoice: string };

/**
 * Finds a collected payment. If an invoice is given, prefers the invoice's first payment that has enough left.
 *
 * @param amount the amount needed, in minor units
 * @param leftOf function that returns the amount of a payment that can still be refunded or disputed
 * @throws WorldError if Stripe collected no payment
 */
export function collectedPayment(
  world: World,
  paid: Paid,
  leftOf: (payment: Collected) => number,
  amount = 1,
): Collected {
  if ('paymentIntent' in paid) {
    const intent = getFrom(world, 'payment_intent', paid.paymentIntent);
    if (isCollected(intent)) return intent;
    throw new WorldError(`The payment intent ${intent.id} has no successful charge.`);
  }
  const invoice = getFrom(world, 'invoice', paid.invoice);
  const payments = collectedFor(world, invoice);
  const enough = payments.find((payment) => leftOf(payment) >= amount) ?? payments[0];
  if (!enough)
    throw new WorldError(`Stripe collected nothing for the invoice ${invoice.number ?? invoice.id}.`);
  return enough;
}

/**
 * Returns the payments that Stripe collected for an invoice, oldest first. The list is empty if the invoice was paid
 * outside Stripe.
 */
export function collectedFor(world: World, invoice: Invoice): Collected[] {
  return [...world.invoicePayments.where('invoice', invoice.id)].flatMap(({ status, payment }) => {
    if (status !== 'paid' || payment.type !== 'payment_intent') return [];
    const intent = world.paymentIntents.get(payment.payment_intent);
    return intent && isCollected(intent) ? [intent] : [];
  });
}

/** Adds an intent for an invoice. By default it waits for a payment method. */
export function putIntent(world: World, invoice: Invoice, given: Partial<PaymentIntent>): PaymentIntent {
  return world.paymentIntents.put({
    object: 'payment_intent',
    id: given.id ?? newId(world, 'pi_'),
    created: epochNow(world),
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

/** Adds an entry to an invoice's payments. By default the entry is not paid yet. */
export function putPayment(
  world: World,
  invoice: Invoice,
  given: Partial<InvoicePayment> & Pick<InvoicePayment, 'amountRequested' | 'payment'>,
): InvoicePayment {
  return world.invoicePayments.put({
    object: 'invoice_payment',
    id: given.id ?? newId(world, 'inpay_'),
    created: epochNow(world),
    invoice: invoice.id,
    amountPaid: null,
    currency: invoice.currency,
    isDefault: false,
    status: 'open',
    paidAt: null,
    canceledAt: null,
    ...given,
  });
}

/** Checks an amount. @throws WorldError with Stripe's message if the amount is not a positive integer */
export function requirePositive(amount: number): void {
  if (!Number.isInteger(amount) || amount < 1) throw new WorldError('Invalid positive integer');
}
