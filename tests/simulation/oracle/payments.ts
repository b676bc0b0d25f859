import { addDays } from '@/lib/dates';
import type { BalanceTransaction, Dispute, Invoice, Refund } from '@/lib/stripe-local/model';
import type { DisputeRow, PaymentRow, RefundRow } from '../tables';
import {
  amount,
  type Case,
  compare,
  date,
  fits,
  type Moment,
  recordDifference,
  storiesOf,
  type Truth,
} from './story';

/** Expects one payment for each invoice that Stripe collected, and no change to payments that people wrote. */
export function checkPayments(given: Case): void {
  const { truth, tables } = given;
  const invoices = storiesOf<Invoice>(truth.history, 'invoice');
  // If people recorded a payment under a payment intent's id, the invoice's money already counts, so sync adds none.
  // Events of newer API versions do not name the intent, so sync may still add one if the other payment is recorded for
  // an invoice of our own.
  const isOwn = (id: number) => findInvoiceOf(given, id)?.stripe_invoice_id === null;
  const [counted, doubtful] = [false, true].map(
    (own) =>
      new Set(
        [...truth.written].flatMap(([id, { reference }]) =>
          isOwn(id) === own ? (truth.intents.get(reference) ?? []) : [],
        ),
      ),
  ) as [Set<string>, Set<string>];
  for (const row of tables.payments) {
    const { payment_reference: reference } = row;
    const written = truth.written.get(row.id);
    if (written) {
      const { reference: payment_reference, ...values } = written;
      compare(given, `payment ${payment_reference}`, { payment_reference, ...values }, row);
    } else if (!invoices.has(reference) || truth.deleted.has(reference) || counted.has(reference)) {
      recordDifference(given, `payment ${reference}`, null, row);
    }
  }
  const references = new Set([...truth.written.values()].map(({ reference }) => reference));
  for (const [id, story] of invoices) {
    if (references.has(id) || truth.deleted.has(id) || counted.has(id)) continue;
    const row = tables.payments.find(({ payment_reference }) => payment_reference === id);
    if (row || !doubtful.has(id)) checkPayment(given, story, row);
  }
  for (const [id, { reference }] of truth.written) {
    if (!tables.payments.some((row) => row.id === id))
      recordDifference(given, `payment ${reference}`, 'as it was entered', null);
  }
}

function findInvoiceOf({ tables }: Case, payment: number) {
  const row = tables.payments.find(({ id }) => id === payment);
  return tables.invoices.find(({ id }) => id === row?.invoice_id);
}

function checkPayment(given: Case, story: Moment<Invoice>[], row: PaymentRow | undefined): void {
  const { truth, tables, full } = given;
  const last = story.at(-1);
  if (!last) return;
  const { id, currency } = last.about;
  const announced = story.some(({ event }) => event.type === 'invoice.payment_succeeded');
  const isFreed = [...truth.freed].some((one) => one === id || truth.intents.get(one) === id);
  const isReported = announced && truth.lossless && !isFreed;
  // An earlier reconciliation may have recorded only a part of the amount.
  const moments = (full || isReported ? [last] : story).filter(({ about }) => collectedOf(about) > 0);
  const expected = moments.flatMap((moment) => {
    const dates = full ? [lastCollected(story)] : datesOf(truth, story, moment);
    // Events of newer API versions do not report how much was paid outside Stripe.
    const amounts = [collectedOf(moment.about), ...(!full && announced ? [moment.about.amountPaid] : [])];
    return amounts.flatMap((minor) =>
      dates.map((at) => ({ amount: amount(minor, currency), payment_date: date(at, truth.timeZone) })),
    );
  });
  const [first] = expected;
  const invoice = tables.invoices.find(({ stripe_invoice_id }) => stripe_invoice_id === id);
  const owner = { invoice_id: invoice?.id, customer_id: invoice?.customer_id };
  const common = { ...owner, currency, source: 'stripe' };
  const mayLack = !first || !(full || isReported);
  if (row ? expected.some((one) => fits({ ...common, ...one }, row)) : mayLack) return;
  const what = `payment ${id}`;
  if (row && first) compare(given, what, { ...common, ...first }, row);
  else recordDifference(given, what, first ?? null, row);
}

const collectedOf = ({ amountPaid, amountPaidOffStripe }: Invoice) => amountPaid - amountPaidOffStripe;

/** Returns the time at which Stripe last collected money for an invoice, in seconds. Null if it never did. */
function lastCollected(story: Moment<Invoice>[]): number | null {
  const grown = story.findLast(
    ({ about }, at) => collectedOf(about) > (at === 0 ? 0 : collectedOf((story[at - 1] ?? { about }).about)),
  );
  return grown?.event.created ?? null;
}

/**
 * Returns the times that sync may use for a payment's date, in epoch seconds. These are the times of all events that
 * report the same collected amount. With an API key, sync may ask Stripe after a later collection, so the times of all
 * later events are possible too.
 */
function datesOf({ hasKey }: Truth, story: Moment<Invoice>[], { at, about }: Moment<Invoice>): number[] {
  return story
    .filter((moment) => collectedOf(moment.about) === collectedOf(about) || (hasKey && moment.at > at))
    .map(({ event }) => event.created);
}

/**
 * Expects each refund and dispute once after a run, in its last state at Stripe and with the payment of its invoice.
 * The refunded amount of a payment is always the sum of its refunds and disputes that count, including those recorded
 * here, but at most the amount of the payment.
 */
export function checkMoneyBack(given: Case): void {
  const { truth, tables, full } = given;
  for (const payment of tables.payments) checkCameBack(given, payment);
  if (!full) return;
  const refunds = new Map(tables.refunds.map((row) => [row.stripe_refund_id, row]));
  for (const refund of truth.refunds)
    compareMoneyBack(given, refund, expectedRefund(given, refund), refunds.get(refund.id));
  const disputes = new Map(tables.disputes.map((row) => [row.stripe_dispute_id, row]));
  for (const dispute of truth.disputes)
    compareMoneyBack(given, dispute, expectedDispute(given, dispute), disputes.get(dispute.id));
}

/**
 * Expects a refund or dispute to have these values. It may belong to any payment of its invoice, because people may
 * record an invoice's money under several ids.
 */
function compareMoneyBack(
  given: Case,
  { id, paymentIntent }: Refund | Dispute,
  expected: Partial<RefundRow | DisputeRow>,
  row: RefundRow | DisputeRow | undefined,
): void {
  const { truth, tables } = given;
  const invoice = truth.intents.get(paymentIntent);
  const found = tables.payments.find((one) => one.id === row?.payment_id)?.payment_reference;
  const isOfInvoice =
    invoice !== undefined && (truth.intents.get(found ?? '') === invoice || found === invoice);
  const payment_id = isOfInvoice ? row?.payment_id : expected.payment_id;
  compare(given, `money back ${id}`, { ...expected, payment_id }, row);
}

// An unknown refund status counts as pending, and an unknown dispute status counts as under review.
const REFUND_STATUSES: Record<string, string> = {
  pending: 'pending',
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'cancelled',
};
const DISPUTE_STATUSES = new Set<string>([
  ...['warning_needs_response', 'warning_under_review', 'warning_closed'],
  ...['needs_response', 'under_review', 'won', 'lost', 'prevented'],
]);

function expectedRefund(given: Case, refund: Refund): Partial<RefundRow> {
  return {
    payment_id: paymentOf(given, refund.paymentIntent)?.id ?? null,
    amount: amount(refund.amount, refund.currency),
    currency: refund.currency,
    status: REFUND_STATUSES[refund.status] ?? 'pending',
    issued_at: refund.created,
  };
}

function expectedDispute(given: Case, dispute: Dispute): Partial<DisputeRow> {
  const moved = (isOne: (sum: number) => boolean) =>
    dispute.balanceTransactions.findLast((one) => isOne(one.amount))?.created ?? null;
  return {
    payment_id: paymentOf(given, dispute.paymentIntent)?.id ?? null,
    amount: amount(dispute.amount, dispute.currency),
    currency: dispute.currency,
    status: DISPUTE_STATUSES.has(dispute.status) ? dispute.status : 'under_review',
    evidence_due_at: dispute.evidenceDueBy || null,
    funds_withdrawn_at: moved((sum) => sum < 0),
    funds_returned_at: moved((sum) => sum > 0),
  };
}

/** Returns the payment recorded under the intent's id, else under the id of the invoice that it paid. */
function paymentOf({ truth, tables }: Case, intent: string): PaymentRow | undefined {
  const find = (reference: string | undefined) =>
    tables.payments.find((row) => row.payment_reference === reference);
  return find(intent) ?? find(truth.intents.get(intent));
}

function checkCameBack(given: Case, payment: PaymentRow): void {
  const { truth, tables } = given;
  const isIts = (row: { payment_id: number | null; currency: string }) =>
    row.payment_id === payment.id && row.currency === payment.currency;
  const refunds = tables.refunds.filter(isIts);
  const back = [
    ...refunds.filter(
      ({ status, source }) => status === 'succeeded' || (status === 'pending' && source !== 'stripe'),
    ),
    ...tables.disputes.filter(
      (row) =>
        isIts(row) &&
        (row.status === 'lost' ||
          (row.status === 'prevented' && row.funds_withdrawn_at !== null && row.funds_returned_at === null)),
    ),
  ];
  const sum = back.reduce((total, row) => total + Number(row.amount), 0);
  const refunded = Math.min(Number(payment.amount), Number(sum.toFixed(3)));
  const isWhole = refunded === Number(payment.amount);
  const expected = {
    refunded_amount: refunded.toFixed(3),
    // People may mark a payment as completed although all of it was refunded.
    ...(truth.statuses.get(payment.id) !== 'completed' && { status: isWhole ? 'refunded' : 'completed' }),
  };
  compare(given, `refunded amount of payment ${payment.payment_reference}`, expected, payment);
  const isAlive = ({ status }: RefundRow) => status === 'succeeded' || status === 'pending';
  for (const recorded of refunds.filter((row) => row.stripe_refund_id === null && isAlive(row))) {
    const twin = refunds.find(
      (row) =>
        row.stripe_refund_id !== null &&
        row.source === 'stripe' &&
        row.id > recorded.id && // Stripe's refund was stored after the recorded one.
        row.amount === recorded.amount &&
        date(row.issued_at, truth.timeZone) === date(recorded.issued_at, truth.timeZone),
    );
    if (twin)
      recordDifference(given, `refund ${twin.stripe_refund_id}`, 'merged with the recorded refund', recorded);
  }
}

/**
 * A run compares payouts until 60 days after arrival, and longer while they differ. The first run lists the payouts of
 * the last 90 days.
 */
const [COMPARED_DAYS, LISTED_DAYS] = [60, 90];

/**
 * Expects a payout to have a difference only if the bank refused it, if a charge and our payment differ in amount, if
 * the payment of a charge was neither recorded nor deleted, or if it was recorded for
 * two invoices.
 */
export function checkPayouts(given: Case): void {
  const { truth, tables } = given;
  const rows = new Map(tables.payouts.map((row) => [row.stripe_payout_id, row]));
  const isOlder = (seconds: number, days: number) =>
    (date(seconds, 'UTC') ?? '') <= addDays(truth.today, -days);
  for (const { id, status, created, arrivalDate } of truth.payouts) {
    const row = rows.get(id);
    if (
      row
        ? isOlder(arrivalDate, COMPARED_DAYS) && row.differences.length === 0
        : isOlder(created, LISTED_DAYS)
    )
      continue;
    const charges = truth.movements.filter(({ payout, type }) => payout === id && type === 'charge');
    // People may have recorded all the money of an invoice under only one of its payment intents.
    if (charges.some((one) => isElsewhere(given, one))) continue;
    const differences = [
      ...(status === 'failed' ? ['failed'] : []),
      ...(charges.some((one) => isMissing(given, one)) ? ['payment_unknown'] : []),
      ...(charges.some((one) => isUnequal(given, one)) ? ['amount_differs'] : []),
      ...(charges.some((one) => isTwice(given, one)) ? ['counted_twice'] : []),
    ];
    compare(given, `payout ${id}`, { status, differences }, row);
  }
}

/** Returns the ids under which the payment of a charge may be recorded. */
function idsOf({ charges, intents }: Truth, { source }: BalanceTransaction): string[] {
  const intent = charges.get(source) ?? '';
  return [source, intent, intents.get(intent) ?? intent];
}

function recordsOf(given: Case, charge: BalanceTransaction): PaymentRow[] {
  const ids = idsOf(given.truth, charge);
  return given.tables.payments.filter(({ payment_reference }) => ids.includes(payment_reference));
}

const recordOf = (given: Case, charge: BalanceTransaction) => recordsOf(given, charge)[0];

/** Returns whether the invoice of a charge has a payment under the id of another charge's payment intent. */
function isElsewhere(given: Case, charge: BalanceTransaction): boolean {
  const { intents } = given.truth;
  const ids = idsOf(given.truth, charge);
  return given.tables.payments.some(
    ({ payment_reference: one }) => !ids.includes(one) && ids.includes(intents.get(one) ?? ''),
  );
}

/** Returns whether a charge is recorded as payments of several invoices, so that its money counts more than once. */
const isTwice = (given: Case, charge: BalanceTransaction) =>
  new Set(recordsOf(given, charge).map((row) => row.invoice_id)).size > 1;

function isMissing(given: Case, charge: BalanceTransaction): boolean {
  const isDeleted = idsOf(given.truth, charge).some((id) => given.truth.deleted.has(id));
  return !recordOf(given, charge) && !isDeleted;
}

function isUnequal(given: Case, charge: BalanceTransaction): boolean {
  const record = recordOf(given, charge);
  if (!record || record.currency !== charge.currency) return false;
  const charges = given.truth.movements.filter(
    (one) => one.type === 'charge' && recordOf(given, one)?.id === record.id,
  );
  const listed = new Set(given.tables.payouts.map((row) => row.stripe_payout_id));
  const sumOf = (some: BalanceTransaction[]) =>
    amount(
      some.reduce((total, one) => total + one.amount, 0),
      charge.currency,
    );
  // Even if the payment is correct, some of its charges may be in payouts that the first run did not list.
  const known = charges.filter(({ payout }) => payout !== null && listed.has(payout));
  return ![charges, known].map(sumOf).includes(record.amount);
}
