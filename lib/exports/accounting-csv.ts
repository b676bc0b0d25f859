import { and, asc, eq, gte, inArray, lt, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { accountingEntries } from '@/db/schema';
import { defineList, filter } from '../counted-list/define-list';
import { toCsv } from '../csv';
import { addDays } from '../dates';
import { calendarDate } from '../fields';
import { addUp, readStripeRates } from '../invoices/lines';
import { currencyDecimals, fromThousandths } from '../money';
import { literal } from '../page-query';
import { currencyCode } from '../records/fields';

/** Schema of a month such as 2026-10. */
export const calendarMonth = z
  .string()
  .refine(
    (text) => /^\d{4}-\d{2}$/.test(text) && calendarDate.safeParse(`${text}-01`).success,
    'must be a month such as 2026-10',
  );

/** The columns of the accounting export, in the file's order. */
const COLUMNS = [
  'record', // One of RECORDS.
  'event', // See EVENTS.
  'date', // The posting date.
  // The date of the event. Earlier than `date` if that month was over when the event was booked. A reversing entry has
  // the date of the event that it reverses.
  'original_date',
  'customer_number',
  'customer_name',
  'customer_country',
  'customer_vat_id',
  'invoice_number',
  'credit_note_number', // The number of our own credit note or cancellation. Empty for other entries.
  'due_date',
  'tax_rate',
  'net',
  'tax',
  'gross',
  'currency',
  'payment_reference',
  'method',
] as const;

/** A row of the accounting journal. */
export type Entry = typeof accountingEntries.$inferSelect;

/** The kinds of entries, in the file's order. */
const RECORDS = ['invoice', 'credit', 'write_off', 'balance', 'paid_elsewhere', 'payment', 'refund'] as const;
/**
 * `comma` separates cells with commas and writes a decimal point. `semicolon` separates cells with semicolons and
 * writes a decimal comma.
 */
export type CsvForm = 'comma' | 'semicolon';

/** Values of the column `event`: for amounts of at least zero, for negative amounts, and for reversals, see `toRow`. */
const EVENTS: Record<Entry['record'], [more: string, less: string, takenBack: string]> = {
  invoice: ['issued', 'issued', 'cancelled'],
  credit: ['credit_withdrawn', 'credited', 'credit_withdrawn'],
  write_off: ['write_off_reversed', 'written_off', 'write_off_reversed'],
  balance: ['balance_used', 'balance_increased', 'balance_increased'],
  paid_elsewhere: ['paid_elsewhere', 'paid_elsewhere_reversed', 'paid_elsewhere_reversed'],
  payment: ['collected', 'collection_reversed', 'collection_reversed'],
  refund: ['refunded', 'refunded', 'refund_reversed'],
};

/** Maximum number of entries that one query reads. */
const BATCH = 1000;

/**
 * Returns the accounting entries of a month as CSV, in chunks. Invoices come first, with a row for each tax rate. Then
 * come amounts that were credited, written off, paid from the Stripe balance, or paid without a recorded payment. Then
 * come payments, and last refunds and lost disputes. Once the month is over, only two things change the file. Erasing a
 * customer removes the name, the VAT ID, and personal data from payment references. A Stripe invoice is split by tax
 * rate as soon as its lines are known.
 *
 * @param month a calendar month, such as 2026-10
 * @param form separators of cells and of decimals, see `CsvForm`
 */
export function accountingCsv(db: Database, month: string, form: CsvForm = 'comma'): AsyncGenerator<string> {
  return toCsv([...COLUMNS], readRows(db, month, form), form === 'comma' ? ',' : ';');
}

async function* readRows(db: Database, month: string, form: CsvForm) {
  yield []; // This writes the header even if no row follows.
  for await (const entries of readEntries(db, month)) yield entries.map((entry) => toRow(entry, form));
}

/** Returns the accounting entries of a month in the order of `accountingCsv`, in batches. */
export async function* readEntries(db: Database, month: string): AsyncGenerator<Entry[]> {
  const from = `${month}-01`;
  const until = nextMonth(from);
  for (const record of RECORDS) {
    for (let last: Entry | undefined, more = true; more; ) {
      const found = await readBatch(db, { record, from, until }, last);
      yield record === 'invoice' ? await splitByRate(db, found) : found;
      last = found.at(-1);
      more = found.length === BATCH;
    }
  }
}

/** Reads the batch after the last entry. Leaves out an entry and its reversal if both were posted in this month. */
function readBatch(
  db: Database,
  { record, from, until }: { record: Entry['record']; from: string; until: string },
  last: Entry | undefined,
): Promise<Entry[]> {
  const other = sql`select from accounting_entries o
    where o.booked_on >= ${from}::date and o.booked_on < ${until}::date`;
  return db
    .select()
    .from(e)
    .where(
      and(
        eq(e.record, record),
        gte(e.booked_on, from),
        lt(e.booked_on, until),
        sql`not exists (${other} and o.reverses = ${e.id}) and not exists (${other} and o.id = ${e.reverses})`,
        last && sql`(${e.booked_on}, ${e.id}) > (${last.booked_on}::date, ${last.id}::int)`,
      ),
    )
    .orderBy(asc(e.booked_on), asc(e.id))
    .limit(literal(BATCH));
}

/**
 * Replaces the journal's entry of a Stripe invoice, which has only totals, with one entry for each tax rate of the
 * invoice's lines. If the lines do not add up to the totals, the single entry without a rate stays.
 */
async function splitByRate(db: Database, entries: Entry[]): Promise<Entry[]> {
  const ids = entries.flatMap(({ tax_rate, invoice_id }) => (tax_rate === null ? (invoice_id ?? []) : []));
  const ratesOf = await readStripeRates(db, [...new Set(ids)]);
  return entries.flatMap((entry) => {
    const rates = entry.tax_rate === null ? (ratesOf.get(entry.invoice_id ?? 0) ?? []) : [];
    const sign = isReversal(entry) ? -1 : 1;
    if (rates.length === 0 || !addUp(rates, entry, sign)) return entry;
    const text = (thousandths: number) => fromThousandths(sign * thousandths);
    return rates.map(({ tax_rate, net, tax }) => {
      const amounts = { net: text(net), tax: text(tax), gross: text(net + tax) };
      return { ...entry, tax_rate, ...amounts };
    });
  });
}

/**
 * Returns whether an entry takes back an earlier entry. Our own cancellation is a separate entry with a number. A
 * cancellation by Stripe or another program has no number and reverses the invoice's entry. The sign of the amounts does
 * not show it, because discounts and downgrades are negative too.
 */
export const isReversal = ({ record, reverses, credit_note_number }: Entry): boolean =>
  reverses !== null || (record === 'invoice' && credit_note_number !== null);

/** The kinds of entries that reports sum up. `received` includes payments and refunds. */
export const POSTING_KINDS = ['invoice', 'credit', 'payment', 'refund', 'received'] as const;

const e = accountingEntries;

/** The list of journal entries that belong to a sum in a report: the entries of a month, a kind and a currency. */
export const postingList = defineList({
  table: e,
  filters: {
    month: filter(calendarMonth, (month) => ({
      where: and(gte(e.booked_on, `${month}-01`), lt(e.booked_on, nextMonth(`${month}-01`))),
    })),
    record: filter(z.enum(POSTING_KINDS), (kind) => ({
      where: kind === 'received' ? inArray(e.record, ['payment', 'refund']) : eq(e.record, kind),
    })),
    // Name all kinds, so that PostgreSQL can use the index, which begins with the kind.
    currency: filter(currencyCode, (currency) => ({
      where: and(inArray(e.record, [...RECORDS]), eq(e.currency, currency)),
    })),
  },
  orders: { date: sql`${e.booked_on}` },
  sort: '-date',
  rows: readPostings,
  columns: [...COLUMNS],
  toRecord: (posting) => toRow(posting, 'comma'),
});

/** An entry of the journal with its event, such as `issued` or `cancelled`. */
export type Posting = Awaited<ReturnType<typeof readPostings>>[number];

async function readPostings(db: Database, ids: number[]) {
  const found = await db.select().from(e).where(inArray(e.id, ids));
  return found.map((entry) => ({ ...entry, event: toRow(entry, 'comma').event }));
}

const nextMonth = (first: string) => addDays(first, 31).replace(/\d\d$/, '01');

function toRow(entry: Entry, form: CsvForm) {
  const { booked_on: date, tax_rate, net, tax, gross, ...rest } = entry;
  const [more, less, reversed] = EVENTS[entry.record];
  const text = (number: string) => (form === 'comma' ? number : number.replace('.', ','));
  // Every amount has all decimals of its currency, such as 7.50 EUR and 500 JPY.
  const amount = (value: string | null) =>
    value === null ? null : text(Number(value).toFixed(currencyDecimals(entry.currency)));
  return {
    ...rest,
    event: isReversal(entry) ? reversed : Number(gross) < 0 ? less : more,
    date,
    tax_rate: tax_rate === null ? null : text(String(Number(tax_rate))),
    net: amount(net),
    tax: amount(tax),
    gross: amount(gross),
  };
}
