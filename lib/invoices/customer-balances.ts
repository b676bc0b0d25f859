import { and, eq, inArray, or, type SQL, sql, sum } from 'drizzle-orm';
import { type Database, pickColumns, rows } from '@/db/database';
import { customerSortName, customerStatus, customers, invoices, receivables } from '@/db/schema';
import { readLimited } from '@/db/transaction';
import { defineList, filter, type PageAt, type Selection, wordFilter } from '../counted-list/define-list';
import { addCount, isSortValue, readSortedPage, validId, withoutIndex } from '../counted-list/sorted-page';
import { hasNumber, idAfterHash, matchMention, spellings } from '../customers/match-customer';
import { customerName } from '../customers/queries';
import { customerQuery } from '../customers/schema';
import { toJsonAmount } from '../money';
import { literal, readCursorPage } from '../page-query';
import { countryCode } from '../records/fields';
import { dueOn } from './list';
import { currentRows, selectOverpaid } from './receivables';

export const CUSTOMER_STATUSES = customerStatus.enumValues;

const c = customers;
const r = receivables;

/** The orders of the list: by a customer's columns, or by a customer's open amount or oldest due date. */
const ORDERS = { created: sql`${c.id}`, number: sql`${c.customer_number}`, name: customerSortName(c) };
const BALANCE_ORDERS = { open: r.open_amount, due: r.oldest_due };
type Order = keyof typeof ORDERS | keyof typeof BALANCE_ORDERS;

/** The list of customers for staff, with their unpaid amounts. */
export const customerList = defineList({
  filters: {
    /** A `#id`, a whole customer number, or a part of a number, an email address, a name or a company. */
    q: filter(customerQuery, (text) => {
      const id = idAfterHash(text);
      const where = id === null ? or(hasNumber(spellings(text)), matchMention(text)) : eq(c.id, id);
      return { where, few: true };
    }),
    status: wordFilter(CUSTOMER_STATUSES, c.status),
    country: filter(countryCode, (country) => ({ where: eq(c.country, country) })),
  },
  orders: { ...ORDERS, ...BALANCE_ORDERS },
  sort: '-created',
  page: readPage,
  columns: [
    ...['id', 'customer_number', 'name', 'email', 'city', 'country', 'currency', 'status'],
    ...['open_amount', 'oldest_due'],
  ],
  toRecord(row) {
    const own = ownBalance(row);
    return { ...row, open_amount: own?.due ?? 0, oldest_due: own?.oldest_due };
  },
});

/** A row of `customerList`. */
export type ListedCustomer = Awaited<ReturnType<typeof readCustomers>>[number];

/**
 * Returns a customer's balance in their own currency. Returns undefined if they owe nothing in it. Sorting by open
 * amount or oldest due date uses only this balance.
 */
export const ownBalance = ({ currency, balances }: Pick<ListedCustomer, 'currency' | 'balances'>) =>
  balances.find((balance) => balance.currency === currency);

function readPage(db: Database, { by, ...selection }: Selection<Order>, at: PageAt) {
  if (by === 'open' || by === 'due') return readByBalance(db, { ...selection, by }, at);
  return readSortedPage(db, { table: c, ...selection, by: ORDERS[by] }, at, readCustomers);
}

async function readCustomers(db: Database, ids: number[]) {
  const row = pickColumns(c, 'id', 'customer_number', 'email', 'city', 'country', 'currency', 'status');
  const names = pickColumns(c, 'first_name', 'last_name', 'company');
  const found = await db.select({ row, names }).from(c).where(inArray(c.id, ids));
  const balances = await sumBalances(db, ids);
  return found.map((one) => ({
    ...one.row,
    name: customerName(one.names),
    balances: balances.get(one.row.id) ?? [],
  }));
}

type ByBalance = Selection<keyof typeof BALANCE_ORDERS>;

/**
 * Reads a page, sorted by open amount or oldest due date in each customer's own currency. In both directions, customers
 * who owe nothing in their own currency come last. A cursor contains a customer's id and, after a dot, the sort value if
 * the customer owed an amount, so the page still starts at the same place after the customer has paid.
 */
function readByBalance(db: Database, selection: ByBalance, { start, size, isCounted }: PageAt) {
  const known = (text: string | undefined) => (placeOf(text, selection.by) ? text : undefined);
  const at = { after: known(start.after), before: known(start.before) };
  return readLimited(db, async (tx) => {
    const page = await readCursorPage(
      at,
      size,
      (cursor, backwards) =>
        readIds(tx, selection, {
          place: placeOf(cursor ?? undefined, selection.by),
          ...{ backwards, most: size + 1 },
        }),
      ({ id, value }) => `${id}.${value ?? ''}`,
    );
    const ids = page.data.map(({ id }) => id);
    const found = new Map((await readCustomers(tx, ids)).map((row) => [row.id, row]));
    const named = { ...page, data: ids.flatMap((id) => found.get(id) ?? []) };
    return isCounted ? addCount(tx, { table: c, where: selection.where }, at, named) : named;
  });
}

/** The customer next to a page. `value` is the sort value, which is absent if the customer owed nothing. */
interface Place {
  id: number;
  value?: string | undefined;
}

/** Returns the place that a cursor names. Returns null if the text is not a valid cursor. */
function placeOf(text: string | undefined, by: ByBalance['by']): Place | null {
  const [, id, value] = /^(\d{1,10})\.(.*)$/.exec(text ?? '') ?? [];
  const isValue = value === '' || isSortValue(value, BALANCE_ORDERS[by]);
  return validId(id) && isValue ? { id: Number(id), value: value || undefined } : null;
}

/**
 * SQL parts that select the up-to-date rows of `receivables` in each customer's own currency. Outdated rows are
 * replaced by computed ones.
 */
const { outdated, computed } = currentRows(null);
const WITH_CURRENT = sql`with outdated as materialized (${outdated}), computed as materialized
  (select ${r}.* from ${computed(sql`array(select customer_id from outdated)`)})`;
const IS_IN_OWN_CURRENCY = sql`${r.customer_id} = ${c.id} and ${r.currency} = ${c.currency}`;
const IS_CURRENT = sql`${r.customer_id} not in (select customer_id from outdated)`;

interface Reach {
  /** The place from which to read. Null to read from the start. */
  place: Place | null;
  backwards: boolean;
  most: number;
}

/**
 * Reads the ids of the customers after a place: first the customers who owe an amount in their own currency, in the
 * selected order, then the others with the newest first.
 */
async function readIds(
  tx: Database,
  selection: ByBalance,
  { place, backwards, most }: Reach,
): Promise<Place[]> {
  const { where, few, by, descends } = selection;
  const column = BALANCE_ORDERS[by];
  const type = sql.raw(column.getSQLType());
  const [direction, beyond] = descends !== backwards ? [sql`desc`, sql`<`] : [sql`asc`, sql`>`];
  const value = few ? withoutIndex(column) : sql`${column}`;

  /** Each half of the union is sorted and limited separately, so that PostgreSQL uses an index of `receivables`. */
  function readOwing(rest: SQL | undefined, limit: number): Promise<Place[]> {
    const half = (from: SQL, isCurrent: SQL) => sql`(select ${c.id} as id, ${column} as value
      from ${from} ${r} join ${c} on ${IS_IN_OWN_CURRENCY} where ${and(isCurrent, rest)}
      order by ${value} ${direction}, ${r.customer_id} ${direction} limit ${literal(limit)})`;
    return rows<{ id: number; value: string }>(
      tx,
      sql`${WITH_CURRENT} select id, value::text from (
          ${half(sql`receivables`, IS_CURRENT)} union all ${half(sql`computed`, sql`true`)}) found
        order by found.value ${direction}, id ${direction} limit ${literal(limit)}`,
    );
  }

  function readOthers(after: number | null, limit: number): Promise<Place[]> {
    const [idDirection, idBeyond] = backwards ? [sql`asc`, sql`>`] : [sql`desc`, sql`<`];
    const owesNothing = sql`not exists (select from ${r} where ${IS_IN_OWN_CURRENCY} and ${IS_CURRENT})
      and (${c.id}, ${c.currency}) not in (select customer_id, currency from computed)`;
    const rest = after === null ? undefined : sql`${c.id} ${idBeyond} ${after}::int`;
    return rows<{ id: number }>(
      tx,
      sql`${WITH_CURRENT} select ${c.id} as id from ${c} where ${and(where, rest, owesNothing)}
        order by ${few ? withoutIndex(c.id) : c.id} ${idDirection} limit ${literal(limit)}`,
    );
  }

  const isAmongOthers = place !== null && place.value === undefined;
  const rest =
    place && sql`(${column}, ${r.customer_id}) ${beyond} (${place.value}::${type}, ${place.id}::int)`;
  const first = isAmongOthers
    ? await readOthers(place.id, most)
    : await readOwing(and(where, rest ?? undefined), most);
  const left = most - first.length;
  if (left === 0 || isAmongOthers !== backwards) return first;
  return [...first, ...(await (backwards ? readOwing(where, left) : readOthers(null, left)))];
}

/** The unpaid amount of a customer in one currency. */
export interface Balance {
  currency: string;
  due: number;
  /** The part of `due` that is overdue. */
  overdue: number;
  /** The earliest due date of the unpaid invoices, see `dueOn`. */
  oldest_due: string;
}

/** Returns the unpaid amounts of a customer, by currency. */
export async function listBalances(db: Database, id: number): Promise<Balance[]> {
  return (await sumBalances(db, [id])).get(id) ?? [];
}

async function sumBalances(db: Database, ids: number[]): Promise<Map<number, Balance[]>> {
  const byCustomer = new Map<number, Balance[]>();
  if (ids.length === 0) return byCustomer;
  const sums = await db
    .select({
      customer_id: invoices.customer_id,
      currency: invoices.currency,
      due: sum(invoices.amount_due),
      oldest_due: sql<string>`min(${dueOn})::text`,
      overdue: sql<
        string | null
      >`sum(${invoices.amount_due}) filter (where ${eq(invoices.status, 'overdue')})`,
    })
    .from(invoices)
    // The status condition must be the same as in the partial index.
    .where(and(inArray(invoices.customer_id, ids), sql`${invoices.status} in ('sent', 'overdue')`))
    .groupBy(invoices.customer_id, invoices.currency)
    .orderBy(invoices.currency);
  for (const { customer_id, due, overdue, ...rest } of sums) {
    const known = byCustomer.get(customer_id) ?? [];
    const balance = { ...rest, due: toJsonAmount(due ?? '0'), overdue: toJsonAmount(overdue ?? '0') };
    byCustomer.set(customer_id, [...known, balance]);
  }
  return byCustomer;
}

/** Returns by how much a customer has overpaid our own invoices, by currency. */
export async function listCustomerCredits(
  db: Database,
  customerId: number,
): Promise<{ currency: string; amount: number }[]> {
  const found = await rows<{ currency: string; amount: string }>(
    db,
    sql`select currency, sum(amount)::text as amount from (${selectOverpaid([customerId])}) overpaid
      group by currency order by currency`,
  );
  return found.map(({ amount, ...rest }) => ({ ...rest, amount: toJsonAmount(amount) }));
}
