import { and, asc, eq, gte, inArray, isNotNull, lt, sql } from 'drizzle-orm';
import { type Database, pickColumns } from '@/db/database';
import { accountingEntries, creditNoteLines, creditNotes, invoiceLines, invoices } from '@/db/schema';
import { toCsv } from '../csv';
import { readStripeLines } from '../invoices/lines';
import { lineTotals } from '../invoices/totals';
import { currencyDecimals, toThousandths } from '../money';
import { literal } from '../page-query';
import { isReversal } from './accounting-csv';

/**
 * The product of amounts that belong to no other product, such as invoices that were imported with totals only,
 * discounts of a whole invoice, and rounding.
 */
const OTHER = '(without lines)';
/** Maximum number of products per month. A product in two currencies counts twice. Further amounts go to `OTHER`. */
const MAX_PRODUCTS = 5000;
const BATCH = 1000;

/**
 * Returns the net revenue of each product and month as CSV, in chunks. The sum over the products of a month and a
 * currency equals `invoiced_net` in the revenue report, because `OTHER` contains the amounts that no line explains.
 *
 * @param months first days of the months
 */
export function productRevenueCsv(db: Database, months: string[]): AsyncGenerator<string> {
  async function* batches() {
    yield []; // This writes the header even if no row follows.
    for (const month of months) {
      const products = [...(await sumProducts(db, month)).values()];
      yield products
        .filter(({ net, lines }) => net !== 0 || lines > 0)
        .sort((a, b) => a.currency.localeCompare(b.currency) || b.net - a.net)
        .map(({ net, ...product }) => ({
          ...{ month: month.slice(0, 7), ...product },
          invoiced_net: (net / 1000).toFixed(currencyDecimals(product.currency)),
        }));
    }
  }
  return toCsv(['month', 'currency', 'product', 'lines', 'invoiced_net'], batches());
}

/** A product in a currency, with its number of lines and its net amount in thousandths. A reversed line counts -1. */
interface Sum {
  currency: string;
  product: string;
  lines: number;
  net: number;
}

async function sumProducts(db: Database, month: string): Promise<Map<string, Sum>> {
  const sums = new Map<string, Sum>();
  const add = (currency: string, text: string, net: number, lines: number) => {
    const key = `${currency} ${text}`;
    const isMore = !sums.has(key) && sums.size >= MAX_PRODUCTS && text !== OTHER;
    if (isMore) return add(currency, OTHER, net, lines);
    const sum = sums.get(key) ?? { currency, product: text, lines: 0, net: 0 };
    sums.set(key, { ...sum, lines: sum.lines + lines, net: sum.net + net });
  };
  for await (const entries of readInvoices(db, month)) {
    const linesOf = await readLines(db, [...new Set(entries.map(({ invoice_id }) => invoice_id ?? 0))]);
    for (const entry of entries) {
      const { invoice_id, currency, tax_rate, net, credit_note_number } = entry;
      // Our own invoices have an entry for each tax rate. A Stripe invoice has a single entry for all rates.
      const hasRate = ({ rate }: Line) => tax_rate === null || rate === null || rate === Number(tax_rate);
      // Our own cancellation has its own lines, because it takes back only what was not credited before.
      const lines = (linesOf.get(invoice_id ?? 0) ?? []).filter(
        (line) => line.credit_note_number === credit_note_number && hasRate(line),
      );
      const booked = toThousandths(net ?? '0');
      const sign = isReversal(entry) ? -1 : 1;
      for (const line of lines) add(currency, line.product, sign * line.net, sign);
      const explained = lines.reduce((sum, line) => sum + sign * line.net, 0);
      if (booked !== explained) add(currency, OTHER, booked - explained, 0);
    }
  }
  return sums;
}

/** Reads the entries of invoices that were posted in a month, in batches. */
async function* readInvoices(db: Database, month: string) {
  const e = accountingEntries;
  let last: { booked_on: string; id: number } | undefined;
  for (;;) {
    const found = await db
      .select()
      .from(e)
      .where(
        and(
          ...[eq(e.record, 'invoice'), isNotNull(e.net), gte(e.booked_on, month)],
          lt(e.booked_on, sql`${month}::date + interval '1 month'`),
          last && sql`(${e.booked_on}, ${e.id}) > (${last.booked_on}::date, ${last.id}::int)`,
        ),
      )
      .orderBy(asc(e.booked_on), asc(e.id))
      .limit(literal(BATCH));
    yield found;
    last = found.at(-1);
    if (found.length < BATCH) return;
  }
}

/**
 * A line of an invoice, or of our own cancellation of the invoice. The net amount is in thousandths. The rate is null
 * for lines of Stripe invoices.
 */
interface Line {
  product: string;
  rate: number | null;
  net: number;
  /** The number of the cancellation. Null for a line of the invoice. */
  credit_note_number: string | null;
}

/** Reads the lines of invoices and of their cancellations, keyed by the id of the invoice. */
async function readLines(db: Database, ids: number[]): Promise<Map<number, Line[]>> {
  const columns = ['text', 'quantity', 'unit_price', 'tax_rate'] as const;
  const issued = await db
    .select({ ...pickColumns(invoiceLines, 'invoice_id', ...columns), currency: invoices.currency })
    .from(invoiceLines)
    .innerJoin(invoices, eq(invoices.id, invoiceLines.invoice_id))
    .where(inArray(invoiceLines.invoice_id, ids))
    .orderBy(asc(invoiceLines.invoice_id), asc(invoiceLines.position));
  const cancelled = await db
    .select({
      ...pickColumns(creditNoteLines, ...columns),
      ...pickColumns(creditNotes, 'invoice_id', 'currency'),
      credit_note_number: creditNotes.number,
    })
    .from(creditNoteLines)
    .innerJoin(creditNotes, eq(creditNotes.id, creditNoteLines.credit_note_id))
    .where(and(inArray(creditNotes.invoice_id, ids), eq(creditNotes.kind, 'cancellation')))
    .orderBy(asc(creditNotes.invoice_id), asc(creditNoteLines.position));
  const lines = new Map<number, Line[]>();
  const add = (id: number, line: Line) => {
    const its = lines.get(id) ?? [];
    its.push(line);
    lines.set(id, its);
  };
  const own = [...issued.map((line) => ({ ...line, credit_note_number: null })), ...cancelled];
  for (const { invoice_id, text, currency, credit_note_number, ...line } of own) {
    const net = toThousandths(lineTotals([line], currency).subtotal);
    add(invoice_id, { product: productOf(text), rate: Number(line.tax_rate), net, credit_note_number });
  }
  for (const { invoice_id, description, net } of await readStripeLines(db, ids)) {
    const product = productOf(description ?? '');
    add(invoice_id, { product, rate: null, net: toThousandths(net), credit_note_number: null });
  }
  return lines;
}

/**
 * Returns the product that the first row of a line's text names, or `OTHER` if it names no product. Removes the parts
 * that differ between customers and months: domains, dates, periods, and the quantity and price that Stripe adds.
 */
export function productOf(text: string): string {
  const [first = ''] = text.split('\n');
  const product = first
    .replace(/^\d+ ×\s*/, '')
    .replace(/\s*\((at|bei) .*\)$/, '')
    .replace(/(?<![\p{L}\d])(?:[\p{L}\d][\p{L}\d-]*\.)+\p{L}{2,}(?![\p{L}\d])/gu, '')
    .replace(/\b(\d{1,2}\.\d{1,2}\.(\d{4}|\d\d)?|\d{4}-\d\d(-\d\d)?|\d{1,2}\/\d{4})(?=\W|$)/g, '')
    .replace(/[\s\p{P}]+(for|für|bis|to|from|vom|von)?[\s\p{P}]*$/u, (end) =>
      /^\s*[)]/.test(end) ? end : '',
    )
    .replace(/\s+/g, ' ')
    .trim();
  return product || OTHER;
}
