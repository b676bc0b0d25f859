import { mayBecome } from '@/lib/stripe-local/actions/money-back';
import { collectedFor, isCollected } from '@/lib/stripe-local/charges';
import type { Invoice } from '@/lib/stripe-local/model';
import { emit, epochNow, newId, WorldError } from '@/lib/stripe-local/world';
import * as act from '../../support/stripe-actions';
import type { Step } from '../plan';
import {
  isOlder,
  numberMetadata,
  onInvoice,
  onLive,
  onOwner,
  ownerOf,
  pick,
  type Scene,
  type Steps,
} from './scene';

const DAY = 86_400;
const CURRENCIES = ['eur', 'eur', 'eur', 'eur', 'jpy', 'kwd', 'isk', 'usd'];
const PAYABLE = ['open', 'uncollectible'];
/** A status of an invoice that the product does not know. */
const STRANGE_INVOICE = 'disputed';
/** A status of a refund or dispute that the product does not know. */
const STRANGE = 'strange' as 'lost';
/** Time within which a refund that succeeded can still fail. */
const FAILS_WITHIN = 29 * DAY;
/** Time after the creation of a dispute within which the bank can still reverse its decision. */
const REVERSED_WITHIN = 119 * DAY;
const OUTCOMES = ['succeeded', 'failed', 'canceled'] as const;
const DISPUTE_STATUSES = [
  ...(['warning_under_review', 'warning_closed', 'needs_response'] as const),
  ...(['prevented', 'under_review', 'won', 'lost'] as const),
];
/** Rare kinds of refunds, keyed by `b * 8 + c` of the step. */
const ODD_REFUNDS: Record<number, object> = {
  3: { currency: 'gbp' },
  11: { paymentIntent: null },
  20: { status: STRANGE },
  28: { status: STRANGE },
};

/** Returns one or two invoice lines or, for some steps, more lines than Stripe includes in an invoice. */
function linesOf(
  b: number,
  c: number,
): { amount: number; discount?: number; quantity?: number; description?: string }[] {
  const first = { amount: b === 7 ? 0 : 1000 + b * 990 };
  if (c % 4 !== 2) return [first];
  const more = Array.from({ length: c === 2 ? 14 : 1 }, (_, i) => ({
    amount: b === 7 ? 0 : 100 + i * 7,
    discount: b === 7 ? 0 : (i % 3) * 5,
    quantity: 1 + (i % 4),
    description: `Line ${i} of kind ${b}`,
  }));
  return [first, ...more];
}

/** Steps about invoices, payments, refunds, disputes and credit notes. */
export const INVOICE_STEPS: Steps = {
  invoice: onOwner((scene, owner, { b, c }) => {
    const { object } = act.createInvoice(scene.world, {
      customer: owner.id,
      lines: linesOf(b, c),
      tax: b === 7 ? 0 : b * 190,
      currency: CURRENCIES[c] ?? 'eur',
      metadata: numberMetadata(scene, c),
      ...(b % 2 === 0 && { dueDate: epochNow(scene.world) + c * DAY }),
      ...(b % 4 === 1 && { startingBalance: (c - 2) * 700 }),
      ...(b % 3 === 0 && { effectiveAt: epochNow(scene.world) + (b - 3) * 10 * DAY }),
    });
    return `${owner.id} is to be invoiced: ${object.id}`;
  }),

  revise: onInvoice(['open', 'uncollectible'], ({ world }, found, { b }) => {
    if (found.amountPaid > 0 || world.customers.get(found.customer)?.deleted) return null;
    const { customer, currency, id } = found;
    const lines = [{ amount: 1000 + b * 990 }];
    const { object } = act.createInvoice(world, { customer, currency, lines, revises: id });
    return `${id} is to be replaced by ${object.id}`;
  }),

  finalize: onInvoice(['draft'], (scene, { id, revises }) => {
    const revised = scene.world.invoices.get(revises ?? '');
    const mayRevise = ['open', 'uncollectible'].includes(revised?.status ?? '') && revised?.amountPaid === 0;
    if (revises !== null && !mayRevise) return null;
    act.finalizeInvoice(scene.world, id);
    return `${id} is finalized`;
  }),

  pay: onInvoice(PAYABLE, (scene, found, { b }) => {
    const half = Math.floor((found.amountDue - found.amountPaid) / 2);
    const offStripe = b === 0 ? true : b === 1 && half > 0 && !isOlder(scene) ? half : undefined;
    act.payInvoice(scene.world, found.id, offStripe === undefined ? {} : { offStripe });
    return `${found.id} is paid${offStripe === undefined ? '' : `, off Stripe: ${offStripe}`}`;
  }),

  payPart: onInvoice(PAYABLE, (scene, found, { b }) => {
    const part = Math.floor((found.amountDue - found.amountPaid) / 3);
    if (part <= 0) return null;
    const offStripe = b % 2 === 0 && !isOlder(scene);
    act.payInvoicePart(scene.world, found.id, part, { offStripe });
    return `${part} of ${found.id} is paid${offStripe ? ' off Stripe' : ''}`;
  }),

  fail: onInvoice(PAYABLE, (scene, { id }) => {
    act.failInvoicePayment(scene.world, id);
    return `${id} cannot be collected`;
  }),

  begin: onInvoice(['open'], (scene, { id }) => {
    act.beginPayment(scene.world, id);
    return `the payment of ${id} is under way`;
  }),

  voidInvoice: onInvoice(PAYABLE, (scene, found) => {
    if (found.amountPaid > 0) return null;
    act.voidInvoice(scene.world, found.id);
    return `${found.id} is voided`;
  }),

  uncollectible: onInvoice(['open'], (scene, { id }) => {
    act.markUncollectible(scene.world, id);
    return `${id} is uncollectible`;
  }),

  deleteDraft: onInvoice(['draft'], (scene, found) => {
    // If the draft were the only report of its customer, it would be uncertain whether sync knows the customer.
    const isKnown = [...scene.world.subscriptions.values()].some(
      ({ customer }) => customer === found.customer,
    );
    // If only the draft reported an e-mail address, it would be uncertain whether sync knows the address.
    const isLast = scene.plan.linkByEmail && scene.world.customers.get(found.customer)?.deleted;
    if (!isKnown || isLast || found.metadata.customer_number) return null;
    act.deleteDraftInvoice(scene.world, found.id);
    return `${found.id} is deleted`;
  }),

  changeDueDate: onInvoice(['draft', 'open'], (scene, found, { b, c }) => {
    const metadata = { ...numberMetadata(scene, b), ...found.metadata };
    act.updateInvoice(scene.world, found.id, { dueDate: epochNow(scene.world) + c * DAY, metadata });
    return `${found.id} is due ${c} days from now`;
  }),

  /** Renews a subscription as Stripe does. All events of the renewal are in the same second. */
  charge: onLive((scene, found, { b }) => {
    if (act.endsWithPeriod(found)) return null;
    // No period ends twice within a second, and sync puts at most twelve updates of one second in order.
    const last = scene.world.invoices.get(found.latestInvoice ?? '');
    if (last?.billingReason === 'subscription_cycle' && last.created === epochNow(scene.world)) return null;
    const { invoice } = act.renewSubscription(scene.world, found.id).object;
    const { status } = act.finalizeInvoice(scene.world, invoice.id).object;
    if (status === 'open' && b % 4 === 0) act.failInvoicePayment(scene.world, invoice.id);
    if (status === 'open' && b % 4 !== 1) act.payInvoice(scene.world, invoice.id);
    return `${found.id} is charged by ${invoice.id}`;
  }),

  strangeInvoice: onInvoice(PAYABLE, (scene, found, { b }) => {
    const status = STRANGE_INVOICE as Invoice['status'];
    const invoice = scene.world.invoices.put({ ...found, status, attempted: true });
    emit(scene.world, 'invoice.updated', invoice, found);
    // No other event type that sync handles reports an unknown status.
    if (b % 4 !== 0) emit(scene.world, 'invoice.payment_failed', invoice);
    return `${found.id} becomes ${status}`;
  }),

  knownInvoice: onInvoice([STRANGE_INVOICE], (scene, found) => {
    const invoice = scene.world.invoices.put({ ...found, status: 'open' });
    emit(scene.world, 'invoice.updated', invoice, found);
    return `${found.id} is open again`;
  }),

  refund,
  settleRefund(scene, step) {
    const now = epochNow(scene.world);
    const open = [...scene.world.refunds.values()].filter(({ status, created }) =>
      status === 'succeeded' ? now - created < FAILS_WITHIN : status === 'pending',
    );
    const found = pick(open, step.a);
    if (!found) return refund(scene, step);
    const next = found.status === 'succeeded' ? 'failed' : (OUTCOMES[step.b % 3] ?? 'succeeded');
    act.settleRefund(scene.world, found.id, next);
    return `the refund ${found.id} is ${next}`;
  },

  dispute,
  moveDispute(scene, step) {
    const from = epochNow(scene.world) - REVERSED_WITHIN;
    const nextOf = (dispute: Parameters<typeof mayBecome>[0]) =>
      ['won', 'lost'].includes(dispute.status) && dispute.created <= from
        ? []
        : DISPUTE_STATUSES.filter((status) => mayBecome(dispute, status));
    const found = pick(
      [...scene.world.disputes.values()].filter((one) => nextOf(one).length > 0),
      step.a,
    );
    const next = found && nextOf(found)[step.b % nextOf(found).length];
    if (!next) return dispute(scene, step);
    act.moveDispute(scene.world, found.id, next);
    return `the dispute ${found.id} is ${next}`;
  },

  credit: onInvoice([...PAYABLE, 'paid'], (scene, found, { b, c }) => {
    if (found.total <= 0) return null;
    const amount = b === 0 ? found.total : Math.max(1, Math.floor(found.total / (b + 1)));
    const left = found.status === 'paid' ? 0 : found.amountDue - found.amountPaid;
    const back = Math.max(0, amount - left);
    const how = [{ refundAmount: back }, { balanceAmount: back }, { outOfBandAmount: back }][c % 3] ?? {};
    const done = tried(() => act.createCreditNote(scene.world, { invoice: found.id, amount, ...how }));
    return done && `${amount} of ${found.id} is credited by ${done.object.id}`;
  }),

  voidCredit(scene, { a }) {
    const found = pick(
      [...scene.world.creditNotes.values()].filter(({ status }) => status === 'issued'),
      a,
    );
    const done = found && tried(() => act.voidCreditNote(scene.world, found.id));
    return done ? `the credit note ${done.object.id} is void` : null;
  },
};

function refund(scene: Scene, { a, b, c }: Step): string | null {
  const intent = c === 7 ? intentWithoutInvoice(scene, a) : (collected(scene, a) ?? paidNow(scene, a));
  if (!intent) return null;
  const amount = b % 2 === 0 ? {} : { amount: Math.max(1, Math.floor(intent.amountReceived / (b + 1))) };
  const status = c % 3 === 0 ? ('pending' as const) : ('succeeded' as const);
  const done = tried(() => act.refundPayment(scene.world, { paymentIntent: intent.id, ...amount, status }));
  const odd = done && ODD_REFUNDS[b * 8 + c];
  if (odd) scene.world.refunds.put({ ...done.object, ...odd } as typeof done.object);
  return done && `${done.object.amount} of ${intent.id} is refunded by ${done.object.id}, ${status}`;
}

function dispute(scene: Scene, { a, b, c }: Step): string | null {
  const intent = collected(scene, a) ?? paidNow(scene, a);
  if (!intent) return null;
  const amount = b % 3 === 2 ? { amount: Math.max(1, Math.floor(intent.amountReceived / 2)) } : {};
  const done = tried(() =>
    c % 4 === 3 && intent.invoice
      ? act.returnDebit(scene.world, { invoice: intent.invoice })
      : act.openDispute(scene.world, { paymentIntent: intent.id, ...amount, inquiry: c % 2 === 0 }),
  );
  if (done && a === 6) scene.world.disputes.put({ ...done.object, status: STRANGE });
  return done && `${intent.id} is disputed by ${done.object.id}: ${done.object.status}`;
}

function collected({ world }: Scene, a: number) {
  return pick([...world.paymentIntents.values()].filter(isCollected), a);
}

/** Creates an invoice and pays it immediately. @returns its payment intent */
function paidNow(scene: Scene, a: number) {
  const { world } = scene;
  const owner = ownerOf(scene, a);
  if (!owner) return undefined;
  const { object } = act.createInvoice(world, { customer: owner.id, lines: [{ amount: 1000 + a * 990 }] });
  act.finalizeInvoice(world, object.id);
  act.payInvoice(world, object.id);
  return collectedFor(world, object)[0];
}

/** Creates a payment that belongs to no invoice at Stripe. */
export function intentWithoutInvoice(scene: Scene, a: number) {
  const owner = ownerOf(scene, a);
  if (!owner) return undefined;
  return scene.world.paymentIntents.put({
    object: 'payment_intent',
    id: newId(scene.world, 'pi_'),
    created: epochNow(scene.world),
    customer: owner.id,
    invoice: null,
    amount: 500,
    amountReceived: 500,
    currency: 'eur',
    status: 'succeeded',
    latestCharge: newId(scene.world, 'ch_'),
    lastPaymentError: null,
    canceledAt: null,
  });
}

/** Runs an action at Stripe. @returns null if Stripe refuses it */
export function tried<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof WorldError) return null;
    throw error;
  }
}
