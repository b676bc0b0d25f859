import type { Invoice } from '@/lib/stripe-local/model';
import type { PaymentRow, Tables } from '../tables';
import type { Truth, Verdict } from './index';
import { type Moment, storiesOf } from './story';
import { amount, date, differing, fits } from './values';

/** One payment for each invoice that Stripe collected, and what people wrote as they wrote it. */
export function checkPayments(truth: Truth, tables: Tables, full: boolean, verdict: Verdict): void {
  const invoices = storiesOf<Invoice>(truth.history, 'invoice');
  for (const row of tables.payments) {
    const written = truth.written.get(row.id);
    if (written) checkWritten(row, written, verdict);
    else if (!invoices.has(row.payment_reference) || truth.deleted.has(row.payment_reference)) {
      verdict.differences.push({ what: `payment ${row.payment_reference}`, expected: null, actual: row });
    }
  }
  const references = new Set([...truth.written.values()].map(({ reference }) => reference));
  for (const [id, story] of invoices) {
    if (references.has(id) || truth.deleted.has(id)) continue;
    const row = tables.payments.find(({ payment_reference }) => payment_reference === id);
    checkPayment(truth, tables, story, row, full, verdict);
  }
  for (const [id, { reference }] of truth.written) {
    if (!tables.payments.some((row) => row.id === id)) {
      verdict.differences.push({ what: `payment ${reference}`, expected: 'as it was entered', actual: null });
    }
  }
}

function checkWritten(
  row: PaymentRow,
  { reference, ...written }: { amount: string; reference: string; source: string },
  verdict: Verdict,
): void {
  const expected = { payment_reference: reference, ...written };
  if (!fits(expected, row)) verdict.differences.push(differing(`payment ${reference}`, expected, row));
}

function checkPayment(
  truth: Truth,
  tables: Tables,
  story: Moment<Invoice>[],
  row: PaymentRow | undefined,
  full: boolean,
  verdict: Verdict,
): void {
  const last = story.at(-1);
  if (!last) return;
  const { id, currency } = last.about;
  const announced = story.some(({ event }) => event.type === 'invoice.payment_succeeded');
  const isReported = announced && truth.lossless && !truth.freed.has(id);
  // A run on the way may have found a part of it.
  const moments = (full || isReported ? [last] : story).filter(({ about }) => collectedOf(about) > 0);
  const expected = moments.flatMap((moment) => {
    const dates = full ? [lastCollected(story)] : datesOf(truth, story, moment);
    // Events of newer versions do not tell what was paid without Stripe.
    const amounts = [collectedOf(moment.about), ...(!full && announced ? [moment.about.amountPaid] : [])];
    return amounts.flatMap((minor) =>
      dates.map((at) => ({ amount: amount(minor, currency), payment_date: date(at, truth.timeZone) })),
    );
  });
  const [first] = expected;
  const invoice = tables.invoices.find(({ stripe_invoice_id }) => stripe_invoice_id === id);
  const common = {
    invoice_id: invoice?.id,
    customer_id: invoice?.customer_id,
    currency,
    source: 'stripe',
  };
  const mayLack = !first || !(full || isReported);
  if (row ? expected.some((one) => fits({ ...common, ...one }, row)) : mayLack) return;
  const what = `payment ${id}`;
  verdict.differences.push(
    row && first
      ? differing(what, { ...common, ...first }, row)
      : { what, expected: first ?? null, actual: row },
  );
}

const collectedOf = ({ amountPaid, amountPaidOffStripe }: Invoice) => amountPaid - amountPaidOffStripe;

/** When Stripe collected for the last time. */
function lastCollected(story: Moment<Invoice>[]): number | null {
  const grown = story.findLast(
    ({ about }, at) => collectedOf(about) > (at === 0 ? 0 : collectedOf((story[at - 1] ?? { about }).about)),
  );
  return grown?.event.created ?? null;
}

/**
 * Without an API key nobody tells when a part was collected: then it is as of what reported it. With one, more may
 * have been collected by the time that Stripe was asked when it did.
 */
function datesOf({ hasKey }: Truth, story: Moment<Invoice>[], { at, about }: Moment<Invoice>): number[] {
  return story
    .filter((moment) => collectedOf(moment.about) === collectedOf(about) || (hasKey && moment.at > at))
    .map(({ event }) => event.created);
}
