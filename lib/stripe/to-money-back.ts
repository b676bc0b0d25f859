import { disputeStatus, type refundStatus } from '@/db/schema';
import {
  asAmount,
  asId,
  asInstant,
  asList,
  asObject,
  asText,
  type Json,
  toCurrency,
  toMoney,
  UnstorableError,
} from './read';

const REFUND_STATUSES: Record<string, (typeof refundStatus.enumValues)[number]> = {
  pending: 'pending',
  requires_action: 'pending',
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'cancelled',
};

/**
 * Converts a Stripe refund. Returns null if the object has no id.
 *
 * @throws UnstorableError for an amount or currency that no column can hold
 */
export function toProviderRefund(object: unknown) {
  const payload = asObject(object);
  const common = toMoneyBack(payload);
  if (!common) return null;
  return {
    ...common,
    /** Our status. Null for a Stripe status that this code does not know. */
    status: REFUND_STATUSES[common.providerStatus ?? ''] ?? null,
    reason: asText(payload.failure_reason) ?? asText(payload.reason),
  };
}

/**
 * Converts a Stripe dispute. Returns null if the object has no id.
 *
 * @throws UnstorableError for an amount or currency that no column can hold
 */
export function toProviderDispute(object: unknown) {
  const payload = asObject(object);
  const common = toMoneyBack(payload);
  if (!common) return null;
  return {
    ...common,
    /** Stripe's status, which is also ours. Null for a status that this code does not know. */
    status: disputeStatus.enumValues.find((known) => known === common.providerStatus) ?? null,
    reason: asText(payload.reason),
    evidenceDueAt: asInstant(asObject(payload.evidence_details).due_by),
    fundsWithdrawnAt: movedAt(payload, (amount) => amount < 0),
    fundsReturnedAt: movedAt(payload, (amount) => amount > 0),
  };
}

/** Reads the common fields of refunds and disputes. The amount is in whole units, as decimal text. */
function toMoneyBack(payload: Json) {
  const id = asText(payload.id);
  if (id === null) return null;
  const currency = toCurrency(payload.currency);
  const amount = asAmount(payload.amount) ?? 0;
  if (amount <= 0) throw new UnstorableError(`The amount ${amount} is not more than 0.`);
  return {
    id,
    amount: toMoney(amount, currency),
    currency,
    issuedAt: asInstant(payload.created),
    providerStatus: asText(payload.status),
    paymentIntentId: asId(payload.payment_intent),
    chargeId: asId(payload.charge),
  };
}

/** Returns the time of the dispute's last balance transaction with the given sign. */
function movedAt(payload: Json, isOne: (amount: number) => boolean): Date | null {
  const moved = asList(payload.balance_transactions).map(asObject);
  const times = moved
    .filter((one) => isOne(asAmount(one.amount) ?? 0))
    .flatMap((one) => asInstant(one.created) ?? []);
  return times.sort((a, b) => b.getTime() - a.getTime())[0] ?? null;
}
