import type { Dispute, Refund } from '@/lib/stripe-local/model-returns';
import type { DisputeRow, PaymentRow, RefundRow, Tables } from '../tables';
import type { Truth, Verdict } from './index';
import { amount, date, differing, fits } from './values';

/**
 * What came back of payments: after a run each refund and dispute is there once, as Stripe last had it and with the
 * payment of its invoice; always, what a payment says came back follows from them and from what was recorded here.
 */
export function checkMoneyBack(truth: Truth, tables: Tables, full: boolean, verdict: Verdict): void {
  for (const payment of tables.payments) checkPayment(truth, tables, payment, verdict);
  if (!full) return;
  const refunds = new Map(tables.refunds.map((row) => [row.stripe_refund_id, row]));
  for (const refund of truth.refunds) {
    const { id } = refund;
    compare(`refund ${id}`, expectedRefund(truth, tables, refund), refunds.get(id), verdict);
  }
  const disputes = new Map(tables.disputes.map((row) => [row.stripe_dispute_id, row]));
  for (const dispute of truth.disputes) {
    const { id } = dispute;
    compare(`dispute ${id}`, expectedDispute(truth, tables, dispute), disputes.get(id), verdict);
  }
}

function compare(what: string, expected: object, row: object | undefined, verdict: Verdict): void {
  if (!row) verdict.differences.push({ what, expected, actual: null });
  else if (!fits(expected, row)) verdict.differences.push(differing(what, expected, row));
}

function expectedRefund(truth: Truth, tables: Tables, refund: Refund): Partial<RefundRow> {
  return {
    payment_id: paymentOf(truth, tables, refund.paymentIntent)?.id ?? null,
    amount: amount(refund.amount, refund.currency),
    currency: refund.currency,
    status: REFUND_STATUSES[refund.status] ?? 'pending',
    issued_at: refund.created,
  };
}

function expectedDispute(truth: Truth, tables: Tables, dispute: Dispute): Partial<DisputeRow> {
  const moved = (isOne: (sum: number) => boolean) =>
    dispute.balanceTransactions.findLast((one) => isOne(one.amount))?.created ?? null;
  return {
    payment_id: paymentOf(truth, tables, dispute.paymentIntent)?.id ?? null,
    amount: amount(dispute.amount, dispute.currency),
    currency: dispute.currency,
    status: KNOWN.has(dispute.status) ? dispute.status : 'under_review',
    evidence_due_at: dispute.evidenceDueBy || null,
    funds_withdrawn_at: moved((sum) => sum < 0),
    funds_returned_at: moved((sum) => sum > 0),
  };
}

// What nobody knows counts as under way.
const REFUND_STATUSES: Record<string, string> = {
  pending: 'pending',
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'cancelled',
};
const KNOWN = new Set<string>([
  'warning_needs_response',
  'warning_under_review',
  'warning_closed',
  'needs_response',
  'under_review',
  'won',
  'lost',
  'prevented',
]);

/** The payment of ours for the invoice that an intent paid, or for the intent itself, whoever recorded it. */
function paymentOf({ intents }: Truth, { payments }: Tables, intent: string): PaymentRow | undefined {
  const reference = intents.get(intent) ?? intent;
  return payments.find((row) => row.payment_reference === reference);
}

function checkPayment(truth: Truth, tables: Tables, payment: PaymentRow, verdict: Verdict): void {
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
  const written = truth.statuses.get(payment.id);
  const expected = {
    refunded_amount: refunded.toFixed(3),
    // Somebody wrote that it is completed, though all of it came back.
    ...(written !== 'completed' && { status: isWhole ? 'refunded' : 'completed' }),
  };
  compare(`what came back of payment ${payment.payment_reference}`, expected, payment, verdict);
  const isAlive = ({ status }: RefundRow) => status === 'succeeded' || status === 'pending';
  for (const recorded of refunds.filter((row) => row.stripe_refund_id === null && isAlive(row))) {
    const twin = refunds.find(
      (row) =>
        row.stripe_refund_id !== null &&
        row.source === 'stripe' &&
        row.id > recorded.id && // told after that
        isAlike(truth, row, recorded),
    );
    if (twin) {
      verdict.differences.push({
        what: `refund ${twin.stripe_refund_id}`,
        expected: 'one with what was recorded here',
        actual: recorded,
      });
    }
  }
}

const isAlike = ({ timeZone }: Truth, one: RefundRow, other: RefundRow) =>
  one.amount === other.amount && date(one.issued_at, timeZone) === date(other.issued_at, timeZone);
