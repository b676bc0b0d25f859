import { and, asc, eq, gte, lt, ne, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, invoices } from '@/db/schema';
import { linesOf } from '../../invoices/amounts';
import { addLines } from '../../invoices/line-rows';
import { lineTotals } from '../../invoices/line-totals';
import { toJsonAmount, toThousandths } from '../../money';
import { literal } from '../../page-query';
import { type Days, ofWhom, toAccountingRow } from './accounting-row';

const BATCH = 1000;

type Found = Awaited<ReturnType<typeof readBatch>>[number];

/** Invoices that were issued in these days. One without lines has a single row, which names no rate. */
export async function* readInvoices(db: Database, days: Days) {
  for (let last: Found | undefined, more = true; more; ) {
    const found = await readBatch(db, days, last);
    await addLines(db, 'invoice', found);
    yield found.flatMap(toRows);
    last = found.at(-1);
    more = found.length === BATCH;
  }
}

function readBatch(
  db: Database,
  { from, until }: Days,
  last: { invoice_date: string; id: number } | undefined,
) {
  const { id, invoice_date, status, due_date, currency, subtotal, tax, total, amount_credited } = invoices;
  return db
    .select({
      ...ofWhom,
      ...{ id, invoice_date, status, due_date, currency, subtotal, tax, total, amount_credited },
    })
    .from(invoices)
    .innerJoin(customers, eq(customers.id, invoices.customer_id))
    .where(
      and(
        gte(invoice_date, from),
        lt(invoice_date, until),
        ne(status, 'draft'),
        last && sql`(${invoice_date}, ${id}) > (${last.invoice_date}::date, ${last.id}::int)`,
      ),
    )
    .orderBy(asc(invoice_date), asc(id))
    .limit(literal(BATCH));
}

/** What was credited concerns the invoice as a whole, and stands in its first row. */
function toRows(invoice: Found) {
  const { invoice_date, status, due_date, currency, amount_credited } = invoice;
  return partsOf(invoice).map(({ tax_rate, net, tax, gross }, i) =>
    toAccountingRow(invoice, {
      record: 'invoice',
      date: invoice_date,
      status,
      due_date,
      tax_rate,
      net: toJsonAmount(net),
      tax: toJsonAmount(tax),
      gross,
      currency,
      amount_credited: i === 0 ? toJsonAmount(amount_credited) : null,
    }),
  );
}

function partsOf(invoice: Found) {
  const lines = linesOf(invoice);
  const { subtotal, tax, total, currency } = invoice;
  if (lines.length === 0) return [{ tax_rate: null, net: subtotal, tax, gross: toJsonAmount(total) }];
  return lineTotals(lines, currency).rates.map((rate) => ({
    tax_rate: toJsonAmount(rate.tax_rate),
    net: rate.net,
    tax: rate.tax,
    gross: (toThousandths(rate.net) + toThousandths(rate.tax)) / 1000,
  }));
}
