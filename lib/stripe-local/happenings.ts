import * as act from './actions';
import { collectedFor } from './charges';
import type {
  CreditNote,
  Customer,
  Dispute,
  DisputeStatus,
  Invoice,
  Refund,
  Subscription,
  WorldObject,
} from './model';
import { type Collection, DAY, epochNow, getFrom, type World } from './world';

interface EventTarget {
  world: World;
  /** The customer whose objects the event must concern. Null for any customer. */
  customer: Customer | null;
  /** The number of the invoice. Null for any invoice. Not allowed for events about checkouts and subscriptions. */
  invoiceNumber: string | null;
  /** One of the event's `STATUSES`. If absent, the default applies that is described there. */
  status?: string | undefined;
}

/** A sentence that describes the action, followed by the affected objects. */
type ActionOutcome = [action: string, ...objects: WorldObject[]];

/**
 * The statuses that can be requested, by event type. The first is the default. Without a requested status,
 * charge.dispute.closed may also close an inquiry, which gets the status `warning_closed`.
 */
export const STATUSES = {
  'refund.created': ['succeeded', 'pending', 'requires_action'],
  'charge.refunded': ['succeeded', 'pending', 'requires_action'],
  'refund.updated': ['succeeded', 'canceled'],
  'charge.dispute.created': ['needs_response', 'warning_needs_response', 'lost'],
  'charge.dispute.closed': ['lost', 'won', 'warning_closed'],
} as const;

/**
 * Performs an action for which Stripe sends an event of the given type.
 *
 * @throws ControlError if no object is suitable, or if the event does not allow the invoice number or the status
 * @throws WorldError if Stripe would refuse the action
 */
export function triggerEvent(
  type: EventType,
  target: EventTarget,
): { action: string; objects: WorldObject[] } {
  if (target.invoiceNumber !== null && /^(checkout|customer)\./.test(type)) {
    throw new ControlError(
      422,
      `An invoice number cannot be combined with ${type}: use it for events about invoices and their money.`,
    );
  }
  if (target.status !== undefined && !(type in STATUSES)) {
    throw new ControlError(422, `A status cannot be combined with ${type}: leave it out.`);
  }
  const [action, ...objects] = ACTIONS[type](target);
  return { action, objects };
}

const ACTIONS = {
  'checkout.session.completed': checkOut,
  'customer.subscription.created': (target) => {
    const { id: customer } = anyCustomer(target);
    const { object } = act.createSubscription(target.world, { customer, items: [{ unitAmount: 990 }] });
    return [`Customer ${customer} has a new subscription, ${object.id}.`, object];
  },
  'customer.subscription.updated': (target) => {
    const { id } = find(target, target.world.subscriptions, isRenewable, 'subscription that renews itself');
    const { subscription, invoice } = act.renewSubscription(target.world, id).object;
    const action = `The subscription ${id} entered its next period. Its invoice is a draft.`;
    return [action, subscription, invoice];
  },
  'customer.subscription.deleted': (target) => {
    const isLive = (one: Subscription) => !act.hasEnded(one);
    const { id } = find(target, target.world.subscriptions, isLive, 'live subscription');
    return [
      `The subscription ${id} was cancelled immediately.`,
      act.cancelSubscription(target.world, id).object,
    ];
  },
  'invoice.finalized': (target) => {
    const { id } = findInvoice(target, 'draft') ?? newDraft(target);
    const { object } = act.finalizeInvoice(target.world, id);
    return [`The invoice ${object.number} was finalized.`, object];
  },
  'invoice.paid': pay,
  'invoice.payment_succeeded': pay,
  'invoice.payment_failed': (target) => {
    const { object } = act.failInvoicePayment(target.world, payable(target).id);
    return [`Stripe could not collect the invoice ${object.number}.`, object];
  },
  'refund.created': (target) => refund(target, 'refund.created'),
  'refund.updated': (target) => {
    const status = statusOf('refund.updated', target);
    return settle(target, status, ['pending', 'requires_action'], 'unsettled refund');
  },
  'refund.failed': (target) =>
    settle(target, 'failed', ['pending', 'requires_action', 'succeeded'], 'refund that could fail'),
  'charge.refunded': (target) => refund(target, 'charge.refunded'),
  'charge.dispute.created': open,
  'charge.dispute.updated': (target) =>
    move(target, ['under_review', 'warning_under_review'], 'dispute that waits for evidence'),
  'charge.dispute.closed': (target) => {
    const asked = statusOf('charge.dispute.closed', target);
    const ends = target.status === undefined ? (['lost', 'warning_closed'] as const) : [asked];
    return move(target, ends, `open dispute that could end as ${ends.join(' or ')}`);
  },
  'charge.dispute.funds_withdrawn': (target) =>
    move(target, ['needs_response'], 'inquiry that could become a dispute'),
  'charge.dispute.funds_reinstated': (target) => move(target, ['won'], 'open dispute that could be won'),
  'credit_note.created': (target) => {
    const { world } = target;
    const isCreditable = (one: Invoice) =>
      ['open', 'paid', 'uncollectible'].includes(one.status) && act.creditable(world, one) > 0;
    const invoice = findInvoiceWith(target, isCreditable, 'creditable invoice');
    const { object } = act.createCreditNote(world, { invoice: invoice.id, ...partsOf(world, invoice) });
    const action = `The credit note ${object.number} was issued on the invoice ${invoice.number}.`;
    return [action, object, getFrom(world, 'invoice', invoice.id)];
  },
  'credit_note.voided': (target) => {
    const { world } = target;
    const isVoidable = ({ status, invoice, postPaymentAmount }: CreditNote) =>
      status === 'issued' &&
      postPaymentAmount === 0 &&
      ['open', 'uncollectible'].includes(getFrom(world, 'invoice', invoice).status);
    const { id } = find(target, world.creditNotes, isVoidable, 'voidable credit note');
    const { object } = act.voidCreditNote(world, id);
    const invoice = getFrom(world, 'invoice', object.invoice);
    return [`The credit note ${object.number} was voided.`, object, invoice];
  },
} satisfies Record<string, (target: EventTarget) => ActionOutcome>;

export type EventType = keyof typeof ACTIONS;
export const EVENT_TYPES = Object.keys(ACTIONS) as EventType[];

function pay(target: EventTarget): ActionOutcome {
  const { object } = act.payInvoice(target.world, payable(target).id);
  return [`Stripe collected the invoice ${object.number}.`, object];
}

/** Completes an open checkout session. If none is open, creates and completes a new one. */
function checkOut(target: EventTarget): ActionOutcome {
  const { world, customer } = target;
  const open = [...world.checkoutSessions.values()].find(
    (session) => session.status === 'open' && (!customer || session.customer === customer.id),
  );
  const session =
    open ??
    act.createCheckoutSession(world, { customer: anyCustomer(target).id, items: [{ unitAmount: 990 }] });
  const { object } = act.completeCheckout(world, session.id);
  const subscription = world.subscriptions.get(object.subscription ?? '');
  const action = `The checkout ${object.id} was completed and created the subscription ${object.subscription}.`;
  return subscription ? [action, object, subscription] : [action, object];
}

function payable(target: EventTarget): Invoice {
  const found = findInvoice(target, 'open', 'uncollectible');
  return found ?? act.finalizeInvoice(target.world, newDraft(target).id).object;
}

/**
 * Finds the requested invoice. If none is requested, finds the newest invoice with one of the statuses.
 *
 * @throws ControlError 404, 409 in the cases of `namedInvoice`; 409 if the requested invoice has none of the statuses
 */
function findInvoice(target: EventTarget, ...statuses: Invoice['status'][]): Invoice | undefined {
  const isFit = ({ status }: Invoice) => statuses.includes(status);
  const invoice = namedInvoice(target) ?? newest(target, target.world.invoices, isFit);
  if (!invoice || isFit(invoice)) return invoice;
  throw new ControlError(409, `The invoice ${invoice.number} is ${STATUS_WORDS[invoice.status]} at Stripe.`);
}

const STATUS_WORDS: Record<Invoice['status'], string> = {
  draft: 'still a draft',
  open: 'already finalized and open',
  paid: 'already paid',
  uncollectible: 'already finalized and uncollectible',
  void: 'voided',
};

function newDraft(target: EventTarget): Invoice {
  return act.createInvoice(target.world, {
    customer: anyCustomer(target).id,
    lines: [{ amount: 4900, description: 'Setup' }],
    tax: 931,
    dueDate: epochNow(target.world) + 14 * DAY,
  }).object;
}

function isRenewable(subscription: Subscription) {
  const { status, items } = subscription;
  return (
    !act.hasEnded(subscription) &&
    !act.endsWithPeriod(subscription) &&
    status !== 'incomplete' &&
    items.length > 0
  );
}

function refund(target: EventTarget, type: 'refund.created' | 'charge.refunded'): ActionOutcome {
  const { world } = target;
  const invoice = findInvoiceWith(target, (one) => act.refundableOf(world, one) > 0, 'refundable invoice');
  const { object } = act.refundPayment(world, { invoice: invoice.id, status: statusOf(type, target) });
  const action = `The payment of the invoice ${invoice.number} was refunded; the refund is ${object.status}.`;
  return [action, object, invoice];
}

function settle(
  target: EventTarget,
  status: 'succeeded' | 'failed' | 'canceled',
  from: string[],
  noun: string,
): ActionOutcome {
  const { world } = target;
  const { id } = find(target, world.refunds, (one) => from.includes(one.status), noun);
  return [`The refund ${id} is ${status} now.`, act.settleRefund(world, id, status).object];
}

type Statuses = typeof STATUSES;

/** Returns the requested status. @throws ControlError 422 if the event does not allow the requested status */
function statusOf<T extends keyof Statuses>(type: T, { status }: EventTarget): Statuses[T][number] {
  const known: readonly Statuses[T][number][] = STATUSES[type];
  const found = status === undefined ? known[0] : known.find((one) => one === status);
  if (found) return found;
  throw new ControlError(422, `The status of ${type} must be one of ${known.join(', ')}.`);
}

/**
 * Returns the amounts of a credit note. For an unpaid invoice, the note covers half of the unpaid amount, rounded down
 * but at least one minor unit, so that the rest stays unpaid. For a paid invoice, it covers the whole creditable
 * amount, and refunds as much of it as possible.
 */
function partsOf(world: World, invoice: Invoice) {
  const amount = act.creditable(world, invoice);
  if (amount <= 0) throw new ControlError(409, `The invoice ${invoice.number} has nothing left to credit.`);
  if (invoice.status !== 'paid') {
    return { amount: Math.max(1, Math.floor((invoice.amountDue - invoice.amountPaid) / 2)) };
  }
  const refundAmount = Math.min(amount, act.refundableOf(world, invoice));
  return { amount, refundAmount, outOfBandAmount: amount - refundAmount };
}

/** Opens a dispute. If the requested status is `lost`, simulates a direct debit that the bank returns. */
function open(target: EventTarget): ActionOutcome {
  const { world } = target;
  const isDisputable = (one: Invoice) =>
    collectedFor(world, one).some((payment) => act.untouched(world, payment) > 0);
  const invoice = findInvoiceWith(target, isDisputable, 'disputable invoice');
  const status = statusOf('charge.dispute.created', target);
  const { object } =
    status === 'lost'
      ? act.returnDebit(world, { invoice: invoice.id })
      : act.openDispute(world, { invoice: invoice.id, inquiry: status === 'warning_needs_response' });
  const action = `The payment of the invoice ${invoice.number} is disputed; the dispute is ${status}.`;
  return [action, object, invoice];
}

/** Finds the newest dispute that can change to any of the statuses, and sets the first status that is allowed. */
function move(target: EventTarget, statuses: readonly DisputeStatus[], noun: string): ActionOutcome {
  const next = (dispute: Dispute) => statuses.find((status) => act.mayBecome(dispute, status));
  const dispute = find(target, target.world.disputes, (one) => next(one) !== undefined, noun);
  const { object } = act.moveDispute(target.world, dispute.id, next(dispute) ?? dispute.status);
  return [`The dispute ${object.id} is ${object.status} now.`, object];
}

/** Finds the requested invoice in any state. Without a request, finds the newest match. @throws ControlError 404, 409 */
function findInvoiceWith(target: EventTarget, wanted: (invoice: Invoice) => boolean, noun: string): Invoice {
  return namedInvoice(target) ?? find(target, target.world.invoices, wanted, noun);
}

type FindableObject = Subscription | Invoice | Refund | Dispute | CreditNote;

/** Finds the newest matching object of the requested customer and invoice. @throws ControlError 404, 409 */
function find<T extends FindableObject>(
  target: EventTarget,
  collection: Collection<T>,
  wanted: (object: T) => boolean,
  noun: string,
): T {
  const found = newest(target, collection, wanted);
  if (found) return found;
  const { customer } = target;
  const invoice = namedInvoice(target);
  const owner = customer && `Customer ${customer.metadata.customer_number ?? customer.id}`;
  const whose = invoice ? `The invoice ${invoice.number}` : owner;
  throw new ControlError(404, `${whose ? `${whose} has` : 'There is'} no ${noun} at Stripe.`);
}

function newest<T extends FindableObject>(
  target: EventTarget,
  collection: Collection<T>,
  wanted: (object: T) => boolean,
): T | undefined {
  const { world, customer } = target;
  const invoice = namedInvoice(target);
  return [...collection.older()].find((object) => {
    const held: FindableObject = object;
    // Refunds and disputes do not contain the invoice. Their payment intent contains the customer and the invoice.
    const about =
      held.object === 'refund' || held.object === 'dispute'
        ? world.paymentIntents.get(held.paymentIntent)
        : held;
    if (customer && about?.customer !== customer.id) return false;
    if (invoice && !(about && 'invoice' in about && about.invoice === invoice.id)) return false;
    return wanted(object);
  });
}

/** Thrown if a request to the control API cannot be fulfilled. The message is a sentence that states the reason. */
export class ControlError extends Error {
  override readonly name = 'ControlError';

  constructor(
    readonly status: 400 | 404 | 409 | 413 | 422,
    message: string,
  ) {
    super(message);
  }
}

/** Finds a customer by number, ignoring case. @throws ControlError 404 */
export function findCustomer(world: World, customerNumber: string): Customer {
  const wanted = customerNumber.toLowerCase();
  const hasNumber = ({ metadata }: Customer) => metadata.customer_number?.toLowerCase() === wanted;
  const found = [...world.customers.values()].find((customer) => !customer.deleted && hasNumber(customer));
  if (found) return found;
  throw new ControlError(404, `No customer at Stripe has the customer number ${customerNumber}.`);
}

/** Returns the requested customer, or the account's first customer that is not deleted. @throws ControlError 404 */
function anyCustomer({ world, customer }: EventTarget): Customer {
  const found = customer ?? [...world.customers.values()].find((one) => !one.deleted);
  if (found) return found;
  throw new ControlError(404, 'There is no customer at Stripe yet.');
}

/**
 * Finds the invoice with the requested number. Returns null if no number is requested.
 *
 * @throws ControlError 404 if no invoice of the requested customer has the number, 409 if several have it
 */
function namedInvoice({ world, customer, invoiceNumber: number }: EventTarget): Invoice | null {
  if (number === null) return null;
  const found = [...world.invoices.values()].filter((invoice) => invoice.number === number);
  const [first, ...others] = customer ? found.filter((invoice) => invoice.customer === customer.id) : found;
  if (first && others.length === 0) return first;
  if (first)
    throw new ControlError(
      409,
      `Several invoices at Stripe have the number ${number}: name the customer too.`,
    );
  throw new ControlError(
    404,
    found.length > 0
      ? `The invoice ${number} belongs to another customer.`
      : `No invoice at Stripe has the number ${number}: it is unknown, or an invoice that is not billed through Stripe.`,
  );
}
