import { and, eq, gt, inArray, lte, sql } from 'drizzle-orm';
import { type Database, pickColumns, rows } from '@/db/database';
import { customers, monthAmounts } from '@/db/schema';
import { defineList, filter } from '../counted-list/define-list';
import { toCsv } from '../csv';
import { CUSTOMER_COLUMNS, inColumns, snippetColumns, toCustomerSnippet } from '../customers/queries';
import { calendarMonth } from '../exports/accounting-csv';
import { oneOf } from '../fields';
import { sumReceivables } from '../invoices/receivables';
import { currencyDecimals } from '../money';
import { AGE_GROUPS } from '../overdue';
import { currencyCode } from '../records/fields';
import { SERVICE_TYPES } from '../services/queries';

/** How many past months a report can cover. Staff choose one of these. */
export const REPORT_MONTHS = [12, 24, 60] as const;
export type ReportMonths = (typeof REPORT_MONTHS)[number];

/** A column of a report. It adds up the amounts or the counts of measures in `sums` and `month_states`. */
interface ReportColumn {
  of: 'amount' | 'count';
  measures: string[];
}

const amountOf = (...measures: string[]): ReportColumn => ({ of: 'amount', measures });
const countOf = (measure: string): ReportColumn => ({ of: 'count', measures: [measure] });
const TYPES = SERVICE_TYPES.map((type): [string, ReportColumn] => [type, amountOf(`product_${type}`)]);
const AGES = AGE_GROUPS.map((age): [string, ReportColumn] => [age, amountOf(`age_${age}`)]);

/**
 * The reports with their columns. `revenue` adds up the journal entries of a month, so it agrees with the accounting
 * export. It includes the current month. The other reports show the state at the end of past months, `recurring` also
 * the changes since the month before. The ageing report also shows today's state.
 */
export const REPORTS = {
  revenue: {
    invoiced_net: amountOf('net_invoice'),
    invoiced_gross: amountOf('booked_invoice'),
    credited_gross: amountOf('booked_credit'),
    received: amountOf('booked_payment'),
    returned: amountOf('booked_refund'),
    received_net: amountOf('booked_payment', 'booked_refund'),
  },
  recurring: {
    mrr: amountOf('mrr'),
    customers: countOf('mrr'),
    new: amountOf('mrr_new'),
    expansion: amountOf('mrr_expansion'),
    contraction: amountOf('mrr_contraction'),
    churn: amountOf('mrr_churn'),
    customers_gained: countOf('mrr_new'),
    customers_lost: countOf('mrr_churn'),
  },
  ageing: { open: amountOf(...AGES.flatMap(([, { measures }]) => measures)), ...Object.fromEntries(AGES) },
  products: { all: amountOf(...TYPES.flatMap(([, { measures }]) => measures)), ...Object.fromEntries(TYPES) },
} satisfies Record<string, Record<string, ReportColumn>>;

export type ReportName = keyof typeof REPORTS;

/** The count and the sum of one measure for one month, such as the invoices posted in that month. */
export interface Measured {
  month: string;
  measure: string;
  /** Currency code. Empty for a measure without a currency. */
  currency: string;
  count: number;
  amount: number;
}

/** A month of a report in one currency. */
export interface ReportRow {
  /** The first day of the month. */
  month: string;
  currency: string;
  /** The values of the report's columns, in major units. A value is null if it was not recorded for the month. */
  values: Record<string, number | null>;
  /**
   * Whether `month_amounts` has every measure of the month for each customer. Earlier releases recorded only some.
   */
  hasRows: boolean;
}

/** The reports of some months, with the rows of each currency, the oldest month first. */
export interface Reports {
  /** All currencies of the reports. The currency with the most journal entries of invoices comes first. */
  currencies: string[];
  rowsOf(report: ReportName, currency: string): ReportRow[];
}

/**
 * Reads the reports of past months and of the current month. Sums and monthly states are stored, so the cost does not
 * depend on the number of invoices.
 *
 * @param today calendar date in the service's time zone
 */
export async function readReports(db: Database, today: string, months: ReportMonths): Promise<Reports> {
  const all = monthsUntil(today, months);
  const found = await rows<Omit<Measured, 'amount'> & { amount: string }>(
    db,
    sql`select day::text as month, of as measure, currency, sum(row_count)::int as count, sum(amount)::text as amount
        from (select * from sums union all select * from sum_deltas) kept
        where of in ('booked_invoice', 'booked_credit', 'booked_payment', 'booked_refund', 'net_invoice')
          and day between ${all[0]}::date and ${today}::date
        group by day, of, currency
      union all
      select month::text, measure, currency, row_count, amount::text from month_states
        where month between ${all[0]}::date and ${today}::date`,
  );
  const [first] = await rows<{ month: string | null }>(
    db,
    sql`select min(month)::text as month from month_states`,
  );
  const open = (await sumReceivables(db, today)).map((row) => ({ ...row, month: all.at(-1) ?? today }));
  const measured = [...found, ...open].map((row) => ({ ...row, amount: Number(row.amount) }));
  return toReports(measured, { months: all, first: first?.month ?? null });
}

/** Returns the first days of the current month and of `past` months before it, the oldest first. */
export function monthsUntil(today: string, past: number): string[] {
  const [year = 0, month = 0] = today.split('-').map(Number);
  return Array.from({ length: past + 1 }, (_, i) =>
    new Date(Date.UTC(year, month - 1 - past + i, 1)).toISOString().slice(0, 10),
  );
}

/** Builds the reports. `first` is the first recorded month, whose MRR changes are therefore unknown. */
export function toReports(
  found: Measured[],
  { months, first }: { months: string[]; first: string | null },
): Reports {
  const keyOf = (month: string, measure: string, currency = '') => `${month} ${measure} ${currency}`;
  const byKey = new Map(found.map((row) => [keyOf(row.month, row.measure, row.currency), row]));
  const isKnown = (month: string, measure: string) => {
    if (/^(booked|net)_/.test(measure)) return true;
    if (measure.startsWith('age_')) return month === months.at(-1) || byKey.has(keyOf(month, 'recorded_age'));
    return byKey.has(keyOf(month, 'recorded')) && !(measure.startsWith('mrr_') && month === first);
  };
  const invoiced = (code: string) =>
    found.reduce(
      (sum, { measure, currency, count }) =>
        measure === 'booked_invoice' && currency === code ? sum + count : sum,
      0,
    );
  const currencies = [...new Set(found.flatMap(({ currency }) => currency || []))];
  return {
    currencies: currencies.sort((a, b) => invoiced(b) - invoiced(a) || a.localeCompare(b)),
    rowsOf(report, currency) {
      const cellOf = (month: string, { of, measures }: ReportColumn) => {
        if (!measures.every((measure) => isKnown(month, measure))) return null;
        const sum = measures.reduce(
          (total, measure) => total + (byKey.get(keyOf(month, measure, currency))?.[of] ?? 0),
          0,
        );
        return of === 'count' ? sum : Number(sum.toFixed(currencyDecimals(currency)));
      };
      const columns = Object.entries<ReportColumn>(REPORTS[report]);
      const isCurrent = report === 'revenue' || report === 'ageing';
      return (isCurrent ? months : months.slice(0, -1)).map((month) => ({
        month,
        currency,
        hasRows: byKey.has(keyOf(month, 'recorded_rows')),
        values: Object.fromEntries(columns.map(([name, column]) => [name, cellOf(month, column)])),
      }));
    },
  };
}

/**
 * Returns a report with all its currencies as CSV, in chunks. A cell is empty if its month was not recorded.
 */
export function reportCsv(
  db: Database,
  report: ReportName,
  today: string,
  months: ReportMonths,
): AsyncGenerator<string> {
  async function* batch() {
    const { currencies, rowsOf } = await readReports(db, today, months);
    yield currencies.flatMap((currency) =>
      rowsOf(report, currency).map(({ month, values }) => ({
        month: month.slice(0, 7),
        currency,
        ...values,
      })),
    );
  }
  return toCsv(['month', 'currency', ...Object.keys(REPORTS[report])], batch());
}

/** The measures whose amounts are stored for each customer. */
export const CUSTOMER_MEASURES = [
  ...['mrr', 'mrr_new', 'mrr_expansion', 'mrr_contraction', 'mrr_churn'],
  ...['open', ...AGE_GROUPS].map((age) => `age_${age}`),
  ...SERVICE_TYPES.map((type) => `product_${type}`),
] as [string, ...string[]];

const a = monthAmounts;

/** The list of customers' contributions to the reports' numbers. Without a `month` filter, it covers all months. */
export const customerAmountList = defineList({
  table: a,
  filters: {
    month: filter(calendarMonth, (month) => ({
      where: and(lte(a.first_month, `${month}-01`), gt(a.until_month, `${month}-01`)),
    })),
    measure: filter(oneOf(CUSTOMER_MEASURES), (measure) => ({ where: eq(a.measure, measure) })),
    currency: filter(currencyCode, (currency) => ({ where: eq(a.currency, currency) })),
  },
  orders: { customer: a.customer_id },
  sort: 'customer',
  rows: readCustomerAmounts,
  columns: ['measure', 'first_month', 'until_month', 'amount', 'currency', ...CUSTOMER_COLUMNS],
  toRecord: inColumns,
});

/** A customer's contribution to one number of a report, in major units. `until_month` is null if it still applies. */
export type CustomerAmount = Awaited<ReturnType<typeof readCustomerAmounts>>[number];

async function readCustomerAmounts(db: Database, ids: number[]) {
  const found = await db
    .select({
      row: pickColumns(a, 'id', 'measure', 'currency', 'amount', 'first_month', 'until_month'),
      customer: snippetColumns,
    })
    .from(a)
    .innerJoin(customers, eq(customers.id, a.customer_id))
    .where(inArray(a.id, ids));
  return found.map(({ row, customer }) => ({
    ...row,
    amount: Number(row.amount),
    until_month: row.until_month === 'infinity' ? null : row.until_month,
    customer: toCustomerSnippet(customer),
  }));
}
