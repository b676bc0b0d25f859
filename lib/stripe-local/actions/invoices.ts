import { putIntent, putPayment } from '../charges';
import {
  type Customer,
  discountOf,
  type Invoice,
  type InvoiceLine,
  type InvoicePayment,
  type PaymentIntent,
  type Subscription,
} from '../model';
import { action, DAY, emit, epochNow, getFrom, newId, type World, WorldError } from '../world';
import {
  activateSubscription,
  addIntervals,
  changeSubscription,
  endsWithPeriod,
  invoiceThatIs,
  liveCustomer,
  liveSubscription,
} from './subscriptions';

type Optional = 'subscription' | 'currency' | 'billingReason' | 'dueDate' | 'effectiveAt' | 'revises';

/** Input for a new invoice. Stripe sends the invoice if it has a due date, and charges the card otherwise. */
type InvoiceInput = Partial<Pick<Invoice, Optional | 'tax' | 'startingBalance' | 'metadata'>> & {
  customer: string;
  lines: readonly (Partial<InvoiceLine> & { amount: number })[];
};

/** Creates a draft invoice. Emits invoice.created. */
export const createInvoice = action((world, { lines, ...input }: InvoiceInput): Invoice => {
  const customer = liveCustomer(world, input.customer);
  const subscription = world.subscriptions.get(input.subscription ?? '');
  const created = epochNow(world);
  const { tax = 0, startingBalance = 0 } = input;
  const subtotal = lines.reduce((sum, line) => sum + line.amount, 0);
  const total = subtotal - discountOf(lines) + tax;
  const invoice = putInvoice(world, customer, {
    subscriptionMetadata: subscription?.metadata ?? {},
    currency: subscription?.currency ?? 'eur',
    ...input,
    ...{ id: newId(world, 'in_'), created, subtotal, tax, total },
    amountDue: Math.max(0, total + startingBalance),
    lines: lines.map((line) => newLine(world, line, created)),
  });
  emit(world, 'invoice.created', invoice);
  return invoice;
});

type Total = 'id' | 'created' | 'currency' | 'subtotal' | 'tax' | 'total' | 'amountDue' | 'lines';

/** Adds an invoice to the world. By default it is a draft without payments. */
export function putInvoice(
  world: World,
  customer: Customer,
  given: Pick<Invoice, Total> & Partial<Invoice>,
): Invoice {
  return world.invoices.put({
    object: 'invoice',
    customer: customer.id,
    customerEmail: customer.email,
    customerName: customer.name,
    customerAddress: customer.address,
    subscription: null,
    subscriptionMetadata: {},
    status: 'draft',
    number: null,
    billingReason: 'manual',
    collectionMethod: given.dueDate == null ? 'charge_automatically' : 'send_invoice',
    dueDate: null,
    startingBalance: 0,
    amountPaid: 0,
    amountPaidOffStripe: 0,
    prePaymentCreditNotesAmount: 0,
    postPaymentCreditNotesAmount: 0,
    attempted: false,
    attemptCount: 0,
    nextPaymentAttempt: null,
    finalizedAt: null,
    revises: null,
    effectiveAt: null,
    paidAt: null,
    voidedAt: null,
    markedUncollectibleAt: null,
    periodStart: given.created,
    periodEnd: given.created,
    metadata: {},
    paymentIntent: null,
    charge: null,
    ...given,
  });
}

/**
 * Finalizes a draft. If an amount is due, makes the invoice open, and emits payment_intent.created, invoice.updated and
 * invoice.finalized, then invoice.sent if the invoice is sent to the customer. If no amount is due, makes the invoice
 * paid, and emits invoice.updated, invoice.finalized, invoice.paid and invoice.payment_succeeded, then
 * customer.subscription.updated if this activates the subscription.
 *
 * @param options.number number that replaces the customer's next invoice number
 */
export const finalizeInvoice = action((world, id: string, options: { number?: string } = {}): Invoice => {
  const before = invoiceThatIs(world, id, 'draft');
  const now = epochNow(world);
  const numbered = {
    ...before,
    number: options.number ?? nextNumber(world, before.customer),
    finalizedAt: now,
  };
  const nothingDue = numbered.amountDue === 0;
  const patch: Partial<Invoice> = nothingDue
    ? { status: 'paid', attempted: true, paidAt: now }
    : { status: 'open', paymentIntent: openIntent(world, numbered).id };
  const sent = before.collectionMethod === 'send_invoice' ? ['invoice.sent'] : [];
  const types = nothingDue ? ['invoice.paid', 'invoice.payment_succeeded'] : sent;
  const invoice = changeInvoice(world, before, { ...numbered, ...patch }, 'invoice.finalized', ...types);
  if (nothingDue) activateSubscription(world, invoice);
  return invoice;
});

/** Changes an invoice. Emits invoice.updated, then one event of each given type. */
export function changeInvoice(
  world: World,
  before: Invoice,
  patch: Partial<Invoice>,
  ...types: string[]
): Invoice {
  const invoice = world.invoices.put({ ...before, ...patch });
  emit(world, 'invoice.updated', invoice, before);
  for (const type of types) emit(world, type, invoice);
  return invoice;
}

function nextNumber(world: World, customerId: string): string {
  const customer = getFrom(world, 'customer', customerId);
  world.customers.put({ ...customer, nextInvoiceSequence: customer.nextInvoiceSequence + 1 });
  return `${customer.invoicePrefix}-${String(customer.nextInvoiceSequence).padStart(4, '0')}`;
}

export function newLine(world: World, line: InvoiceInput['lines'][number], created: number): InvoiceLine {
  return {
    id: newId(world, 'il_'),
    description: null,
    quantity: 1,
    priceId: null,
    subscriptionItem: null,
    periodStart: created,
    periodEnd: created,
    ...line,
  };
}

type SubscriptionInvoiceOptions = Pick<InvoiceInput, 'tax' | 'dueDate' | 'billingReason'>;

/**
 * Creates a draft invoice for a subscription's current period. Emits invoice.created, then
 * customer.subscription.updated because `latest_invoice` has changed. Stripe would finalize a first invoice immediately
 * and a later one after an hour. Here, the caller has to call `finalizeInvoice`.
 */
export const invoiceSubscription = action((world, id: string, options: SubscriptionInvoiceOptions = {}) => {
  const subscription = liveSubscription(world, id);
  const invoice = draft(world, subscription, { billingReason: 'subscription_create', ...options });
  return { invoice, subscription: changeSubscription(world, subscription, { latestInvoice: invoice.id }) };
});

/**
 * Starts the next period of a subscription. Advances every item by its interval, ends a trial and creates a draft
 * invoice. Refuses a subscription that ends with the current period. Emits invoice.created and
 * customer.subscription.updated.
 */
export const renewSubscription = action((world, id: string, options: SubscriptionInvoiceOptions = {}) => {
  const before = liveSubscription(world, id);
  if (endsWithPeriod(before)) throw new WorldError(`The subscription ${id} ends with its period.`);
  const items = before.items.map((item) => ({
    ...item,
    currentPeriodStart: item.currentPeriodEnd,
    currentPeriodEnd: addIntervals(item.currentPeriodEnd, item.interval, item.intervalCount),
  }));
  const invoice = draft(world, { ...before, items }, { billingReason: 'subscription_cycle', ...options });
  const subscription = changeSubscription(world, before, {
    items,
    latestInvoice: invoice.id,
    ...(before.status === 'trialing' && { status: 'active' as const }),
  });
  return { invoice, subscription };
});

function draft(world: World, subscription: Subscription, options: SubscriptionInvoiceOptions): Invoice {
  return createInvoice(world, {
    customer: subscription.customer,
    subscription: subscription.id,
    currency: subscription.currency,
    ...options,
    lines: subscription.items.map((item) => ({
      amount: item.unitAmount * item.quantity,
      description: `${item.quantity} × ${item.priceId}`,
      quantity: item.quantity,
      priceId: item.priceId,
      subscriptionItem: item.id,
      periodStart: item.currentPeriodStart,
      periodEnd: item.currentPeriodEnd,
    })),
  }).object;
}

/** Creates a finalized invoice's payment intent, and the invoice payment for it. Emits payment_intent.created. */
function openIntent(world: World, invoice: Invoice): PaymentIntent {
  const amount = invoice.amountDue - invoice.amountPaid;
  const intent = putIntent(world, invoice, { amount });
  putPayment(world, invoice, {
    amountRequested: amount,
    isDefault: true,
    payment: { type: 'payment_intent', payment_intent: intent.id },
  });
  emit(world, 'payment_intent.created', intent);
  return intent;
}

export function changeIntent(world: World, id: string, patch: Partial<PaymentIntent>): PaymentIntent {
  return world.paymentIntents.put({ ...getFrom(world, 'payment_intent', id), ...patch });
}

/** Finds the invoice payment for the invoice's own payment intent. */
export function defaultPayment(world: World, invoice: Invoice): InvoicePayment | undefined {
  return [...world.invoicePayments.where('invoice', invoice.id)].find(({ isDefault }) => isDefault);
}

/** Cancels an invoice's payment intent, so that it can no longer be charged. Emits payment_intent.canceled. */
export function cancelIntent(world: World, invoice: Invoice): void {
  const canceled = { status: 'canceled', canceledAt: epochNow(world) } as const;
  const payment = defaultPayment(world, invoice);
  if (payment?.status === 'open') world.invoicePayments.put({ ...payment, ...canceled });
  if (!invoice.paymentIntent) return;
  emit(world, 'payment_intent.canceled', changeIntent(world, invoice.paymentIntent, canceled));
}

/** Sets the amount of the payment intent to the unpaid amount of the invoice. */
export function resizeIntent(world: World, invoice: Invoice): void {
  const amount = invoice.amountDue - invoice.amountPaid;
  const payment = defaultPayment(world, invoice);
  if (payment?.status === 'open') world.invoicePayments.put({ ...payment, amountRequested: amount });
  if (invoice.paymentIntent) changeIntent(world, invoice.paymentIntent, { amount });
}

/**
 * Pays an invoice through its payment intent. Emits payment_intent.succeeded, invoice_payment.paid, invoice.updated,
 * invoice.paid and invoice.payment_succeeded. If the whole amount was paid outside Stripe, for example in cash, emits
 * payment_intent.canceled instead of the two `succeeded` events. If a part was, emits invoice_payment.paid for each of
 * the two parts. If the payment activates the subscription, customer.subscription.updated follows.
 *
 * @param options.offStripe the amount in minor units that was paid outside Stripe, or true for the whole amount; Stripe
 *   collects the rest
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
 * Simulates a failed payment, or the failure of a bank debit that has begun. Emits payment_intent.payment_failed,
 * invoice.updated and invoice.payment_failed. An active subscription becomes past due, which also emits
 * customer.subscription.updated.
 */
export const failInvoicePayment = action((world, id: string): Invoice => {
  const before = invoiceThatIs(world, id, 'open', 'uncollectible');
  const intent = changeIntent(world, intentOf(before), {
    status: 'requires_payment_method',
    lastPaymentError: { code: 'card_declined', message: 'Your card was declined.' },
    ...failedDebitsOf(world, before),
  });
  emit(world, 'payment_intent.payment_failed', intent);
  const patch = {
    attempted: true,
    attemptCount: before.attemptCount + 1,
    nextPaymentAttempt: before.status === 'open' ? epochNow(world) + 3 * DAY : null,
  };
  const invoice = changeInvoice(world, before, patch, 'invoice.payment_failed');
  const subscription = world.subscriptions.get(invoice.subscription ?? '');
  if (subscription?.status === 'active') changeSubscription(world, subscription, { status: 'past_due' });
  return invoice;
});

function failedDebitsOf(world: World, invoice: Invoice): Pick<PaymentIntent, 'failedDebits'> {
  const { id, status, failedDebits = [] } = getFrom(world, 'payment_intent', intentOf(invoice));
  if (status !== 'processing') return {};
  const charge = `py_${id.slice(3)}${failedDebits.length}`;
  const amount = invoice.amountDue - invoice.amountPaid;
  return { failedDebits: [...failedDebits, { charge, amount, failedAt: epochNow(world) }] };
}

export function intentOf(invoice: Invoice): string {
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
  recordPaid(world, invoice, { ...payment, amountRequested: amount });
  return latestCharge;
}

export function recordOffStripe(world: World, invoice: Invoice, amount: number): void {
  const payment = { type: 'payment_record', payment_record: newId(world, 'pr_') } as const;
  recordPaid(world, invoice, { amountRequested: amount, payment });
}

/** Adds a paid invoice payment, or marks an open invoice payment as paid. Emits invoice_payment.paid. */
export function recordPaid(world: World, invoice: Invoice, entry: Parameters<typeof putPayment>[2]): void {
  const paid = { amountPaid: entry.amountRequested, status: 'paid', paidAt: epochNow(world) } as const;
  emit(world, 'invoice_payment.paid', putPayment(world, invoice, { ...entry, ...paid }));
}
