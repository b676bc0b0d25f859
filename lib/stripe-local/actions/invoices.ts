import { putIntent, putPayment } from '../charges';
import type { Invoice, InvoiceLine, InvoicePayment, PaymentIntent, Subscription } from '../model';
import { action, emit, epochNow, getFrom, newId, type World, WorldError } from '../world';
import {
  activateSubscription,
  addIntervals,
  endsWithPeriod,
  invoiceThatIs,
  liveCustomer,
  liveSubscription,
  updateSubscription,
} from './subscriptions';

type Optional =
  | 'tax'
  | 'currency'
  | 'billingReason'
  | 'dueDate'
  | 'effectiveAt'
  | 'revises'
  | 'startingBalance';

/**
 * With a due date, the customer pays the invoice; without one, the card is charged. The open invoice that it revises is
 * voided when this one is finalized.
 */
type InvoiceInput = Partial<Pick<Invoice, Optional | 'subscription' | 'metadata'>> & {
  customer: string;
  lines: readonly (Partial<InvoiceLine> & { amount: number })[];
};

/** A draft → invoice.created */
export const createInvoice = action((world, input: InvoiceInput): Invoice => {
  const customer = liveCustomer(world, input.customer);
  const subscription = world.subscriptions.get(input.subscription ?? '');
  const created = epochNow(world);
  const subtotal = input.lines.reduce((sum, line) => sum + line.amount, 0);
  const total = subtotal + (input.tax ?? 0);
  const invoice = world.invoices.put({
    object: 'invoice',
    id: newId(world, 'in_'),
    created,
    customer: customer.id,
    customerEmail: customer.email,
    customerName: customer.name,
    customerAddress: customer.address,
    subscription: input.subscription ?? null,
    subscriptionMetadata: subscription?.metadata ?? {},
    status: 'draft',
    number: null,
    currency: input.currency ?? subscription?.currency ?? 'eur',
    billingReason: input.billingReason ?? 'manual',
    collectionMethod: input.dueDate == null ? 'charge_automatically' : 'send_invoice',
    dueDate: input.dueDate ?? null,
    subtotal,
    tax: input.tax ?? 0,
    total,
    startingBalance: input.startingBalance ?? 0,
    amountDue: Math.max(0, total + (input.startingBalance ?? 0)),
    amountPaid: 0,
    amountPaidOffStripe: 0,
    prePaymentCreditNotesAmount: 0,
    postPaymentCreditNotesAmount: 0,
    attempted: false,
    attemptCount: 0,
    nextPaymentAttempt: null,
    finalizedAt: null,
    revises: input.revises ?? null,
    effectiveAt: input.effectiveAt ?? null,
    paidAt: null,
    voidedAt: null,
    markedUncollectibleAt: null,
    periodStart: created,
    periodEnd: created,
    metadata: input.metadata ?? {},
    lines: input.lines.map((line) => newLine(world, line, created)),
    paymentIntent: null,
    charge: null,
  });
  emit(world, 'invoice.created', invoice);
  return invoice;
});

/**
 * Draft → open, or paid at once where nothing is due. The invoice that it revises is voided.
 * → (payment_intent.created), invoice.updated, invoice.finalized, (invoice.sent | invoice.paid, invoice.payment_succeeded)
 *
 * @param options.number in place of the customer's next one
 */
export const finalizeInvoice = action((world, id: string, options: { number?: string } = {}): Invoice => {
  const before = invoiceThatIs(world, id, 'draft');
  const now = epochNow(world);
  const numbered: Invoice = {
    ...before,
    number: options.number ?? nextNumber(world, before.customer),
    finalizedAt: now,
  };
  const nothingDue = numbered.amountDue === 0;
  const invoice = nothingDue
    ? changeInvoice(
        world,
        before,
        { ...numbered, status: 'paid', attempted: true, paidAt: now },
        ...['invoice.finalized', 'invoice.paid', 'invoice.payment_succeeded'],
      )
    : changeInvoice(
        world,
        before,
        { ...numbered, status: 'open', paymentIntent: openIntent(world, numbered).id },
        ...['invoice.finalized', ...(before.collectionMethod === 'send_invoice' ? ['invoice.sent'] : [])],
      );
  if (nothingDue) activateSubscription(world, invoice);
  if (invoice.revises !== null) voidInvoice(world, invoice.revises);
  return invoice;
});

type InvoicePatch = Partial<Pick<Invoice, 'dueDate' | 'metadata'>>;

/** → invoice.updated */
export const updateInvoice = action((world, id: string, patch: InvoicePatch): Invoice => {
  return changeInvoice(world, invoiceThatIs(world, id, 'draft', 'open', 'uncollectible', 'paid'), patch);
});

/** → (payment_intent.canceled), invoice.updated, invoice.voided */
export const voidInvoice = action((world, id: string): Invoice => {
  const before = invoiceThatIs(world, id, 'open', 'uncollectible');
  if (before.amountPaid > 0) throw new WorldError(`The invoice ${id} is partly paid and cannot be voided.`);
  cancelIntent(world, before);
  const patch = { status: 'void', voidedAt: epochNow(world), nextPaymentAttempt: null } as const;
  return changeInvoice(world, before, patch, 'invoice.voided');
});

/** → invoice.updated, invoice.marked_uncollectible */
export const markUncollectible = action((world, id: string): Invoice => {
  const before = invoiceThatIs(world, id, 'open');
  const markedUncollectibleAt = epochNow(world);
  const patch = { status: 'uncollectible', markedUncollectibleAt, nextPaymentAttempt: null } as const;
  return changeInvoice(world, before, patch, 'invoice.marked_uncollectible');
});

/** → invoice.deleted */
export const deleteDraftInvoice = action((world, id: string): Invoice => {
  const invoice = invoiceThatIs(world, id, 'draft');
  world.invoices.delete(id);
  emit(world, 'invoice.deleted', invoice);
  return invoice;
});

/** → invoice.updated, and then events of these types */
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

interface Invoiced {
  subscription: Subscription;
  /** A draft. Stripe finalizes it after an hour; here `finalizeInvoice` does. */
  invoice: Invoice;
}

type SubscriptionInvoiceOptions = Pick<InvoiceInput, 'tax' | 'dueDate' | 'billingReason'>;

/** An invoice over the current period → invoice.created, customer.subscription.updated (its latest_invoice) */
export const invoiceSubscription = action(
  (world, id: string, options: SubscriptionInvoiceOptions = {}): Invoiced => {
    const subscription = liveSubscription(world, id);
    const invoice = draft(world, subscription, { billingReason: 'subscription_create', ...options });
    return { invoice, subscription: updateSubscription(world, id, { latestInvoice: invoice.id }).object };
  },
);

/**
 * The next period: every item moves on by its interval; a trial ends; one that was to be cancelled then is refused.
 * → invoice.created (a draft), customer.subscription.updated
 */
export const renewSubscription = action(
  (world, id: string, options: SubscriptionInvoiceOptions = {}): Invoiced => {
    const before = liveSubscription(world, id);
    if (endsWithPeriod(before)) throw new WorldError(`The subscription ${id} ends with its period.`);
    const items = before.items.map((item) => ({
      ...item,
      currentPeriodStart: item.currentPeriodEnd,
      currentPeriodEnd: addIntervals(item.currentPeriodEnd, item.interval, item.intervalCount),
    }));
    const invoice = draft(world, { ...before, items }, { billingReason: 'subscription_cycle', ...options });
    const { object: subscription } = updateSubscription(world, id, {
      items,
      latestInvoice: invoice.id,
      ...(before.status === 'trialing' && { status: 'active' as const }),
    });
    return { invoice, subscription };
  },
);

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

/** The intent of a finalized invoice and its place in the invoice's payments → payment_intent.created */
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

/** The intent's entry among the invoice's payments. */
export function defaultPayment(world: World, invoice: Invoice): InvoicePayment | undefined {
  return [...world.invoicePayments.where('invoice', invoice.id)].find(({ isDefault }) => isDefault);
}

/** Nothing will be charged any more → payment_intent.canceled */
export function cancelIntent(world: World, invoice: Invoice): void {
  const canceled = { status: 'canceled', canceledAt: epochNow(world) } as const;
  const payment = defaultPayment(world, invoice);
  if (payment?.status === 'open') world.invoicePayments.put({ ...payment, ...canceled });
  if (!invoice.paymentIntent) return;
  emit(world, 'payment_intent.canceled', changeIntent(world, invoice.paymentIntent, canceled));
}

/** The intent's amount follows the invoice's remaining amount, as at Stripe. */
export function resizeIntent(world: World, invoice: Invoice): void {
  const amount = invoice.amountDue - invoice.amountPaid;
  const payment = defaultPayment(world, invoice);
  if (payment?.status === 'open') world.invoicePayments.put({ ...payment, amountRequested: amount });
  if (invoice.paymentIntent) changeIntent(world, invoice.paymentIntent, { amount });
}
