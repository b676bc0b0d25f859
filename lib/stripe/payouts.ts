import type Stripe from 'stripe';
import { toCalendarDate, toEpoch } from '../dates';
import { asAmount, asId, asInstant, asObject, asText, toCurrency, toMoney } from './read';

export type ProviderPayoutEntry = NonNullable<ReturnType<typeof toEntry>>;

const LIMIT = 100;

/** Fetches a page of payouts, newest first. @throws Stripe's errors, UnstorableError */
export async function listProviderPayouts(
  stripe: Stripe,
  { createdFrom, after }: { createdFrom: Date; after: string | null },
) {
  const created = { gte: toEpoch(createdFrom) };
  const page = await stripe.payouts.list({ limit: LIMIT, created, ...(after && { starting_after: after }) });
  return {
    payouts: page.data.flatMap((one) => toPayout(one) ?? []),
    next: page.has_more ? (page.data.at(-1)?.id ?? null) : null,
  };
}

/**
 * Fetches a page of the balance transactions that an automatic payout contains. Omits the payout's own transaction.
 * Stripe refuses this list for a manual payout.
 *
 * @throws Stripe's errors, UnstorableError
 */
export async function listProviderPayoutEntries(stripe: Stripe, payout: string, after: string | null) {
  const page = await stripe.balanceTransactions.list({
    ...{ payout, limit: LIMIT, expand: ['data.source'] },
    ...(after && { starting_after: after }),
  });
  return {
    entries: page.data.flatMap((one) => toEntry(one) ?? []).filter(({ sourceId }) => sourceId !== payout),
    next: page.has_more ? (page.data.at(-1)?.id ?? null) : null,
  };
}

/** Converts a payout. Amounts are decimal text and can be negative. Returns null if the payout has no id or no time. */
export function toPayout(object: unknown) {
  const payload = asObject(object);
  const id = asText(payload.id);
  const issuedAt = asInstant(payload.created);
  if (id === null || issuedAt === null) return null;
  const currency = toCurrency(payload.currency);
  const isAutomatic = payload.automatic === true;
  const state = asText(payload.reconciliation_status);
  return {
    id,
    issuedAt,
    amount: toMoney(asAmount(payload.amount) ?? 0, currency),
    currency,
    status: asText(payload.status) ?? 'unknown',
    failureCode: asText(payload.failure_code),
    isAutomatic,
    /**
     * Whether Stripe's list of the payout's transactions is complete. Older API versions do not send
     * `reconciliation_status`, and their list is always complete.
     */
    isListed: isAutomatic && (state === null || state === 'completed'),
    // Stripe reports the arrival date as an instant, at midnight in UTC.
    arrivalDate: toCalendarDate(asInstant(payload.arrival_date) ?? issuedAt, 'UTC'),
  };
}

/** Converts a balance transaction. Returns null if it has no id. */
function toEntry(object: unknown) {
  const payload = asObject(object);
  const id = asText(payload.id);
  if (id === null) return null;
  const currency = toCurrency(payload.currency);
  const source = asObject(payload.source);
  const type = asText(payload.type) ?? 'unknown';
  const money = (value: unknown) => toMoney(asAmount(value) ?? 0, currency);
  return {
    id,
    type,
    amount: money(payload.amount),
    fee: money(payload.fee),
    net: money(payload.net),
    currency,
    sourceId: asId(payload.source),
    paymentIntentId: asId(source.payment_intent),
  };
}
