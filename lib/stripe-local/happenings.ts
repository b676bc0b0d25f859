import {
  cancelSubscription,
  completeCheckout,
  createCheckoutSession,
  createCreditNote,
  createInvoice,
  createSubscription,
  endsWithPeriod,
  failInvoicePayment,
  finalizeInvoice,
  moveDispute,
  openDispute,
  payInvoice,
  refundPayment,
  renewSubscription,
  returnDebit,
  settleRefund,
  voidCreditNote,
} from './actions';
import { creditable, mayBecome, refundableOf, untouched } from './actions/money-back';
import { hasEnded } from './actions/subscriptions';
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
import { type Collection, epochNow, type World } from './world';

interface Happening {
  world: World;
  /** The customer. Null for any customer. */
  customer: Customer | null;
  /** Allowed only for events about invoices and their payments. */
  invoiceNumber: string | null;
  /** One of the event's `STATUSES`. Defaults to the first. */
  status?: string | undefined;
}

interface Happened {
  /** A sentence that describes the action. */
  action: string;
  objects: WorldObject[];
}

/** The statuses that can be requested, by event type. The first is the default. */
export const STATUSES = {
  'refund.created': ['succeeded', 'pending', 'requires_action'],
  'charge.refunded': ['succeeded', 'pending', 'requires_action'],
  'refund.updated': ['succeeded', 'canceled'],
  'charge.dispute.created': ['needs_response', 'warning_needs_response', 'lost'],
  'charge.dispute.closed': ['lost', 'won', 'warning_closed'],
} as const;

/**
 * Performs an action in the world for which Stripe sends an event of the given type.
 *
 * @throws ControlError also if the event does not allow the invoice number or the status
 * @throws WorldError if Stripe would refuse the action
 */
export function makeHappen(type: EventType, target: Happening): Happened {
  if (target.invoiceNumber !== null && /^(checkout|customer)\./.test(type)) {
    throw new ControlError(
      422,
      `An invoice number goes with the events about invoices and their money, not with ${type}.`,
    );
  }
  if (target.status !== undefined && !(type in STATUSES)) {
    throw new ControlError(422, `No status can be asked for with ${type}.`);
  }
  return HAPPENINGS[type](target);
}

const HAPPENINGS = {
  'checkout.session.completed': checkOut,
  'customer.subscription.created': (target) => {
    const { id: customer } = anyCustomer(target);
    const { object } = createSubscription(target.world, { customer, items: [{ unitAmount: 990 }] });
    return { action: `Customer ${customer} has a new subscription, ${object.id}.`, objects: [object] };
  },
  'customer.subscription.updated': (target) => {
    const { id } = findSubscription(target, isRenewable, 'subscription that renews itself');
    const { subscription, invoice } = renewSubscription(target.world, id).object;
    return {
      action: `The subscription ${id} went into its next period; the invoice for it is a draft.`,
      objects: [subscription, invoice],
    };
  },
  'customer.subscription.deleted': (target) => {
    const { id } = findSubscription(target, () => true);
    const { object } = cancelSubscription(target.world, id);
    return { action: `The subscription ${id} was cancelled at once.`, objects: [object] };
  },
  'invoice.finalized': (target) => {
    const draft = target.invoiceNumber === null ? findInvoice(target, 'draft') : numbered(target, 'draft');
    const { object } = finalizeInvoice(target.world, (draft ?? newDraft(target)).id);
    return { action: `The invoice ${object.number} was finalized.`, objects: [object] };
  },
  'invoice.paid': pay,
  'invoice.payment_succeeded': pay,
  'invoice.payment_failed': (target) => {
    const { object } = failInvoicePayment(target.world, payable(target).id);
    return { action: `Stripe could not collect the invoice ${object.number}.`, objects: [object] };
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
  'credit_note.voided': (target) => {
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
} satisfies Record<string, (target: Happening) => Happened>;

export type EventType = keyof typeof HAPPENINGS;
export const EVENT_TYPES = Object.keys(HAPPENINGS) as EventType[];

function pay(target: Happening): Happened {
  const { object } = payInvoice(target.world, payable(target).id);
  return { action: `Stripe collected the invoice ${object.number}.`, objects: [object] };
}

/** Completes an open checkout, if one exists. */
function checkOut(target: Happening): Happened {
  const { world, customer } = target;
  const open = [...world.checkoutSessions.values()].find(
    (session) => session.status === 'open' && (!customer || session.customer === customer.id),
  );
  const session =
    open ?? createCheckoutSession(world, { customer: anyCustomer(target).id, items: [{ unitAmount: 990 }] });
  const { object } = completeCheckout(world, session.id);
  const subscription = world.subscriptions.get(object.subscription ?? '');
  return {
    action: `The checkout ${object.id} was completed and made the subscription ${object.subscription}.`,
    objects: subscription ? [object, subscription] : [object],
  };
}

function payable(target: Happening): Invoice {
  if (target.invoiceNumber !== null) return numbered(target, 'open', 'uncollectible');
  const found = findInvoice(target, 'open', 'uncollectible');
  return found ?? finalizeInvoice(target.world, newDraft(target).id).object;
}

function numbered(target: Happening, ...statuses: Invoice['status'][]): Invoice {
  const invoice = findInvoiceByNumber(target, target.invoiceNumber ?? '');
  if (statuses.includes(invoice.status)) return invoice;
  throw new ControlError(409, `The invoice ${invoice.number} is ${STATUS_WORDS[invoice.status]} at Stripe.`);
}

const STATUS_WORDS: Record<Invoice['status'], string> = {
  draft: 'still a draft',
  open: 'already finalized and open',
  paid: 'already paid',
  uncollectible: 'already finalized and uncollectible',
  void: 'voided',
};

const DAY = 86_400;

function newDraft(target: Happening): Invoice {
  return createInvoice(target.world, {
    customer: anyCustomer(target).id,
    lines: [{ amount: 4900, description: 'Setup' }],
    tax: 931,
    dueDate: epochNow(target.world) + 14 * DAY,
  }).object;
}

function isRenewable(subscription: Subscription) {
  const { status, items } = subscription;
  return !endsWithPeriod(subscription) && status !== 'incomplete' && items.length > 0;
}

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

type Statuses = typeof STATUSES;

/** @throws ControlError 422 if the event does not allow the requested status */
function statusOf<T extends keyof Statuses>(type: T, { status }: Happening): Statuses[T][number] {
  const known: readonly Statuses[T][number][] = STATUSES[type];
  const found = status === undefined ? known[0] : known.find((one) => one === status);
  if (found) return found;
  throw new ControlError(422, `The status of ${type} must be one of ${known.join(', ')}.`);
}

/** Returns half of the remaining amount, so the invoice stays open. For a paid invoice, all, refunded if possible. */
function partsOf(world: World, invoice: Invoice) {
  const amount = creditable(world, invoice);
  if (amount <= 0) throw new ControlError(409, `Nothing is left of the invoice ${invoice.number} to credit.`);
  if (invoice.status !== 'paid') {
    return { amount: Math.max(1, Math.floor((invoice.amountDue - invoice.amountPaid) / 2)) };
  }
  const refundAmount = Math.min(amount, refundableOf(world, invoice));
  return { amount, refundAmount, outOfBandAmount: amount - refundAmount };
}

function invoiceNow(world: World, id: string): Invoice[] {
  const invoice = world.invoices.get(id);
  return invoice ? [invoice] : [];
}

/** Opens a dispute. With the status `lost`, the customer's bank has returned a direct debit. */
function open(target: Happening): Happened {
  const { world } = target;
  const invoice = findInvoiceWith(
    target,
    (one) => collectedFor(world, one).some((payment) => untouched(world, payment) > 0),
    'disputable invoice',
  );
  const status = statusOf('charge.dispute.created', target);
  const { object } =
    status === 'lost'
      ? returnDebit(world, { invoice: invoice.id })
      : openDispute(world, { invoice: invoice.id, inquiry: status === 'warning_needs_response' });
  return {
    action: `The payment of the invoice ${invoice.number} is disputed; the dispute is ${status}.`,
    objects: [object, invoice],
  };
}

/** Moves the newest dispute that can take one of the statuses. Earlier statuses take precedence. */
function move(target: Happening, statuses: readonly DisputeStatus[], noun: string): Happened {
  const next = (dispute: Dispute) => statuses.find((status) => mayBecome(dispute, status));
  const dispute = findReturned(target, target.world.disputes, (one) => next(one) !== undefined, noun);
  const { object } = moveDispute(target.world, dispute.id, next(dispute) ?? dispute.status);
  return { action: `The dispute ${object.id} is ${object.status} now.`, objects: [object] };
}

/** Finds the named invoice in any state, or the newest matching invoice. @throws ControlError 404, 409 */
function findInvoiceWith(target: Happening, wanted: (invoice: Invoice) => boolean, noun: string): Invoice {
  const found =
    target.invoiceNumber === null
      ? newest(target, target.world.invoices, wanted)
      : findInvoiceByNumber(target, target.invoiceNumber);
  if (!found) throw nothing(target, noun);
  return found;
}

/** Finds the newest object of the named customer and invoice. @throws ControlError 404, 409 */
function findReturned<T extends Refund | Dispute | CreditNote>(
  target: Happening,
  collection: Collection<T>,
  wanted: (object: T) => boolean,
  noun: string,
): T {
  const { world, customer, invoiceNumber } = target;
  const invoice = invoiceNumber === null ? null : findInvoiceByNumber(target, invoiceNumber);
  for (const object of collection.older()) {
    // Of these objects, only credit notes contain the customer and the invoice.
    const held: Refund | Dispute | CreditNote = object;
    const about = held.object === 'credit_note' ? held : world.paymentIntents.get(held.paymentIntent);
    if (customer && about?.customer !== customer.id) continue;
    if (invoice && about?.invoice !== invoice.id) continue;
    if (wanted(object)) return object;
  }
  throw nothing(target, noun, invoice);
}

/** A request to the control API that cannot be fulfilled. The message is a sentence with the reason. */
export class ControlError extends Error {
  override readonly name = 'ControlError';

  constructor(
    readonly status: 400 | 404 | 409 | 413 | 422,
    message: string,
  ) {
    super(message);
  }
}

/** Finds a customer by number, in any case. @throws ControlError 404 */
export function findCustomer(world: World, customerNumber: string): Customer {
  const wanted = customerNumber.toLowerCase();
  const hasNumber = ({ metadata }: Customer) => metadata.customer_number?.toLowerCase() === wanted;
  const found = [...world.customers.values()].find((customer) => !customer.deleted && hasNumber(customer));
  if (found) return found;
  throw new ControlError(404, `No customer at Stripe has the customer number ${customerNumber}.`);
}

/** Returns the requested customer, or the first customer of the account. @throws ControlError 404 */
function anyCustomer({ world, customer }: Happening): Customer {
  const found = customer ?? [...world.customers.values()].find((one) => !one.deleted);
  if (found) return found;
  throw new ControlError(404, 'There is no customer at Stripe yet.');
}

/** Finds the newest subscription that has not ended. @throws ControlError 404 */
function findSubscription(
  target: Happening,
  wanted: (subscription: Subscription) => boolean,
  noun = 'live subscription',
): Subscription {
  const isWanted = (one: Subscription) => !hasEnded(one) && wanted(one);
  const found = newest(target, target.world.subscriptions, isWanted);
  if (!found) throw nothing(target, noun);
  return found;
}

/** Returns an error whose sentence says which object is missing. */
function nothing(
  { customer }: Happening,
  noun: string,
  invoice: Pick<Invoice, 'number'> | null = null,
): ControlError {
  const owner = customer && `Customer ${customer.metadata.customer_number ?? customer.id}`;
  const whose = invoice ? `The invoice ${invoice.number}` : owner;
  return new ControlError(404, `${whose ? `${whose} has` : 'There is'} no ${noun} at Stripe.`);
}

/** Finds the newest invoice with one of the statuses. */
function findInvoice(target: Happening, ...statuses: Invoice['status'][]): Invoice | undefined {
  return newest(target, target.world.invoices, (invoice) => statuses.includes(invoice.status));
}

/** @throws ControlError 404 if no invoice has this number, 409 if invoices of several customers have it */
function findInvoiceByNumber({ world, customer }: Happening, number: string): Invoice {
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

/** Finds the newest matching object of the customer. */
function newest<T extends { id: string; created: number; customer: string | null }>(
  { customer }: Happening,
  collection: Collection<T>,
  wanted: (object: T) => boolean,
): T | undefined {
  const among = customer ? { field: 'customer' as const, value: customer.id } : undefined;
  return [...collection.older(undefined, among)].find(wanted);
}
