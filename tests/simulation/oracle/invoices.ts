import type { Invoice } from '@/lib/stripe-local/model';
import type { InvoiceRow, Tables } from '../tables';
import type { Truth, Verdict } from './index';
import { hasKnownStatus, keptStatuses } from './kept-status';
import { allowedMoments, type Moment, storiesOf } from './story';
import { amount, date, differing, fits } from './values';

const RANKS = { draft: 0, open: 1, uncollectible: 2, paid: 3, void: 4 };
/** What nobody knows counts as open. */
const rankOf = ({ about }: Moment<Invoice>) => RANKS[about.status] ?? RANKS.open;

export function checkInvoices(truth: Truth, tables: Tables, full: boolean, verdict: Verdict): void {
  const ours = tables.invoices.filter((row) => !row.stripe_invoice_id);
  for (const row of ours) checkOwn(tables, row, verdict);
  const rows = new Map(
    tables.invoices.filter((row) => !ours.includes(row)).map((row) => [row.stripe_invoice_id, row]),
  );
  const stories = storiesOf<Invoice>(truth.history, 'invoice');
  for (const [id, story] of stories) {
    const row = rows.get(id);
    rows.delete(id);
    if (story.at(-1)?.event.type === 'invoice.deleted') checkDeleted(id, row, full, verdict);
    else if (row) checkInvoice(truth, tables, story, row, full, verdict);
    else if (full || story.some(({ isAnnounced }) => isAnnounced)) {
      verdict.differences.push({ what: `invoice ${id}`, expected: 'a row', actual: null });
    }
  }
  for (const id of rows.keys()) {
    verdict.differences.push({ what: `invoice ${id}`, expected: null, actual: 'a row' });
  }
}

/** An invoice of our own is settled by what is left of its payments. */
function checkOwn({ payments }: Tables, row: InvoiceRow, verdict: Verdict): void {
  const completed = payments.filter((one) => one.invoice_id === row.id && one.status === 'completed');
  const paid = completed.reduce((sum, one) => sum + Number(one.amount) - Number(one.refunded_amount), 0);
  const expected = {
    amount_paid: paid.toFixed(3),
    amount_due: Math.max(0, Number(row.total) - paid).toFixed(3),
    status: paid >= Number(row.total) ? 'paid' : 'sent',
  };
  if (!fits(expected, row)) verdict.differences.push(differing(`our own invoice ${row.id}`, expected, row));
}

function checkDeleted(id: string, row: InvoiceRow | undefined, full: boolean, verdict: Verdict): void {
  const expected = { status: 'cancelled', gone: true, amount_due: '0.000' };
  if (row && full && !fits(expected, row))
    verdict.differences.push(differing(`invoice ${id}`, expected, row));
}

function checkInvoice(
  truth: Truth,
  tables: Tables,
  story: Moment<Invoice>[],
  row: InvoiceRow,
  full: boolean,
  verdict: Verdict,
): void {
  const asked = { full, canAsk: truth.hasKey, mayFail: truth.mayFail };
  const { allowed } = allowedMoments(story, asked, (second) => {
    const highest = Math.max(...second.map(rankOf));
    return second.filter((moment) => rankOf(moment) === highest);
  });
  const failures = failuresOf(truth, story, full);
  const wanted = allowed.flatMap((moment) =>
    keptStatuses(truth, story, moment, 'draft').flatMap((status) => {
      const rows = expectedRows(
        truth,
        tables,
        { ...moment, about: { ...moment.about, status } },
        failures,
        full,
      );
      const isKept = status === 'open' && !hasKnownStatus(moment.about);
      return isKept ? rows.flatMap((row) => keptOpen(story, row, failures)) : rows;
    }),
  );
  const [first] = wanted;
  if (!first) return;
  const at = wanted.findIndex((expected) => fits(expected, row));
  if (at === -1) verdict.differences.push(differing(`invoice ${row.stripe_invoice_id}`, first, row));
  else if (!fits(first, row) && !truth.hasKey && allowed.length > 1) verdict.ties += 1;
  const off = row.amount_off_stripe;
  const known = allowed.map(({ about }) => amount(about.amountPaidOffStripe, about.currency));
  // Nobody needs to know it of a payment that people took into their own hands.
  const isOwn = [...truth.written.values()].some(({ reference }) => reference === row.stripe_invoice_id);
  const mustKnow = full && row.status === 'paid' && !isOwn && !truth.deleted.has(row.stripe_invoice_id);
  if (off === null ? mustKnow : !known.includes(off)) {
    verdict.differences.push({
      what: `invoice ${row.stripe_invoice_id} amount_off_stripe`,
      expected: known,
      actual: off,
    });
  }
}

interface Failures {
  /** It must be known that a payment failed. */
  must: boolean;
  may: boolean;
  /** When, where only events can have reported. */
  at: number | null;
}

function failuresOf(truth: Truth, story: Moment<Invoice>[], full: boolean): Failures {
  const failed = story.filter(({ event }) => event.type === 'invoice.payment_failed');
  const last = story.at(-1);
  // Of an open invoice Stripe itself still tells it, until another payment is under way.
  const stillReported = full && last?.about.status === 'open' && last.event.type === 'invoice.payment_failed';
  return {
    must: stillReported || (truth.lossless && failed.length > 0),
    may: failed.length > 0,
    at: truth.hasKey ? null : (failed[0]?.event.created ?? null),
  };
}

/** The row for a moment; several where it may still be before midnight for one and after it for another. */
function expectedRows(
  truth: Truth,
  tables: Tables,
  { about, event }: Moment<Invoice>,
  failures: Failures,
  full: boolean,
) {
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
    invoice_date: date(about.finalizedAt ?? about.created, timeZone),
    due_date: due,
    currency: about.currency,
    subtotal: money(about.total - about.tax),
    tax: money(about.tax),
    total: money(about.total),
    amount_paid: money(about.amountPaid),
    amount_credited: money(about.prePaymentCreditNotesAmount + about.postPaymentCreditNotesAmount),
    amount_due: money(about.status === 'void' ? 0 : Math.max(0, about.amountDue - about.amountPaid)),
    paid_at: about.paidAt,
    uncollectible: about.status === 'uncollectible',
    gone: false,
  };
  const failed = { ...(failures.at !== null && { payment_failed_at: failures.at }) };
  if (about.status !== 'open') return [{ ...row, ...failed, status: STATUS[about.status] }];
  const wasLate = due !== null && due < today;
  const isLate = due !== null && due < (date(event.created, timeZone) ?? '');
  const statuses = [
    ...(failures.must || wasLate ? ['overdue'] : ['sent']),
    ...(failures.may && !failures.must ? ['overdue'] : []),
    ...(wasLate && !isLate && !full && !failures.must ? ['sent'] : []),
  ];
  return statuses.map((status) => ({ ...row, ...failed, status }));
}

/** No due date makes what is kept overdue or takes that back, whatever passed while it was open. */
function keptOpen<T extends { status: string }>(story: Moment<Invoice>[], row: T, failures: Failures): T[] {
  if (failures.must) return [row];
  const mayBeLate = failures.may || story.some(({ about }) => about.dueDate !== null);
  return (mayBeLate ? ['sent', 'overdue'] : ['sent']).map((status) => ({ ...row, status }));
}

const STATUS = { draft: 'draft', paid: 'paid', void: 'cancelled', uncollectible: 'overdue' };
