import { type Collected, disputedOf } from '../charges';
import type { Dispute } from '../model-returns';
import { act, type Done, emit, epochNow, newId, type World, WorldError } from '../world';
import { collectedPayment, type Paid, requirePositive } from './collected';
import { evidenceDueBy, withdrawal } from './dispute-parts';
import { unrefunded } from './refunds';

export type DisputeInput = Paid & {
  /** Left out: what was neither refunded nor disputed yet. */
  amount?: number;
  reason?: string;
  /** The bank only asks, and takes nothing yet. */
  inquiry?: boolean;
};

/** → charge.dispute.created, (charge.dispute.funds_withdrawn) */
export function openDispute(world: World, input: DisputeInput): Done<Dispute> {
  return act(world, () => {
    const dispute = putDispute(world, input, {
      reason: input.reason ?? 'fraudulent',
      status: input.inquiry ? 'warning_needs_response' : 'needs_response',
      evidenceDueBy: evidenceDueBy(world),
    });
    emit(world, 'charge.dispute.created', dispute);
    if (!input.inquiry) emit(world, 'charge.dispute.funds_withdrawn', dispute);
    return dispute;
  });
}

/**
 * The customer's bank takes back a direct debit that had been paid: a dispute that is lost at once.
 * → charge.dispute.created, charge.dispute.funds_withdrawn, charge.dispute.closed
 */
export function returnDebit(world: World, input: { invoice: string; reason?: string }): Done<Dispute> {
  return act(world, () => {
    const reason = input.reason ?? 'insufficient_funds';
    const dispute = putDispute(world, input, { reason, status: 'lost', evidenceDueBy: 0 });
    emit(world, 'charge.dispute.created', dispute);
    emit(world, 'charge.dispute.funds_withdrawn', dispute);
    emit(world, 'charge.dispute.closed', dispute);
    return dispute;
  });
}

function putDispute(
  world: World,
  paid: Paid & { amount?: number },
  given: Pick<Dispute, 'reason' | 'status' | 'evidenceDueBy'>,
): Dispute {
  const leftOf = (payment: Collected) => disputable(world, payment);
  const intent = collectedPayment(world, paid, leftOf, paid.amount);
  const amount = paid.amount ?? untouched(world, intent);
  if (paid.amount === undefined && amount <= 0) {
    throw new WorldError(`Nothing is left of the charge ${intent.latestCharge} to dispute.`);
  }
  requirePositive(amount);
  if (amount > leftOf(intent)) {
    throw new WorldError(
      `The charge ${intent.latestCharge} has ${leftOf(intent)} left to dispute, not ${amount}.`,
    );
  }
  return world.disputes.put({
    object: 'dispute',
    id: newId(world, 'dp_'),
    created: epochNow(world),
    amount,
    charge: intent.latestCharge,
    paymentIntent: intent.id,
    currency: intent.currency,
    ...given,
    submissionCount: 0,
    pastDue: false,
    balanceTransactions: given.status === 'warning_needs_response' ? [] : [withdrawal(world, amount)],
  });
}

/** What was neither refunded nor disputed yet. */
export function untouched(world: World, payment: Collected): number {
  return unrefunded(world, payment) - disputedOf(world, payment.latestCharge);
}

// A bank may also take back a refunded amount, since it does not know of the refund yet.
function disputable(world: World, payment: Collected): number {
  return payment.amountReceived - disputedOf(world, payment.latestCharge);
}
