import { and, eq, gt, inArray, isNull, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { type Database, rows } from '@/db/database';
import { customers, invoices, payments, receivableChanges, receivables, transfers } from '@/db/schema';
import { readLimited } from '@/db/transaction';
import { defineList, filter, type PageAt, type Selection } from '../counted-list/define-list';
import { isSortValue, MAX_COUNTED } from '../counted-list/sorted-page';
import { customerFilter } from '../customers/match-customer';
import { CUSTOMER_COLUMNS, inColumns, snippetColumns, toCustomerSnippet } from '../customers/queries';
import { toIso } from '../dates';
import { toJsonAmount, toJsonAmounts } from '../money';
import { AGE_GROUPS } from '../overdue';
import { MAX_ID } from '../page';
import { literal, readCursorPage } from '../page-query';
import { currencyCode } from '../records/fields';
import { readLastReminders } from './reminders';

const r = receivables;

/** The orders of the list, with the columns that hold the values to sort by. */
const ORDERS = {
  open: r.open_amount,
  invoices: r.invoice_count,
  due: r.oldest_due,
  'not-due': r.not_due,
  '1-30': r.days_1_30,
  '31-60': r.days_31_60,
  '61-90': r.days_61_90,
  'over-90': r.over_90_days,
  payment: r.last_payment,
  note: r.last_note,
};
type Order = keyof typeof ORDERS;

const AMOUNTS = ['open_amount', 'not_due', 'days_1_30', 'days_31_60', 'days_61_90', 'over_90_days'] as const;

/**
 * The list of amounts that customers owe. It has one row per customer and currency with unpaid invoices.
 *
 * @param today the current date, which determines the age groups
 */
export const receivableList = (today: string) =>
  defineList({
    filters: {
      customer: customerFilter(r.customer_id),
      /**
       * A currency code, or `all`. Sorting by amount is meaningful within one currency only, because amounts of several
       * currencies cannot be compared.
       */
      currency: filter(z.union([z.literal('all'), currencyCode]), (currency) => ({
        where: currency === 'all' ? undefined : eq(r.currency, currency),
      })),
    },
    orders: ORDERS,
    sort: '-open',
    page: (db, selection, at) => readLimited(db, (tx) => readReceivables(tx, selection, at, today)),
    columns: [
      ...CUSTOMER_COLUMNS,
      ...['currency', 'open_amount', 'credit', 'invoice_count', 'oldest_due'],
      ...['not_due', 'days_1_30', 'days_31_60', 'days_61_90', 'over_90_days', 'last_payment', 'last_note'],
      ...['last_reminder', 'reminder_level'],
    ],
    toRecord: (row) => inColumns({ ...row, last_note: toIso(row.last_note) }),
  });

/** The amounts that a customer owes in one currency, in major units. `id` is the customer's id. */
export type Receivable = Awaited<ReturnType<typeof readReceivables>>['data'][number];

/**
 * Reads a page. A cursor contains a row's customer, currency and sort value, so the page still starts at the same place
 * after the customer has paid.
 */
async function readReceivables(tx: Database, selection: Selection<Order>, at: PageAt, today: string) {
  const from = currentRows(today);
  const { where, by } = selection;
  const known = (text: string | undefined) => (placeOf(text, by) ? text : undefined);
  const page = await readCursorPage(
    { after: known(at.start.after), before: known(at.start.before) },
    at.size,
    (cursor, backwards, limit) =>
      readRows(
        tx,
        from,
        { where, by: ORDERS[by], descends: selection.descends !== backwards },
        placeOf(cursor ?? undefined, by),
        limit,
      ),
    ({ customer_id, currency, sort_value }) => `${customer_id}-${currency}.${sort_value}`,
  );
  const count = at.isCounted ? { count: await countRows(tx, from, where) } : {};
  const ids = page.data.map(({ customer_id }) => customer_id);
  const named = await readCustomers(tx, ids);
  const credits = await readCredits(tx, ids);
  const reminders = await readLastReminders(tx, ids);
  const data = page.data.flatMap(({ customer_id: id, last_note, sort_value: _, ...row }) => {
    const customer = named.get(id);
    if (!customer) return [];
    const credit = credits.get(`${id} ${row.currency}`) ?? 0;
    const noted = last_note === null ? null : new Date(last_note);
    const reminded = reminders.get(`${id} ${row.currency}`) ?? NOT_REMINDED;
    return [{ ...toJsonAmounts(row, ...AMOUNTS), ...reminded, id, customer, credit, last_note: noted }];
  });
  return { ...page, data, ...count };
}

const NOT_REMINDED = { last_reminder: null, reminder_level: null };

/**
 * The sum that customers owe today in one age group and one currency. `measure` is `age_` followed by the age group.
 */
type AgeSum = Record<'measure' | 'currency' | 'amount', string> & { count: number };

/** Sums the amounts that customers owe today by age group and currency, and counts the customers. */
export function sumReceivables(db: Database, today: string): Promise<AgeSum[]> {
  const { outdated, computed } = currentRows(today);
  const columns = AGE_GROUPS.map((age) => ({ age, column: sql`owed.${sql.identifier(ORDERS[age].name)}` }));
  const sums = columns.map(
    ({ column }) => sql`count(*) filter (where ${column} > 0)::int, sum(${column})::text`,
  );
  const ages = columns.map(
    ({ age }, at) => sql`(${`age_${age}`}::text, ${sql.raw(`count_${at}, sum_${at}`)})`,
  );
  const names = sql.raw(columns.map((_, at) => `count_${at}, sum_${at}`).join(', '));
  // Sum all age groups in one pass over the table, then turn the few sums into rows.
  return rows<AgeSum>(
    db,
    sql`with outdated as materialized (${outdated}), owed as (
        select ${r}.* from ${r} where ${r.customer_id} not in (select customer_id from outdated)
        union all select ${r}.* from ${computed(sql`array(select customer_id from outdated)`)}
      ), summed (currency, ${names}) as (
        select owed.currency, ${sql.join(sums, sql`, `)} from owed group by owed.currency
      )
      select age.measure, summed.currency, age.count, age.amount
      from summed, lateral (values ${sql.join(ages, sql`, `)}) age(measure, count, amount)
      where age.count > 0`,
  );
}

/** SQL for the current rows of `receivables`. Outdated rows are computed, and all others read from the table. */
interface CurrentRows {
  /** Query for the customers whose stored rows are outdated. */
  outdated: SQL;
  /** Returns SQL that computes the rows of the given customers from their invoices. */
  computed(customerIds: SQL): SQL;
}

/** Returns the SQL for current rows. @param today day for the sums of age groups; null if these are not read */
export function currentRows(today: string | null): CurrentRows {
  const changed = sql`select ${receivableChanges.customer_id} from ${receivableChanges}`;
  const day = sql`${today ?? '2000-01-01'}::date`;
  return {
    outdated:
      today === null
        ? changed
        : sql`${changed} union select ${r.customer_id} from ${r} where ${r.valid_from} > ${day}
            union select ${r.customer_id} from ${r} where ${r.valid_until} <= ${day}`,
    computed: (customerIds) => sql`receivables_of(${customerIds}, ${day}) ${r}`,
  };
}

interface Ordered {
  where: SQL | undefined;
  by: PgColumn;
  descends: boolean;
}

type Row = Record<'currency' | 'oldest_due' | (typeof AMOUNTS)[number], string> & {
  customer_id: number;
  invoice_count: number;
  last_payment: string | null;
  /** Time of the last note about the customer, in milliseconds since 1970. */
  last_note: number | null;
  sort_value: string;
};

/**
 * Reads rows after a cursor. Each half of the union is sorted and limited separately, so that PostgreSQL uses an index.
 */
async function readRows(
  tx: Database,
  from: CurrentRows,
  { where, by, descends }: Ordered,
  place: Place | null,
  limit: number,
): Promise<Row[]> {
  const [direction, beyond] = descends ? [sql`desc`, sql`<`] : [sql`asc`, sql`>`];
  const inOrder = sql`${by} ${direction}, ${r.customer_id} ${direction}, ${r.currency} ${direction}`;
  const type = sql.raw(by.getSQLType());
  const rest =
    place === null
      ? undefined
      : sql`(${by}, ${r.customer_id}, ${r.currency})
          ${beyond} (${place.value}::${type}, ${place.id}::int, ${place.currency}::text)`;
  const isCurrent = sql`${r.customer_id} not in (select customer_id from outdated)`;
  return rows<Row>(
    tx,
    sql`with outdated as materialized (${from.outdated})
      select ${r.customer_id}, ${r.currency}, ${r.invoice_count}, ${r.oldest_due}::text,
        to_jsonb(${by}) #>> '{}' as sort_value,
        ${sql.join(
          AMOUNTS.map((name) => sql`${r[name]}::text`),
          sql`, `,
        )},
        nullif(${r.last_payment}, '-infinity')::text as last_payment,
        extract(epoch from nullif(${r.last_note}, '-infinity'))::float8 * 1000 as last_note
      from (
        (select ${r}.* from ${r} where ${and(isCurrent, where, rest)} order by ${inOrder} limit ${limit})
        union all
        (select ${r}.* from ${from.computed(sql`array(select customer_id from outdated)`)}
          where ${and(sql`true`, where, rest)} order by ${inOrder} limit ${limit})
      ) ${r} order by ${inOrder} limit ${limit}`,
  );
}

async function countRows(tx: Database, from: CurrentRows, where: SQL | undefined): Promise<number> {
  const isCurrent = sql`${r.customer_id} not in (select customer_id from outdated)`;
  const [found] = await rows<{ total: number }>(
    tx,
    sql`with outdated as materialized (${from.outdated})
      select count(*)::int as total from (
        select 1 from ${r} where ${and(isCurrent, where)}
        union all select 1 from ${from.computed(sql`array(select customer_id from outdated)`)} where ${and(sql`true`, where)}
        limit ${literal(MAX_COUNTED + 1)}
      ) some_rows`,
  );
  return found?.total ?? 0;
}

async function readCustomers(tx: Database, ids: number[]) {
  if (ids.length === 0) return new Map<number, never>();
  const found = await tx.select(snippetColumns).from(customers).where(inArray(customers.id, ids));
  return new Map(found.map((row) => [row.id, toCustomerSnippet(row)]));
}

/** Returns the credit of these customers, as their pages show it, keyed by customer id and currency. */
async function readCredits(tx: Database, ids: number[]): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const found = await sumCredits(tx, ids, selectOverpaid(ids));
  return new Map(found.map((one) => [`${one.customer_id} ${one.currency}`, toJsonAmount(one.credit)]));
}

/**
 * Returns the credit of a customer that can be paid back, by currency. This includes credit that cannot pay another
 * invoice. An overpaid amount that was imported without payments is left out, because there is no payment to refund.
 */
export async function listReturnableCredits(
  db: Database,
  customerId: number,
): Promise<{ currency: string; amount: number }[]> {
  const recorded = sql`(select coalesce(sum(${payments.amount} - ${payments.refunded_amount}), 0) from ${payments}
    where ${and(eq(payments.invoice_id, invoices.id), eq(payments.status, 'completed'))})`;
  const found = await sumCredits(db, [customerId], selectOverpaid([customerId], recorded));
  return found.map(({ currency, credit }) => ({ currency, amount: toJsonAmount(credit) }));
}

/** Returns the sums of overpaid amounts and of the unused credit of transfers, by customer and currency. */
const sumCredits = (db: Database, customerIds: number[], overpaid: SQL) =>
  rows<{ customer_id: number; currency: string; credit: string }>(
    db,
    sql`select customer_id, currency, sum(amount)::text as credit from (
        ${overpaid}
        union all
        select ${transfers.customer_id}, ${transfers.currency}, ${transfers.credit} from ${transfers}
          where ${and(inArray(transfers.customer_id, customerIds), gt(transfers.credit, '0'))}
      ) credits group by customer_id, currency order by customer_id, currency`,
  );

/**
 * Returns a query for the amounts by which customers have overpaid our own invoices, with the columns `customer_id`,
 * `currency` and `amount`. Credit notes lower the amount to pay, and nothing is to be paid for a cancelled invoice.
 * Stripe's invoices are left out, because Stripe keeps their credit.
 *
 * @param most the maximum amount of a paid invoice. Default: no maximum
 */
export function selectOverpaid(customerIds: number[], most: SQL = sql`null`): SQL {
  const { amount_paid, amount_credited, total } = invoices;
  const isOwn = and(inArray(invoices.customer_id, customerIds), isNull(invoices.stripe_invoice_id));
  return sql`select customer_id, currency, amount from (
      select ${invoices.customer_id}, ${invoices.currency},
          least(${amount_paid} + ${amount_credited} - ${total}, ${most}) as amount
        from ${invoices} where ${and(isOwn, eq(invoices.status, 'paid'))}
      union all
      select ${invoices.customer_id}, ${payments.currency}, ${payments.amount} - ${payments.refunded_amount} from ${payments}
        join ${invoices} on ${invoices.id} = ${payments.invoice_id} and ${invoices.currency} = ${payments.currency}
        where ${and(isOwn, eq(invoices.status, 'cancelled'), eq(payments.status, 'completed'))}
    ) overpaid where amount > 0`;
}

/** The row next to a page, with the value that its page is sorted by. */
interface Place {
  id: number;
  currency: string;
  value: string;
}

/** Returns the place that a cursor names. Returns null if the text is not a valid cursor. */
function placeOf(text: string | undefined, by: Order): Place | null {
  const [, id, currency = '', value = ''] = /^(\d{1,10})-([a-z]{3})\.(.*)$/.exec(text ?? '') ?? [];
  if (id === undefined || Number(id) > MAX_ID || !isSortValue(value, ORDERS[by])) return null;
  return { id: Number(id), currency, value };
}
