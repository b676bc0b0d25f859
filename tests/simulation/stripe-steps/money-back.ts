import * as act from '@/lib/stripe-local/actions';
import { collectedFor } from '@/lib/stripe-local/actions/collected';
import { mayBecome } from '@/lib/stripe-local/actions/move-dispute';
import { isCollected } from '@/lib/stripe-local/charges';
import { epochNow, newId, WorldError } from '@/lib/stripe-local/world';
import type { Step } from '../plan';
import { invoiceThat, ownerOf, pick, type Scene } from './scene';
import type { Steps } from './steps';

/** A refund that succeeded fails within so many days, if at all. */
const FAILS_WITHIN = 29 * 86_400;

export const MONEY_BACK_STEPS = {
  refund,
  settleRefund(scene, step) {
    const { a, b } = step;
    const now = epochNow(scene.world);
    const open = [...scene.world.refunds.values()].filter(({ status, created }) =>
      status === 'succeeded' ? now - created < FAILS_WITHIN : status === 'pending',
    );
    const found = pick(open, a);
    if (!found) return refund(scene, step);
    const [next] = found.status === 'succeeded' ? ['failed' as const] : [OUTCOMES[b % 3] ?? 'succeeded'];
    act.settleRefund(scene.world, found.id, next ?? 'succeeded');
    return `the refund ${found.id} is ${next}`;
  },
  dispute,
  moveDispute(scene, step) {
    const { a, b } = step;
    const found = pick(
      [...scene.world.disputes.values()].filter((one) => nextOf(one).length > 0),
      a,
    );
    const next = found && nextOf(found)[b % nextOf(found).length];
    if (!next) return dispute(scene, step);
    act.moveDispute(scene.world, found.id, next);
    return `the dispute ${found.id} is ${next}`;
  },
  credit(scene, { a, b, c }) {
    const found = invoiceThat(scene, a, 'open', 'uncollectible', 'paid');
    if (!found || found.total <= 0) return null;
    const amount = b === 0 ? found.total : Math.max(1, Math.floor(found.total / (b + 1)));
    const left = found.status === 'paid' ? 0 : found.amountDue - found.amountPaid;
    const back = Math.max(0, amount - left);
    const how = [{ refundAmount: back }, { balanceAmount: back }, { outOfBandAmount: back }][c % 3] ?? {};
    const done = tried(() => act.createCreditNote(scene.world, { invoice: found.id, amount, ...how }));
    return done && `${amount} of ${found.id} is credited by ${done.object.id}`;
  },
  voidCredit(scene, { a }) {
    const found = pick(
      [...scene.world.creditNotes.values()].filter(({ status }) => status === 'issued'),
      a,
    );
    const done = found && tried(() => act.voidCreditNote(scene.world, found.id));
    return done ? `the credit note ${done.object.id} is void` : null;
  },
} satisfies Steps;

function refund(scene: Scene, { a, b, c }: Step): string | null {
  const intent = c === 7 ? ofNoInvoice(scene, a) : (collected(scene, a) ?? paidNow(scene, a));
  if (!intent) return null;
  const amount = b % 2 === 0 ? {} : { amount: Math.max(1, Math.floor(intent.amountReceived / (b + 1))) };
  const status = c % 3 === 0 ? ('pending' as const) : ('succeeded' as const);
  const done = tried(() => act.refundPayment(scene.world, { paymentIntent: intent.id, ...amount, status }));
  const odd = done && ODD[b * 8 + c];
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

/** A status that nobody knows. */
const STRANGE = 'strange' as 'lost';

/** What refunds now and then are: in another currency, of a charge without a payment intent, in a strange status. */
const ODD: Record<number, object> = {
  3: { currency: 'gbp' },
  11: { paymentIntent: null },
  20: { status: STRANGE },
  28: { status: STRANGE },
};

const OUTCOMES = ['succeeded', 'failed', 'canceled'] as const;
const STATUSES = [
  'warning_under_review',
  'warning_closed',
  'needs_response',
  'prevented',
  'under_review',
  'won',
  'lost',
] as const;

const nextOf = (dispute: Parameters<typeof mayBecome>[0]) =>
  STATUSES.filter((status) => mayBecome(dispute, status));

function collected({ world }: Scene, a: number) {
  return pick([...world.paymentIntents.values()].filter(isCollected), a);
}

/** An invoice that is made and paid at once. */
function paidNow({ world, ...scene }: Scene, a: number) {
  const owner = ownerOf({ world, ...scene }, a);
  if (!owner) return undefined;
  const { object } = act.createInvoice(world, { customer: owner.id, lines: [{ amount: 1000 + a * 990 }] });
  act.finalizeInvoice(world, object.id);
  act.payInvoice(world, object.id);
  return collectedFor(world, object)[0];
}

/** A payment that was made for no invoice. */
export function ofNoInvoice(scene: Scene, a: number) {
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

/** What Stripe refuses does not happen. */
export function tried<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof WorldError) return null;
    throw error;
  }
}
