import {
  cancelSubscription,
  completeCheckout,
  createCheckoutSession,
  createInvoice,
  createSubscription,
  endsWithPeriod,
  failInvoicePayment,
  finalizeInvoice,
  payInvoice,
  renewSubscription,
} from './actions';
import { DISPUTE_HAPPENINGS } from './dispute-happenings';
import { anyCustomer, ControlError, findInvoice, findInvoiceByNumber, findSubscription } from './find-target';
import { type Happened, type Happening, refuseMisplaced } from './happening';
import type { Invoice, Subscription } from './model';
import { RETURN_HAPPENINGS } from './return-happenings';
import { epochNow } from './world';

export const EVENT_TYPES = [
  'checkout.session.completed',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'invoice.finalized',
  'invoice.paid',
  'invoice.payment_succeeded',
  'invoice.payment_failed',
  'refund.created',
  'refund.updated',
  'refund.failed',
  'charge.refunded',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
  'credit_note.created',
  'credit_note.voided',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** Does in the world what Stripe announces with an event of this type. @throws ControlError, WorldError */
export function makeHappen(type: EventType, target: Happening): Happened {
  refuseMisplaced(type, target);
  return HAPPENINGS[type](target);
}

const HAPPENINGS: Record<EventType, (target: Happening) => Happened> = {
  'checkout.session.completed': checkOut,
  'customer.subscription.created': (target) => {
    const customer = anyCustomer(target);
    const { object } = createSubscription(target.world, {
      customer: customer.id,
      items: [{ unitAmount: 990 }],
    });
    return { action: `Customer ${customer.id} has a new subscription, ${object.id}.`, objects: [object] };
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
    return {
      action: `The subscription ${id} was cancelled at once.`,
      objects: [cancelSubscription(target.world, id).object],
    };
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
  ...RETURN_HAPPENINGS,
  ...DISPUTE_HAPPENINGS,
};

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
