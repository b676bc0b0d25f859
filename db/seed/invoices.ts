import { addDays, addMonths } from '@/lib/dates';
import { toMinorUnits } from '@/lib/money';
import { isUnpaid, unpaidStatus } from '@/lib/overdue';
import { CATALOGUE, type Client, priceIn } from './catalogue';
import { amountsOf, invoiceRow } from './lines';
import {
  addSeconds,
  type CustomerRow,
  createCounters,
  daysBetween,
  type InvoiceRow,
  OFFICE_HOURS,
  SAFE_DAYS,
  type SeedContext,
} from './rows';
import type { Agreement } from './subscriptions';

/** Number of Stripe's invoices. The company began to use Stripe late, so its older invoices are local. */
const FROM_STRIPE = 1720;
const SINGLE = { draft: 12, open: 26, failing: 8, void: 40, paid: 40 };

export function buildInvoices(
  source: SeedContext,
  clients: Client[],
  agreements: Agreement[],
  count: number,
): InvoiceRow[] {
  const atStripe = agreements.filter(({ row }) => row.stripe_subscription_id !== null);
  const local = agreements.filter(({ row }) => row.stripe_subscription_id === null);
  const renting = clients.filter(({ services }) => services.length > 0);
  const stripe = newest(
    [
      ...atStripe.flatMap((agreement) => periodInvoices(source, agreement)),
      ...singleInvoices(source, renting),
    ],
    FROM_STRIPE,
  );
  const charged = new Set(atStripe.map(({ customer }) => customer.id));
  // Customers with a subscription at Stripe seldom pay by transfer as well. Only one in four of them may also get local
  // invoices that belong to no subscription.
  const billed = clients.filter(({ customer }) => !charged.has(customer.id) || customer.id % 4 === 0);
  const all = [...stripe, ...buildLocalInvoices(source, billed, local, count - stripe.length)];
  return numbered(source, all);
}

/** Builds Stripe invoices that belong to no subscription. */
function singleInvoices(source: SeedContext, clients: Client[]): InvoiceRow[] {
  const { chance, calendar } = source;
  return (Object.keys(SINGLE) as (keyof typeof SINGLE)[]).flatMap((standing) =>
    Array.from({ length: SINGLE[standing] }, () => {
      const client = chance.pick(clients);
      const age = standing === 'draft' ? SAFE_DAYS : standing === 'open' ? agesOfOpen() : chance.int(15, 400);
      const created = calendar.instant(-age, chance.int(OFFICE_HOURS.from, OFFICE_HOURS.to));
      const bill = {
        customer: client.customer,
        stripeId: chance.pick(client.stripeIds),
        netMinor: netOf(source, client),
        created,
        byInvoice: standing !== 'failing',
      };
      return stripeInvoice(source, bill, standing);
    }),
  );

  function agesOfOpen(): number {
    return chance.happens(0.7) ? chance.int(SAFE_DAYS, 5) : chance.int(32, 150);
  }
}

function newest(rows: InvoiceRow[], count: number): InvoiceRow[] {
  return rows.toSorted((a, b) => b.invoice_date.localeCompare(a.invoice_date)).slice(0, count);
}

/** Assigns ids and numbers by date. Our numbers count per year, and Stripe's numbers count per customer. */
function numbered({ chance }: SeedContext, invoices: InvoiceRow[]): InvoiceRow[] {
  const next = createCounters();
  const prefixes = new Map<string | null, string>();
  return invoices
    .toSorted((a, b) => a.invoice_date.localeCompare(b.invoice_date))
    .map((invoice, i) => ({
      ...invoice,
      id: i + 1,
      number: invoice.status === 'draft' ? null : numberOf(invoice),
    }));

  function numberOf({ stripe_invoice_id, stripe_customer_id, invoice_date }: InvoiceRow): string {
    const year = invoice_date.slice(0, 4);
    if (stripe_invoice_id === null) return `${year}-${String(next(year)).padStart(6, '0')}`;
    const prefix = prefixes.get(stripe_customer_id) ?? chance.fill('^^^^^^^^');
    prefixes.set(stripe_customer_id, prefix);
    return `${prefix}-${String(next(prefix)).padStart(4, '0')}`;
  }
}

const HOUR = 3600;
const DAY = 24 * HOUR;

interface Bill {
  customer: CustomerRow;
  stripeId: string | null;
  netMinor: number;
  created: Date;
  byInvoice: boolean;
}

/** State of an invoice at Stripe. `failing` is an open invoice with a failed charge. */
type Standing = 'draft' | 'open' | 'failing' | 'written off' | 'paid' | 'void';

/** Builds a subscription's invoices, oldest first: one per billing period, or a single one for a trial or a pause. */
function periodInvoices(source: SeedContext, agreement: Agreement): InvoiceRow[] {
  const { customer, begins, months, row, byInvoice } = agreement;
  const free = row.status === 'trialing' || row.status === 'paused';
  const until = agreement.endedAt ?? agreement.periodEnd;
  const starts = startsOf(begins, months, until).slice(0, free ? 1 : undefined);
  return starts.map((created, i) => {
    const bill = {
      customer,
      stripeId: row.stripe_customer_id,
      created,
      byInvoice,
      netMinor: free ? 0 : agreement.netMinor,
    };
    const standing = standingOf(source, agreement, i === starts.length - 1 && !free);
    return { ...stripeInvoice(source, bill, standing), subscription_id: row.id };
  });
}

/** Returns the starts of the billing periods before `until`. */
function startsOf(begins: Date, months: number, until: Date): Date[] {
  const starts: Date[] = [];
  for (let at = begins; at < until; at = addMonths(begins, months * starts.length)) starts.push(at);
  return starts;
}

function standingOf({ chance }: SeedContext, { row, byInvoice }: Agreement, isLast: boolean): Standing {
  if (!isLast)
    return row.status === 'trialing' || row.status === 'paused' || chance.happens(0.97) ? 'paid' : 'void';
  if (row.status === 'unpaid') return chance.happens(0.5) ? 'written off' : 'failing';
  if (row.status === 'past_due' || row.status === 'incomplete') return 'failing';
  if (row.status === 'cancelled') return chance.happens(0.15) ? 'written off' : 'paid';
  return byInvoice && chance.happens(0.7) ? 'open' : 'paid';
}

/** Builds an invoice row as sync would have written it. */
function stripeInvoice(source: SeedContext, bill: Bill, standing: Standing): InvoiceRow {
  const { chance, calendar } = source;
  const { customer, stripeId, netMinor, created, byInvoice } = bill;
  const invoice_date = calendar.dateOf(created);
  const due_date =
    byInvoice && standing !== 'draft' ? addDays(invoice_date, chance.pick([14, 14, 30])) : null;
  const stands = standing === 'open' && !mayBeOpen(due_date, calendar) ? 'paid' : standing;
  const failed =
    stands === 'failing' || stands === 'written off' || (stands === 'paid' && chance.happens(0.03));
  const payment_failed_at = failed && netMinor > 0 ? addSeconds(created, HOUR) : null;
  const paid_at = stands === 'paid' ? paidAt() : null;
  const known = paid_at ?? payment_failed_at ?? addSeconds(created, stands === 'draft' ? 0 : HOUR);
  const row = invoiceRow(customer, netMinor, {
    status: statusOf(stands, due_date, calendar.today),
    invoice_date,
    due_date,
    ...(paid_at && { paid_at }),
  });
  const offStripe = stands === 'paid' && byInvoice && !failed && chance.happens(0.08);
  return {
    ...row,
    payment_failed_at,
    uncollectible: stands === 'written off',
    amount_off_stripe: offStripe ? row.total : '0',
    stripe_customer_id: stripeId,
    stripe_invoice_id: chance.fill('in_1***********************'),
    stripe_synced_at: addSeconds(known, chance.int(2, 9)),
    provider_as_of: known,
  };

  function paidAt(): Date {
    if (netMinor === 0) return created;
    const latest = calendar.instant(-SAFE_DAYS, 0).getTime();
    const days = Math.floor((latest - created.getTime()) / 1000 / DAY);
    const wait = byInvoice ? chance.int(2, 20) : failed ? chance.int(3, 7) : 0;
    return addSeconds(created, Math.max(0, Math.min(wait, days)) * DAY + HOUR + chance.int(5, 90));
  }
}

/**
 * Returns false if there is no due date, or if the due date is in the next seven days, because it could pass while a
 * demo runs.
 */
function mayBeOpen(dueDate: string | null, { today }: { today: string }): dueDate is string {
  return dueDate !== null && (dueDate < today || dueDate >= addDays(today, 7));
}

function statusOf(standing: Standing, dueDate: string | null, today: string): InvoiceRow['status'] {
  if (standing === 'void') return 'cancelled';
  if (standing === 'draft' || standing === 'paid') return standing;
  const [paymentFailed, uncollectible] = [standing === 'failing', standing === 'written off'];
  return unpaidStatus({ due_date: dueDate, paymentFailed, uncollectible }, today);
}

const HISTORY_DAYS = 3 * 365;
/** Number of local invoices of each status. All other local invoices are paid. */
const OPEN = { draft: 65, cancelled: 190, sent: 110, overdue: 60 };
type Status = keyof typeof OPEN | 'paid';

/**
 * Builds invoices that do not exist at Stripe, because the customer pays by transfer or the company did not use Stripe
 * yet.
 */
function buildLocalInvoices(
  source: SeedContext,
  clients: Client[],
  agreements: Agreement[],
  count: number,
): InvoiceRow[] {
  const { chance, calendar } = source;
  const ofSubscriptions = agreements.flatMap((agreement) => ownPeriods(source, agreement));
  const open = Object.entries(OPEN).flatMap(([status, n]) => Array<Status>(n).fill(status as Status));
  const paid = Array<Status>(count - open.length - ofSubscriptions.length).fill('paid');
  const others = [...open, ...paid].map((status) => {
    const client = chance.pick(clients);
    return localInvoice(source, client.customer, netOf(source, client), status, ageOf());

    function ageOf(): number {
      if (status === 'draft') return chance.int(0, 9);
      if (status === 'sent') return chance.int(0, 7);
      if (status === 'overdue') return chance.int(31, 240);
      return chance.int(20, HISTORY_DAYS);
    }
  });
  return [...ofSubscriptions, ...others].map((row) => ({ ...row, due_date: dueDate(row) }));

  function dueDate({ status, invoice_date }: InvoiceRow): string | null {
    return status === 'draft' ? null : addDays(invoice_date, chance.pick([14, 14, 14, 30]));
  }
  function ownPeriods(from: SeedContext, agreement: Agreement): InvoiceRow[] {
    const { customer, netMinor, begins, periodEnd, months, row } = agreement;
    return startsOf(begins, months, periodEnd).map((at) => {
      const age = daysBetween(calendar.dateOf(at), calendar.today);
      return { ...localInvoice(from, customer, netMinor, 'paid', age), subscription_id: row.id };
    });
  }
}

function localInvoice(
  { chance, calendar }: SeedContext,
  customer: CustomerRow,
  netMinor: number,
  status: Status,
  age: number,
): InvoiceRow {
  const wait = Math.max(0, Math.min(chance.int(2, 35), age - SAFE_DAYS));
  const total = toMinorUnits(amountsOf(customer, netMinor).total, customer.currency);
  const inPart = isUnpaid(status) && age > 0 && chance.happens(0.2);
  return invoiceRow(customer, netMinor, {
    status,
    invoice_date: calendar.day(-age),
    due_date: null,
    ...(inPart && { partMinor: Math.floor((total * chance.int(25, 75)) / 100) }),
    ...(status === 'paid' && {
      paid_at: calendar.instant(wait - age, chance.int(OFFICE_HOURS.from, OFFICE_HOURS.to)),
    }),
  });
}

/**
 * Draws a net amount in minor units. It is the price of up to four of the client's services for one or more periods, or
 * a multiple of a catalogue price.
 */
function netOf({ chance }: SeedContext, { customer, services }: Client): number {
  const { currency } = customer;
  const own = chance.shuffle(services).slice(0, chance.int(1, 4));
  const rented = own.reduce((sum, { price }) => sum + toMinorUnits(price, currency), 0);
  if (rented > 0 && chance.happens(0.8)) return rented * chance.pick([1, 1, 1, 3, 12]);
  const product = chance.pick(CATALOGUE[chance.pick(['hosting', 'server', 'service', 'license'] as const)]);
  return priceIn(currency, product.cents) * chance.int(1, 8);
}
