import { addDays } from '@/lib/dates';
import { toMinorUnits } from '@/lib/money';
import { isUnpaid } from '@/lib/overdue';
import { daysBetween } from './calendar';
import { amountText } from './catalogue';
import type { InvoiceRow, PaymentRow, Source } from './rows';

/** Imported when this product replaced the former one. */
const IMPORTED_BEFORE_DAYS = 600;
const SPLIT = 0.04;

export function buildPayments(source: Source, invoices: InvoiceRow[], count: number): PaymentRow[] {
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

/** What Stripe collected, if anything. A refund noted later keeps the amount. */
function stripePayment({ chance, calendar }: Source, invoice: InvoiceRow): PaymentRow[] {
  const { stripe_invoice_id, currency, paid_at } = invoice;
  if (stripe_invoice_id === null || paid_at === null) return [];
  const off = toMinorUnits(invoice.amount_off_stripe ?? '0', currency);
  const collected = toMinorUnits(invoice.amount_paid, currency) - off;
  if (collected === 0) return [];
  const amount = amountText(collected, currency);
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

/** Together they are what the invoice says has been paid. */
function completedPayments(source: Source, invoice: InvoiceRow): PaymentRow[] {
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
      ...paymentOf(invoice, amountText(minor, currency), date),
      source: sourceOf(source, date),
    }));
}

/** Paid twice and sent back, returned by the bank, or under way: none of it counts. */
function otherPayment(source: Source, invoice: InvoiceRow): PaymentRow {
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
    provider_amount: null,
    provider_payment_date: null,
    stripe_payment_intent_id: null,
    stripe_charge_id: null,
  };
}

function between({ chance, calendar }: Source, from: string, to: string): string {
  const end = to < calendar.today ? to : calendar.today;
  return addDays(from, chance.int(0, Math.max(0, daysBetween(from, end))));
}

function sourceOf({ chance, calendar }: Source, date: string): PaymentRow['source'] {
  if (date < calendar.day(-IMPORTED_BEFORE_DAYS)) return 'import';
  return chance.weighted({ api: 80, staff: 20 });
}

/** A bank's or a cash book's; the running number keeps it unique. */
function referenceOf({ chance }: Source, { source, payment_date }: PaymentRow, n: number): string {
  const day = payment_date.replaceAll('-', '');
  const number = String(n).padStart(6, '0');
  if (source === 'import') return `IMPORT-${day}-${number}`;
  if (source === 'staff') return `${chance.pick(['CASH', 'CHEQUE', 'TRANSFER'])}-${day}-${number}`;
  return `${chance.pick(['SEPA', 'SEPA', 'SEPA', 'BANK', 'PAYPAL'])}-${day}-${number}`;
}
