import type { CustomerInput } from '@/lib/stripe-local/actions';
import * as act from '@/lib/stripe-local/actions';
import {
  cancelIntent,
  changeIntent,
  changeInvoice,
  intentOf,
  recordOffStripe,
  recordPaid,
} from '@/lib/stripe-local/actions/invoices';
import {
  changeSubscription,
  hasEnded,
  invoiceThatIs,
  liveCustomer,
  liveSubscription,
  newItem,
  periodEnd,
} from '@/lib/stripe-local/actions/subscriptions';
import { putIntent } from '@/lib/stripe-local/charges';
import type { Customer, Invoice, ItemInput, Subscription, SubscriptionItem } from '@/lib/stripe-local/model';
import { action, emit, epochNow, newId, type World, WorldError } from '@/lib/stripe-local/world';

export * from '@/lib/stripe-local/actions';

/** Changes a customer. Emits customer.updated. */
export const updateCustomer = action((world, id: string, patch: CustomerInput): Customer => {
  const before = liveCustomer(world, id);
  const customer = world.customers.put({ ...before, ...patch });
  emit(world, 'customer.updated', customer, before);
  return customer;
});

/**
 * Deletes a customer and cancels those of its subscriptions that have not ended. Emits customer.subscription.deleted
 * for each of them, then customer.deleted.
 */
export const deleteCustomer = action((world, id: string): Customer => {
  const before = liveCustomer(world, id);
  for (const subscription of [...world.subscriptions.where('customer', id)]) {
    if (!hasEnded(subscription)) act.cancelSubscription(world, subscription.id);
  }
  const customer = world.customers.put({ ...before, deleted: true });
  emit(world, 'customer.deleted', before);
  return customer;
});

type Patchable = 'cancelAtPeriodEnd' | 'pauseCollection' | 'trialEnd' | 'latestInvoice' | 'metadata';

interface SubscriptionPatch extends Partial<Pick<Subscription, Patchable>> {
  status?: Exclude<Subscription['status'], 'canceled'>;
  /**
   * The complete list of items. Items with an id are kept, items without an id are created, and missing items are
   * removed.
   */
  items?: readonly (Partial<SubscriptionItem> & Partial<ItemInput>)[];
  /** The current period of every item. */
  currentPeriodStart?: number;
  currentPeriodEnd?: number;
  /** Planned end, as an alternative to `cancelAtPeriodEnd`. Null removes it. */
  cancelAt?: number | null;
}

/** Changes a subscription. Emits customer.subscription.updated, or no event if nothing changes. */
export const updateSubscription = action((world, id: string, patch: SubscriptionPatch): Subscription => {
  const before = liveSubscription(world, id);
  const { items, currentPeriodStart, currentPeriodEnd, cancelAtPeriodEnd, cancelAt, ...plain } = patch;
  const next: Subscription = { ...before, ...plain, items: patchedItems(world, before, patch) };
  const ending = next.status === 'incomplete_expired' ? { endedAt: epochNow(world) } : {};
  const subscription = { ...next, ...cancellation(world, next, patch), ...ending };
  if (JSON.stringify(subscription) === JSON.stringify(before)) return before;
  return changeSubscription(world, before, subscription);
});

function patchedItems(world: World, before: Subscription, patch: SubscriptionPatch): SubscriptionItem[] {
  const wanted = patch.items ?? before.items;
  return wanted.map((item) => {
    const old = before.items.find((one) => one.id === item.id);
    const base = old
      ? { ...old, ...item }
      : { ...newItem(world, { unitAmount: 0, ...item }, epochNow(world)), ...item };
    const { currentPeriodStart = base.currentPeriodStart, currentPeriodEnd = base.currentPeriodEnd } = patch;
    return { ...base, currentPeriodStart, currentPeriodEnd };
  });
}

function cancellation(
  world: World,
  next: Subscription,
  { cancelAtPeriodEnd: atPeriodEnd, cancelAt }: SubscriptionPatch,
) {
  if (cancelAt !== undefined) {
    return { cancelAtPeriodEnd: false, cancelAt, canceledAt: cancelAt === null ? null : epochNow(world) };
  }
  if (atPeriodEnd === undefined || atPeriodEnd === next.cancelAtPeriodEnd) return {};
  return atPeriodEnd
    ? { cancelAtPeriodEnd: true, cancelAt: periodEnd(next), canceledAt: epochNow(world) }
    : { cancelAtPeriodEnd: false, cancelAt: null, canceledAt: null };
}

/** Finalizes a draft like the local Stripe's action, and then voids the open invoice that the draft revises. */
export const finalizeInvoice = action((world, id: string, options: { number?: string } = {}): Invoice => {
  const invoice = act.finalizeInvoice(world, id, options).object;
  if (invoice.revises !== null) voidInvoice(world, invoice.revises);
  return invoice;
});

type InvoicePatch = Partial<Pick<Invoice, 'dueDate' | 'metadata'>>;

/** Changes an invoice. Emits invoice.updated. */
export const updateInvoice = action((world, id: string, patch: InvoicePatch): Invoice => {
  return changeInvoice(world, invoiceThatIs(world, id, 'draft', 'open', 'uncollectible', 'paid'), patch);
});

/** Voids an invoice. Emits payment_intent.canceled if it has an intent, then invoice.updated and invoice.voided. */
export const voidInvoice = action((world, id: string): Invoice => {
  const before = invoiceThatIs(world, id, 'open', 'uncollectible');
  if (before.amountPaid > 0) throw new WorldError(`The invoice ${id} is partly paid and cannot be voided.`);
  cancelIntent(world, before);
  const patch = { status: 'void', voidedAt: epochNow(world), nextPaymentAttempt: null } as const;
  return changeInvoice(world, before, patch, 'invoice.voided');
});

/** Writes off an open invoice. Emits invoice.updated and invoice.marked_uncollectible. */
export const markUncollectible = action((world, id: string): Invoice => {
  const before = invoiceThatIs(world, id, 'open');
  const markedUncollectibleAt = epochNow(world);
  const patch = { status: 'uncollectible', markedUncollectibleAt, nextPaymentAttempt: null } as const;
  return changeInvoice(world, before, patch, 'invoice.marked_uncollectible');
});

/** Deletes a draft. Emits invoice.deleted. */
export const deleteDraftInvoice = action((world, id: string): Invoice => {
  const invoice = invoiceThatIs(world, id, 'draft');
  world.invoices.delete(id);
  emit(world, 'invoice.deleted', invoice);
  return invoice;
});

/**
 * Pays a part of the remaining amount, outside Stripe or through another intent than the invoice's own. Emits
 * payment_intent.succeeded unless paid outside Stripe, then invoice_payment.paid and invoice.updated.
 *
 * @param amount an amount below the remaining amount
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

/** Collects a part of an invoice through a new intent. Emits payment_intent.succeeded and invoice_payment.paid. */
function collectPart(world: World, invoice: Invoice, amount: number): void {
  const intent = putIntent(world, invoice, {
    id: newId(world, 'pi_'),
    amount,
    amountReceived: amount,
    status: 'succeeded',
    latestCharge: newId(world, 'ch_'),
  });
  emit(world, 'payment_intent.succeeded', intent);
  const payment = { type: 'payment_intent', payment_intent: intent.id } as const;
  recordPaid(world, invoice, { amountRequested: amount, payment });
}

/** Starts a bank debit, which is neither paid nor failed yet. Emits payment_intent.processing and invoice.updated. */
export const beginPayment = action((world, id: string): Invoice => {
  const before = invoiceThatIs(world, id, 'open');
  const intent = changeIntent(world, intentOf(before), { status: 'processing', lastPaymentError: null });
  emit(world, 'payment_intent.processing', intent);
  return changeInvoice(world, before, { attempted: true, attemptCount: before.attemptCount + 1 });
});
