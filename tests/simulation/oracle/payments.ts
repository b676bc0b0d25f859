import type { Invoice } from '@/lib/stripe-local/model';
import type { PaymentRow, Tables } from '../tables';
import type { Truth, Verdict } from './index';
import { storiesOf } from './story';
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
    const last = story.at(-1)?.about;
    const row = tables.payments.find(({ payment_reference }) => payment_reference === id);
    const announced = story.some(({ event }) => event.type === 'invoice.payment_succeeded');
    if (last) checkPayment(truth, tables, last, announced, row, full, verdict);
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
  last: Invoice,
  announced: boolean,
  row: PaymentRow | undefined,
  full: boolean,
  verdict: Verdict,
): void {
  const what = `payment ${last.id}`;
  const collected = last.amountPaid - last.amountPaidOffStripe;
  const isDue = last.status === 'paid' && collected > 0;
  if (!row) {
    const isTold = announced && truth.lossless && !truth.freed.has(last.id);
    if (isDue && (full || isTold)) {
      verdict.differences.push({ what, expected: amount(collected, last.currency), actual: null });
    }
    return;
  }
  const invoice = tables.invoices.find(({ stripe_invoice_id: id }) => id === last.id);
  const expected = {
    invoice_id: invoice?.id,
    customer_id: invoice?.customer_id,
    amount: amount(collected, last.currency),
    currency: last.currency,
    payment_date: date(last.paidAt, truth.timeZone),
    status: 'completed',
    source: 'stripe',
  };
  // Events of newer versions do not tell what was paid without Stripe.
  const atMost = { ...expected, amount: amount(last.amountPaid, last.currency) };
  if (isDue && (fits(expected, row) || (!full && announced && fits(atMost, row)))) return;
  verdict.differences.push(isDue ? differing(what, expected, row) : { what, expected: null, actual: row });
}
