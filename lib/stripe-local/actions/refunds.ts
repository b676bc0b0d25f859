import {
  type Collected,
  chargeOf,
  collectedPayment,
  isChargeRefundable,
  type Paid,
  refundedOf,
  requirePositive,
} from '../charges';
import type { Refund } from '../model';
import { action, emit, epochNow, getFrom, newId, type World, WorldError } from '../world';

export type RefundInput = Paid & {
  /** Left out: the rest of the charge. */
  amount?: number;
  status?: 'pending' | 'requires_action' | 'succeeded';
  reason?: Refund['reason'];
};

/** → refund.created, charge.refunded */
export const refundPayment = action((world, input: RefundInput): Refund => {
  const leftOf = (payment: Collected) => refundable(world, payment);
  const intent = collectedPayment(world, input, leftOf, input.amount);
  const amount = input.amount ?? leftOf(intent);
  if (isChargedBack(world, intent)) {
    throw new WorldError(`Charge ${intent.latestCharge} has been charged back; cannot issue a refund.`);
  }
  refuseAbove(intent, leftOf(intent), amount);
  const before = chargeOf(world, intent);
  const refund = world.refunds.put({
    object: 'refund',
    id: newId(world, 're_'),
    created: epochNow(world),
    amount,
    charge: intent.latestCharge,
    paymentIntent: intent.id,
    customer: intent.customer,
    currency: intent.currency,
    status: input.status ?? 'succeeded',
    reason: input.reason ?? null,
    failureReason: null,
    balanceTransaction: newId(world, 'txn_'),
    failureBalanceTransaction: null,
    metadata: {},
  });
  emit(world, 'refund.created', refund);
  emit(world, 'charge.refunded', chargeOf(world, intent), before);
  return refund;
});

const NEXT: Partial<Record<Refund['status'], readonly Refund['status'][]>> = {
  pending: ['succeeded', 'failed', 'canceled'],
  requires_action: ['succeeded', 'failed', 'canceled'],
  // The customer's bank may send it back weeks later.
  succeeded: ['failed'],
};

/** What became of a refund: a failed or canceled one can be made again → refund.updated, (refund.failed) */
export const settleRefund = action(
  (world, id: string, status: 'succeeded' | 'failed' | 'canceled'): Refund => {
    const before = getFrom(world, 'refund', id);
    if (!NEXT[before.status]?.includes(status)) {
      throw new WorldError(`The refund ${id} is ${before.status} and cannot become ${status}.`);
    }
    const returned = status !== 'succeeded';
    const refund = world.refunds.put({
      ...before,
      status,
      failureReason: status === 'failed' ? 'expired_or_canceled_card' : null,
      failureBalanceTransaction: returned ? newId(world, 'txn_') : null,
    });
    emit(world, 'refund.updated', refund, before);
    if (status === 'failed') emit(world, 'refund.failed', refund);
    return refund;
  },
);

/** The refundable rest of a payment; 0 while its bank has taken it back. */
export function refundable(world: World, payment: Collected): number {
  return isChargedBack(world, payment) ? 0 : unrefunded(world, payment);
}

export function unrefunded(world: World, payment: Collected): number {
  return payment.amountReceived - refundedOf(world, payment.latestCharge);
}

function isChargedBack(world: World, { latestCharge }: Collected): boolean {
  return [...world.disputes.where('charge', latestCharge)].some((dispute) => !isChargeRefundable(dispute));
}

function refuseAbove({ latestCharge }: Collected, left: number, amount: number): void {
  if (left <= 0) throw new WorldError(`Charge ${latestCharge} has already been refunded.`);
  requirePositive(amount);
  if (amount <= left) return;
  throw new WorldError(`Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`);
}
