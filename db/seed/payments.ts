import { addDays, fromEpoch } from '@/lib/dates';
import { fromMinorUnits, toMinorUnits } from '@/lib/money';
import { isUnpaid } from '@/lib/overdue';
import {
  addSeconds,
  type DisputeRow,
  daysBetween,
  type InvoiceRow,
  nulls,
  OFFICE_HOURS,
  type PaymentRow,
  type RefundRow,
  SAFE_DAYS,
  type SeedContext,
} from './rows';

/** Age in days above which payments of local invoices have the source `import`, as if they came from a file. */
const IMPORTED_BEFORE_DAYS = 600;
const SPLIT = 0.04;

export function buildPayments(source: SeedContext, invoices: InvoiceRow[], count: number): PaymentRow[] {
  const local = invoices.filter(({ stripe_invoice_id }) => stripe_invoice_id === null);
  const counting = [
    ...invoices.flatMap((invoice) => stripePayment(source, invoice)),
    ...local.flatMap((invoice) => completedPayments(source, invoice)),
  ];
  const paid = local.filter(({ status }) => status === 'paid');
  const open = local.filter(({ status }) => isUnpaid(status));
  const others = Array.from({ length: count - counting.length }, () =>
    otherPayment(source, source.chance.pick(source.chance.happens(0.5) ? paid : open)),
  );
  return [...counting, ...others]
    .toSorted((a, b) => a.payment_date.localeCompare(b.payment_date))
    .map((payment, i) => ({
      ...payment,
      id: i + 1,
      ...(payment.source !== 'stripe' && { payment_reference: referenceOf(source, payment, i + 1) }),
    }));
}

/** Builds the payment that Stripe collected, if any. A later refund does not change the amount. */
function stripePayment({ chance, calendar }: SeedContext, invoice: InvoiceRow): PaymentRow[] {
  const { stripe_invoice_id, currency, paid_at } = invoice;
  if (stripe_invoice_id === null || paid_at === null) return [];
  const off = toMinorUnits(invoice.amount_off_stripe ?? '0', currency);
  const collected = toMinorUnits(invoice.amount_paid, currency) - off;
  if (collected === 0) return [];
  const amount = fromMinorUnits(collected, currency);
  const date = calendar.dateOf(paid_at);
  return [
    {
      ...paymentOf(invoice, amount, date),
      payment_reference: stripe_invoice_id,
      status: chance.happens(0.006) ? 'refunded' : 'completed',
      source: 'stripe',
      provider_amount: amount,
      provider_payment_date: date,
      stripe_payment_intent_id: chance.fill('pi_3***********************'),
    },
  ];
}

/** Builds payments that add up to the paid amount of the invoice. */
function completedPayments(source: SeedContext, invoice: InvoiceRow): PaymentRow[] {
  const { chance, calendar } = source;
  const { currency, paid_at, invoice_date } = invoice;
  const paid = toMinorUnits(invoice.amount_paid, currency);
  if (paid === 0) return [];
  const last = paid_at ? calendar.dateOf(paid_at) : between(source, invoice_date, calendar.today);
  const first = chance.happens(SPLIT) ? Math.floor((paid * chance.int(30, 60)) / 100) : 0;
  const parts = [
    { minor: first, date: between(source, invoice_date, last) },
    { minor: paid - first, date: last },
  ];
  return parts
    .filter(({ minor }) => minor > 0)
    .map(({ minor, date }) => ({
      ...paymentOf(invoice, fromMinorUnits(minor, currency), date),
      source: sourceOf(source, date),
    }));
}

/** Builds a payment that does not count, because it was refunded, was returned by the bank, or is pending. */
function otherPayment(source: SeedContext, invoice: InvoiceRow): PaymentRow {
  const { chance, calendar } = source;
  const { status, invoice_date, amount_due, total } = invoice;
  const date = between(source, invoice_date, status === 'paid' ? addDays(invoice_date, 20) : calendar.today);
  return {
    ...paymentOf(invoice, status === 'paid' ? total : amount_due, date),
    status:
      status === 'paid'
        ? chance.weighted({ refunded: 60, failed: 40 })
        : chance.weighted({ pending: 50, failed: 35, refunded: 15 }),
    source: sourceOf(source, date),
  };
}

function paymentOf(invoice: InvoiceRow, amount: string, payment_date: string): PaymentRow {
  return {
    id: 0,
    invoice_id: invoice.id,
    customer_id: invoice.customer_id,
    amount,
    currency: invoice.currency,
    payment_date,
    payment_reference: '',
    refunded_amount: '0',
    status: 'completed',
    source: 'api',
    ...nulls('provider_amount', 'provider_payment_date', 'stripe_payment_intent_id', 'stripe_charge_id'),
    transfer: null,
  };
}

function between({ chance, calendar }: SeedContext, from: string, to: string): string {
  const end = to < calendar.today ? to : calendar.today;
  return addDays(from, chance.int(0, Math.max(0, daysBetween(from, end))));
}

function sourceOf({ chance, calendar }: SeedContext, date: string): PaymentRow['source'] {
  if (date < calendar.day(-IMPORTED_BEFORE_DAYS)) return 'import';
  return chance.weighted({ api: 80, staff: 20 });
}

/** Returns a reference such as `SEPA-20260310-000042`. The number at its end makes it unique. */
function referenceOf({ chance }: SeedContext, { source, payment_date }: PaymentRow, n: number): string {
  const day = payment_date.replaceAll('-', '');
  const number = String(n).padStart(6, '0');
  if (source === 'import') return `IMPORT-${day}-${number}`;
  if (source === 'staff') return `${chance.pick(['CASH', 'CHEQUE', 'TRANSFER'])}-${day}-${number}`;
  return `${chance.pick(['SEPA', 'SEPA', 'SEPA', 'BANK', 'PAYPAL'])}-${day}-${number}`;
}

const DAY = 86_400;
/** Share of Stripe's payments with a partial refund. */
const REFUNDED_IN_PART = 0.008;

/** Statuses of the demo's disputes, newest first. The demo has one dispute for each. */
const DISPUTES = ['needs_response', 'warning_needs_response', 'under_review', 'won', 'lost'] as const;

/** Builds refunds, made by Stripe or recorded here, and a few disputes. */
export function buildMoneyBack(source: SeedContext, payments: PaymentRow[]) {
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

function refundedOf({ chance }: SeedContext, { amount, currency, source, status }: PaymentRow): string {
  if (status === 'refunded') return amount;
  if (source !== 'stripe' || status !== 'completed' || !chance.happens(REFUNDED_IN_PART)) return '0';
  const part = Math.floor((toMinorUnits(amount, currency) * chance.int(20, 60)) / 100);
  return part > 0 ? fromMinorUnits(part, currency) : '0';
}

function refundOf(source: SeedContext, payment: PaymentRow, amount: string, id: number): RefundRow {
  const { chance } = source;
  const isStripes = payment.source === 'stripe' && (amount !== payment.amount || chance.happens(0.6));
  const issued_at = laterThan(source, payment);
  return {
    ...common(source, payment, id, issued_at),
    amount,
    stripe_refund_id: isStripes ? chance.fill('re_3***********************') : null,
    ...(!isStripes && {
      ...nulls('provider_as_of', 'provider_status', 'stripe_payment_intent_id'),
      ...nulls('stripe_charge_id', 'stripe_invoice_id'),
    }),
    status: 'succeeded',
    reason: isStripes ? chance.pick(['requested_by_customer', 'duplicate', null]) : null,
    source: isStripes ? 'stripe' : payment.source === 'staff' ? 'staff' : 'api',
  };
}

/** Picks some of Stripe's latest payments that are old enough to be disputed, newest first. */
function disputedPayments({ calendar }: SeedContext, payments: PaymentRow[]): PaymentRow[] {
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

function disputeOf(source: SeedContext, payment: PaymentRow, at: number): DisputeRow {
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

function common(source: SeedContext, payment: PaymentRow, id: number, issued_at: Date) {
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

/** Derives the charge id from the payment intent's id. */
const chargeOf = ({ stripe_payment_intent_id: intent }: PaymentRow) => intent?.replace(/^pi_/, 'ch_') ?? null;

/**
 * Draws an instant up to 20 days after a payment, but at least `SAFE_DAYS` before today. For a payment of the last
 * days, the instant is therefore before the payment.
 */
function laterThan({ chance, calendar }: SeedContext, { payment_date }: PaymentRow): Date {
  const paid = Date.parse(`${payment_date}T12:00:00Z`) / 1000;
  const latest = calendar.instant(-SAFE_DAYS, 0).getTime() / 1000;
  return fromEpoch(Math.min(paid + chance.int(1, 20) * DAY, latest));
}
