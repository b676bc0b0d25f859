import { fromEpoch } from '@/lib/dates';
import { toMinorUnits } from '@/lib/money';
import { addSeconds, OFFICE_HOURS, SAFE_DAYS } from './calendar';
import { amountText } from './catalogue';
import type { DisputeRow, PaymentRow, RefundRow, Source } from './rows';

const DAY = 86_400;
/** Of what Stripe collected. */
const REFUNDED_IN_PART = 0.008;

/** How the latest disputes stand, newest first. */
const DISPUTES = ['needs_response', 'warning_needs_response', 'under_review', 'won', 'lost'] as const;

interface MoneyBack {
  payments: PaymentRow[];
  refunds: RefundRow[];
  disputes: DisputeRow[];
}

/** What came back of payments: refunds that Stripe made or that were recorded here, and a few disputes. */
export function buildMoneyBack(source: Source, payments: PaymentRow[]): MoneyBack {
  const disputed = disputedPayments(source, payments);
  const disputes = disputed.map((payment, i) => disputeOf(source, payment, i));
  const refunds: RefundRow[] = [];
  const kept = payments.map((payment) => {
    const dispute = disputes.find(({ payment_id }) => payment_id === payment.id);
    const back = dispute ? lostOf(dispute) : refundedOf(source, payment);
    if (back === '0') return payment;
    if (!dispute) refunds.push(refundOf(source, payment, back, refunds.length + 1));
    const isWhole = back === payment.amount;
    return { ...payment, refunded_amount: back, status: isWhole ? ('refunded' as const) : payment.status };
  });
  return { payments: kept, refunds, disputes };
}

const lostOf = ({ status, amount }: DisputeRow) => (status === 'lost' ? amount : '0');

function refundedOf({ chance }: Source, { amount, currency, source, status }: PaymentRow): string {
  if (status === 'refunded') return amount;
  if (source !== 'stripe' || status !== 'completed' || !chance.happens(REFUNDED_IN_PART)) return '0';
  const part = Math.floor((toMinorUnits(amount, currency) * chance.int(20, 60)) / 100);
  return part > 0 ? amountText(part, currency) : '0';
}

function refundOf(source: Source, payment: PaymentRow, amount: string, id: number): RefundRow {
  const { chance } = source;
  const isStripes = payment.source === 'stripe' && (amount !== payment.amount || chance.happens(0.6));
  const issued_at = laterThan(source, payment);
  return {
    ...common(source, payment, id, issued_at),
    amount,
    stripe_refund_id: isStripes ? chance.fill('re_3***********************') : null,
    ...(!isStripes && {
      provider_as_of: null,
      provider_status: null,
      stripe_payment_intent_id: null,
      stripe_charge_id: null,
      stripe_invoice_id: null,
    }),
    status: 'succeeded',
    reason: isStripes ? chance.pick(['requested_by_customer', 'duplicate', null]) : null,
    source: isStripes ? 'stripe' : payment.source === 'staff' ? 'staff' : 'api',
  };
}

/** The latest of Stripe's that are old enough for the bank to have been asked. */
function disputedPayments({ calendar }: Source, payments: PaymentRow[]): PaymentRow[] {
  const last = calendar.day(-SAFE_DAYS - 12);
  return payments
    .filter(
      ({ source, status, payment_date }) =>
        source === 'stripe' && status === 'completed' && payment_date <= last,
    )
    .slice(-DISPUTES.length * 7)
    .filter((_, i) => i % 7 === 0)
    .toReversed();
}

function disputeOf(source: Source, payment: PaymentRow, at: number): DisputeRow {
  const { chance, calendar } = source;
  const status = DISPUTES[at] ?? 'won';
  const issued_at = calendar.instant(-SAFE_DAYS - 3 - at, OFFICE_HOURS.from);
  const isInquiry = status.startsWith('warning_');
  return {
    ...common(source, payment, at + 1, issued_at),
    amount: payment.amount,
    stripe_dispute_id: chance.fill('dp_1***********************'),
    status,
    provider_status: status,
    reason: chance.pick(['fraudulent', 'product_not_received', 'duplicate']),
    evidence_due_at: addSeconds(issued_at, 12 * DAY),
    funds_withdrawn_at: isInquiry ? null : issued_at,
    funds_returned_at: status === 'won' ? addSeconds(issued_at, DAY) : null,
  };
}

function common(source: Source, payment: PaymentRow, id: number, issued_at: Date) {
  const isStripes = payment.source === 'stripe';
  return {
    id,
    payment_id: payment.id,
    stripe_payment_intent_id: payment.stripe_payment_intent_id,
    stripe_charge_id: isStripes ? chargeOf(payment) : null,
    stripe_invoice_id: isStripes ? payment.payment_reference : null,
    currency: payment.currency,
    provider_status: 'succeeded' as string | null,
    issued_at,
    provider_as_of: source.calendar.instant(-SAFE_DAYS, 0) as Date | null,
    provider_gone_at: null,
  };
}

/** As Stripe names it after its payment intent. */
const chargeOf = ({ stripe_payment_intent_id: intent }: PaymentRow) => intent?.replace(/^pi_/, 'ch_') ?? null;

/** Some days after a payment, and safely in the past. */
function laterThan({ chance, calendar }: Source, { payment_date }: PaymentRow): Date {
  const paid = Date.parse(`${payment_date}T12:00:00Z`) / 1000;
  const latest = calendar.instant(-SAFE_DAYS, 0).getTime() / 1000;
  return fromEpoch(Math.min(paid + chance.int(1, 20) * DAY, latest));
}
