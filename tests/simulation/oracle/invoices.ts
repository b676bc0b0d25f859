import { type Invoice, lineTax, type WorldEvent } from '@/lib/stripe-local/model';
import type { InvoiceRow } from '../tables';
import {
  allowedMoments,
  amount,
  type Case,
  compare,
  date,
  fits,
  hasKnownStatus,
  keptStatuses,
  type Moment,
  recordDifference,
  storiesOf,
} from './story';

const RANKS = { draft: 0, open: 1, uncollectible: 2, paid: 3, void: 4 };
const STATUS = { draft: 'draft', paid: 'paid', void: 'cancelled', uncollectible: 'overdue' };

/** Expects one row per invoice, with the values of a moment that `allowedMoments` returns. */
export function checkInvoices(given: Case): void {
  const { truth, tables, full } = given;
  const ours = tables.invoices.filter((row) => !row.stripe_invoice_id);
  for (const row of ours) checkOwn(given, row);
  const rows = new Map(
    tables.invoices.filter((row) => !ours.includes(row)).map((row) => [row.stripe_invoice_id, row]),
  );
  for (const [id, story] of storiesOf<Invoice>(truth.history, 'invoice')) {
    const row = rows.get(id);
    rows.delete(id);
    if (story.at(-1)?.event.type === 'invoice.deleted') {
      const deleted = { status: 'cancelled', gone: true, amount_due: '0.000' };
      const actual = row && { ...row, gone: row.provider_gone_at !== null };
      if (actual && full) compare(given, `invoice ${id}`, deleted, actual);
    } else if (row) checkInvoice(given, story, row);
    else if (full || story.some(({ isAnnounced }) => isAnnounced))
      recordDifference(given, `invoice ${id}`, 'a row', null);
  }
  for (const id of rows.keys()) recordDifference(given, `invoice ${id}`, null, 'a row');
}

/** Expects the paid amount of our own invoice to be its payments less refunds and disputes. */
function checkOwn(given: Case, row: InvoiceRow): void {
  const completed = given.tables.payments.filter(
    (one) => one.invoice_id === row.id && one.status === 'completed',
  );
  const paid = completed.reduce((sum, one) => sum + Number(one.amount) - Number(one.refunded_amount), 0);
  const expected = {
    amount_paid: paid.toFixed(3),
    amount_due: Math.max(0, Number(row.total) - paid).toFixed(3),
    status: paid >= Number(row.total) ? 'paid' : 'sent',
  };
  compare(given, `our own invoice ${row.id}`, expected, row);
}

function checkInvoice(given: Case, story: Moment<Invoice>[], row: InvoiceRow): void {
  const { truth, full } = given;
  const reported = allowedMoments(given, story, (second) => {
    // An unknown status counts as open.
    const rankOf = ({ about }: Moment<Invoice>) => RANKS[about.status] ?? RANKS.open;
    const highest = Math.max(...second.map(rankOf));
    return second.filter((moment) => rankOf(moment) === highest);
  });
  // The event of a revision voids the revised invoice and reports nothing else about it, so any state may be stored.
  const isRevised = !full && isReplaced(truth.history, row.stripe_invoice_id);
  const allowed = isRevised ? [...reported, ...story.map(toVoid)] : reported;
  const failures = failuresOf(given, story);
  const wanted = allowed.flatMap((moment) =>
    keptStatuses(truth, story, moment, 'draft').flatMap((status) => {
      const rows = expectedRows(given, { ...moment, about: { ...moment.about, status } }, failures);
      const isKept = status === 'open' && !hasKnownStatus(moment.about);
      return isKept ? rows.flatMap((row) => keptOpen(story, row, failures)) : rows;
    }),
  );
  const [first] = wanted;
  if (!first) return;
  const what = `invoice ${row.stripe_invoice_id}`;
  if (!wanted.some((expected) => fits(expected, row))) compare(given, what, first, row);
  checkLines(given, story, row);
  const off = row.amount_off_stripe;
  const known = allowed.map(({ about }) => amount(about.amountPaidOffStripe, about.currency));
  // Sync does not ask Stripe for the payment if people recorded it.
  const id = row.stripe_invoice_id ?? '';
  const isOwn = [...truth.written.values()].some(({ reference }) => reference === id);
  const mustKnow = full && row.status === 'paid' && !isOwn && !truth.deleted.has(id);
  if (off === null ? mustKnow : !known.includes(off))
    recordDifference(given, `${what} amount_off_stripe`, known, off);
}

/** The maximum number of invoice lines in an event. */
const SHOWN_LINES = 10;

/**
 * Expects the lines that Stripe has. The lines of a simulated invoice never change. Without an answer from Stripe's
 * API, sync has only the first ten lines of a longer invoice.
 */
function checkLines(given: Case, story: Moment<Invoice>[], row: InvoiceRow): void {
  const { truth, tables, full } = given;
  const about = story.at(-1)?.about;
  if (!about) return;
  const money = (minor: number) => amount(minor, about.currency);
  const expected = about.lines.map((line) => ({
    description: line.description,
    period_start: line.periodStart,
    period_end: line.periodEnd,
    quantity: String(line.quantity),
    amount: money(line.amount),
    discount: money(line.discount ?? 0),
    tax: money(lineTax(about, line)),
  }));
  const mayLack = !full && (!truth.hasKey || truth.mayFail);
  const isPartial = !row.lines_complete && mayLack;
  const wanted = isPartial ? expected.slice(0, SHOWN_LINES) : expected;
  const stored = tables.lines
    .filter(({ invoice_id }) => invoice_id === row.id)
    .sort((a, b) => a.position - b.position)
    .map(({ invoice_id: _, position: __, taxes, ...line }) => ({
      ...line,
      tax: taxes.reduce((sum, tax) => sum + Number(tax.amount), 0).toFixed(3),
    }));
  const what = `lines of ${row.stripe_invoice_id}`;
  if (JSON.stringify(stored) !== JSON.stringify(wanted)) recordDifference(given, what, wanted, stored);
  const isComplete = row.lines_complete || (mayLack && expected.length > SHOWN_LINES);
  if (!isComplete) recordDifference(given, `${what} complete`, true, row.lines_complete);
}

function isReplaced(history: readonly WorldEvent[], id: string | null): boolean {
  return history.some(
    ({ about }) => about.object === 'invoice' && about.revises === id && about.status !== 'draft',
  );
}

const toVoid = (moment: Moment<Invoice>): Moment<Invoice> => ({
  ...moment,
  about: { ...moment.about, status: 'void' },
});

interface Failures {
  /** Whether the row must show a failed payment. `may` means that it is allowed to show one. */
  must: boolean;
  may: boolean;
  /**
   * The time of the first failure in seconds. Null if no attempt failed, or if Stripe's API may have reported it.
   */
  at: number | null;
}

function failuresOf({ truth, full }: Case, story: Moment<Invoice>[]): Failures {
  const failed = story.filter(({ event }) => event.type === 'invoice.payment_failed');
  const last = story.at(-1);
  // Stripe itself still reports a failure of an open invoice until another payment begins.
  const stillReported = full && last?.about.status === 'open' && last.event.type === 'invoice.payment_failed';
  return {
    must: stillReported || (truth.lossless && failed.length > 0),
    may: failed.length > 0,
    at: truth.hasKey ? null : (failed[0]?.event.created ?? null),
  };
}

/**
 * Returns the possible rows at a moment. There are several if the due date passed since the moment, or if sync may not
 * know of a failed payment.
 */
function expectedRows({ truth, tables, full }: Case, { about, event }: Moment<Invoice>, failures: Failures) {
  const { timeZone, today } = truth;
  const money = (minor: number) => amount(minor, about.currency);
  const due = date(about.dueDate, timeZone);
  const subscription = tables.subscriptions.find(
    ({ stripe_subscription_id: id }) => id !== null && id === about.subscription,
  );
  const row = {
    customer_id: tables.links.find((link) => link.stripe_customer_id === about.customer)?.customer_id,
    stripe_customer_id: about.customer,
    subscription_id: about.subscription === null ? null : (subscription?.id ?? 'its subscription'),
    number: about.number,
    invoice_date: date(about.effectiveAt ?? about.finalizedAt ?? about.created, timeZone),
    due_date: due,
    currency: about.currency,
    subtotal: money(about.total - about.tax),
    tax: money(about.tax),
    total: money(about.total),
    amount_paid: money(about.amountPaid),
    amount_credited: money(about.prePaymentCreditNotesAmount + about.postPaymentCreditNotesAmount),
    balance_applied: balanceApplied(about) === 0 ? null : money(balanceApplied(about)),
    amount_due: money(about.status === 'void' ? 0 : Math.max(0, about.amountDue - about.amountPaid)),
    paid_at: about.paidAt,
    uncollectible: about.status === 'uncollectible',
    provider_gone_at: null,
    ...(failures.at !== null && { payment_failed_at: failures.at }),
  };
  if (about.status !== 'open') return [{ ...row, status: STATUS[about.status] }];
  const wasLate = due !== null && due < today;
  const isLate = due !== null && due < (date(event.created, timeZone) ?? '');
  const statuses = [
    ...(failures.must || wasLate ? ['overdue'] : ['sent']),
    ...(failures.may && !failures.must ? ['overdue'] : []),
    ...(wasLate && !isLate && !full && !failures.must ? ['sent'] : []),
  ];
  return statuses.map((status) => ({ ...row, status }));
}

/**
 * Returns the possible rows while Stripe reports an unknown status. Sync keeps the stored status, which is `overdue` if
 * the due date had already passed.
 */
function keptOpen<T extends { status: string }>(story: Moment<Invoice>[], row: T, failures: Failures): T[] {
  if (failures.must) return [row];
  const mayBeLate = failures.may || story.some(({ about }) => about.dueDate !== null);
  return (mayBeLate ? ['sent', 'overdue'] : ['sent']).map((status) => ({ ...row, status }));
}

/**
 * Returns the customer balance that was applied to an invoice. Credit pays the invoice up to its total, and a debt is
 * collected with the invoice. Simulated totals are never negative.
 */
function balanceApplied({ total, startingBalance, finalizedAt }: Invoice): number {
  if (finalizedAt === null) return 0;
  return startingBalance > 0 ? -startingBalance : Math.min(total, -startingBalance);
}
