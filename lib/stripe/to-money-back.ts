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
import { taxOf } from './to-invoice';
import { toLines } from './to-invoice-lines';

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
    /** Our status. Null if Stripe's status is unknown. */
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
    /** Our status, which has the same name as Stripe's. Null if Stripe's status is unknown. */
    status: disputeStatus.enumValues.find((known) => known === common.providerStatus) ?? null,
    reason: asText(payload.reason),
    evidenceDueAt: asInstant(asObject(payload.evidence_details).due_by),
    fundsWithdrawnAt: movedAt(payload, (amount) => amount < 0),
    fundsReturnedAt: movedAt(payload, (amount) => amount > 0),
  };
}

/**
 * Converts a Stripe credit note of any API version. Returns null if the object lacks an id, invoice, number or time.
 *
 * @throws UnstorableError for an amount or currency that no column can hold
 */
export function toProviderCreditNote(object: unknown) {
  const payload = asObject(object);
  const [id, invoice, number] = [asText(payload.id), asId(payload.invoice), asText(payload.number)];
  const created = asInstant(payload.created);
  if (id === null || invoice === null || number === null || created === null) return null;
  const currency = toCurrency(payload.currency);
  const total = asAmount(payload.total) ?? asAmount(payload.amount) ?? 0;
  const tax = taxOf({ ...payload, total_tax_amounts: payload.tax_amounts }, total);
  const { data, has_more } = asObject(payload.lines);
  return {
    id,
    /** Stripe's id of the invoice. */
    invoice,
    number,
    issuedAt: asInstant(payload.effective_at) ?? created,
    voidedAt: asInstant(payload.voided_at) ?? (payload.status === 'void' ? created : null),
    /** Time when the credit note was voided. If it was not voided, the time when it was created. */
    changedAt: asInstant(payload.voided_at) ?? created,
    reason: asText(payload.memo),
    currency,
    /** Amounts are decimal text in major units. The subtotal is after discounts. */
    subtotal: toMoney(total - tax, currency),
    tax: toMoney(tax, currency),
    total: toMoney(total, currency),
    /** Part of the total that was added to the customer's balance. */
    toBalance: toMoney(addedToBalance(payload), currency),
    /** Lines of the credit note. Null if the object does not contain all lines. */
    lines: Array.isArray(data) && has_more !== true ? toLines(data, currency) : null,
  };
}

/**
 * Returns the part of a credit note that was added to the customer's balance: what exceeded the unpaid amount of the
 * invoice, and was neither refunded nor returned outside Stripe. Only the API version of our client reports this part.
 */
function addedToBalance(payload: Json): number {
  if (asId(payload.customer_balance_transaction) === null) return 0;
  const refunds = asList(payload.refunds).map((refund) => asAmount(asObject(refund).amount_refunded) ?? 0);
  const elsewhere = refunds.reduce((sum, amount) => sum + amount, asAmount(payload.out_of_band_amount) ?? 0);
  return Math.max(0, (asAmount(payload.post_payment_amount) ?? 0) - elsewhere);
}

/** Reads the common fields of refunds and disputes. The amount is decimal text in major units. */
function toMoneyBack(payload: Json) {
  const id = asText(payload.id);
  if (id === null) return null;
  const currency = toCurrency(payload.currency);
  const amount = asAmount(payload.amount) ?? 0;
  if (amount <= 0) throw new UnstorableError(`The amount ${amount} is not greater than 0.`);
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

/** Returns the time of the dispute's last balance transaction whose amount satisfies `isOne`. */
function movedAt(payload: Json, isOne: (amount: number) => boolean): Date | null {
  const moved = asList(payload.balance_transactions).map(asObject);
  const times = moved
    .filter((one) => isOne(asAmount(one.amount) ?? 0))
    .flatMap((one) => asInstant(one.created) ?? []);
  return times.sort((a, b) => b.getTime() - a.getTime())[0] ?? null;
}
