import {
  and,
  asc,
  count,
  desc,
  eq,
  gte,
  inArray,
  isNull,
  like,
  lt,
  lte,
  or,
  type SQL,
  sql,
} from 'drizzle-orm';
import { z } from 'zod';
import { type Database, pickColumns } from '@/db/database';
import { bankEntries, bankRules, bankStatements, customers, stripePayouts, transfers } from '@/db/schema';
import { dayFilters, defineList, filter } from '../counted-list/define-list';
import { snippetColumns, toCustomerSnippet } from '../customers/queries';
import { AppError } from '../errors';
import { textLine } from '../fields';
import { toJsonAmounts } from '../money';
import { MAX_ID, type Page, type PageRequest } from '../page';
import { literal, readPage } from '../page-query';

const s = bankStatements;
const e = bankEntries;

const STATEMENT_COLUMNS = pickColumns(
  s,
  ...(['id', 'account', 'currency', 'first_day', 'last_day', 'opening', 'closing', 'booked'] as const),
  ...(['entry_count', 'file_name', 'actor_name', 'created_at'] as const),
);

/** Condition for the entries of the account in the statement's period. They may come from several files. */
export const inPeriod = ({ account, currency, first_day, last_day }: Period) =>
  and(eq(e.account, account), eq(e.currency, currency), gte(e.day, first_day), lte(e.day, last_day));

/** Condition for entries that are not explained: not ignored, and not linked to a transfer, payout or return. */
export const isOpen = and(
  ...[eq(e.state, 'open'), isNull(e.transfer_id), isNull(e.payout_id)],
  ...[isNull(e.returned_transfer_id), isNull(e.returned_payment_id)],
);

/** Schema of an IBAN or a part of it, as a person types it. */
const accountText = textLine(60)
  .transform((text) => text.replace(/\s/g, '').toUpperCase())
  .pipe(z.string().regex(/^[A-Z\d]{1,34}$/, 'must be an IBAN or part of one'));

/** The list of bank statements on staff pages. */
export const statementList = defineList({
  table: s,
  filters: {
    account: filter(accountText, (text) => ({ where: like(s.account, `%${text}%`) })),
    ...dayFilters(s.last_day),
  },
  orders: { date: sql`${s.last_day}` },
  sort: '-date',
  rows: readStatements,
  columns: [
    'id',
    'account',
    'currency',
    'first_day',
    'last_day',
    'opening',
    'booked',
    'closing',
    'open_entries',
    'file_name',
  ],
});

export type ListedStatement = Awaited<ReturnType<typeof readStatements>>[number];

async function readStatements(db: Database, ids: number[]) {
  const found = await db
    .select({
      ...STATEMENT_COLUMNS,
      // Write the table names out. drizzle omits the name if a query has a single table, but the subquery has two.
      open_entries: sql<number>`(select count(*)::int from ${e} where ${e}.account = ${s}.account
        and ${e}.currency = ${s}.currency and ${e}.day between ${s}.first_day and ${s}.last_day and ${isOpen})`,
    })
    .from(s)
    .where(inArray(s.id, ids));
  return found.map(toStatement);
}

/** Converts the amounts of a statement to numbers. A balance stays null if the file does not contain it. */
function toStatement<Row extends { opening: string | null; closing: string | null; booked: string }>(
  row: Row,
) {
  const toNumber = (text: string | null) => (text === null ? null : Number(text));
  return {
    ...row,
    opening: toNumber(row.opening),
    closing: toNumber(row.closing),
    booked: Number(row.booked),
  };
}

/**
 * Returns a statement, together with the previous statement of the same account and currency if there is one.
 *
 * @throws AppError not_found
 */
export async function getStatement(db: Database, id: number) {
  const [found] = await db
    .select(STATEMENT_COLUMNS)
    .from(s)
    .where(eq(s.id, Math.min(id, MAX_ID)));
  if (!found) throw new AppError('not_found', `There is no bank statement ${id}.`);
  const [before] = await db
    .select(STATEMENT_COLUMNS)
    .from(s)
    .where(
      and(
        ...[eq(s.account, found.account), eq(s.currency, found.currency)],
        or(lt(s.last_day, found.last_day), and(eq(s.last_day, found.last_day), lt(s.id, found.id))),
      ),
    )
    .orderBy(desc(s.last_day), desc(s.id))
    .limit(literal(1));
  return { ...toStatement(found), before: before ? toStatement(before) : null };
}

export type StatementRow = Awaited<ReturnType<typeof getStatement>>;

const ENTRY_COLUMNS = pickColumns(
  e,
  ...(['id', 'account', 'currency', 'day', 'amount', 'name', 'iban', 'purpose', 'bank_reference'] as const),
  ...(['is_return', 'state', 'transfer_id', 'payout_id'] as const),
  ...(['returned_transfer_id', 'returned_payment_id'] as const),
);

const toEntry = <Row extends { amount: string }>(row: Row) => toJsonAmounts(row, 'amount');

/** An entry, with its amount in major units. */
export type EntryRow = Awaited<ReturnType<typeof getEntry>>;

/** Returns an entry. @throws AppError not_found */
export async function getEntry(db: Database, id: number) {
  const [found] = await db
    .select(ENTRY_COLUMNS)
    .from(e)
    .where(eq(e.id, Math.min(id, MAX_ID)));
  if (!found) throw new AppError('not_found', `There is no bank entry ${id}.`);
  return toEntry(found);
}

/** Returns an entry that is not explained. @throws AppError not_found; conflict if it is explained */
export async function requireOpen(db: Database, id: number): Promise<EntryRow> {
  const entry = await getEntry(db, id);
  if (outcomeOf(entry) !== 'open') {
    throw new AppError('conflict', 'The entry was explained meanwhile.');
  }
  return entry;
}

/** The account, currency and days of a statement. One IBAN can have balances in several currencies. */
type Period = Pick<StatementRow, 'account' | 'currency' | 'first_day' | 'last_day'>;

/** Lists unexplained entries of a period. Incoming money comes first. */
export async function listOpenEntries(db: Database, period: Period, limit: number): Promise<EntryRow[]> {
  const found = await db
    .select(ENTRY_COLUMNS)
    .from(e)
    .where(and(inPeriod(period), isOpen))
    .orderBy(desc(sql`${e.amount} > 0`), asc(e.day), asc(e.id))
    .limit(literal(limit));
  return found.map(toEntry);
}

/** Counts the entries of a period: all, the unexplained ones, and the outgoing unexplained ones except returns. */
export async function countEntries(db: Database, period: Period) {
  const [found] = await db
    .select({
      all: count(),
      open: sql<number>`(count(*) filter (where ${isOpen}))::int`,
      outgoing: sql<number>`(count(*) filter (where ${isOpen} and ${e.amount} < 0 and not ${e.is_return}))::int`,
    })
    .from(e)
    .where(inPeriod(period));
  return found ?? { all: 0, open: 0, outgoing: 0 };
}

/** Returns one page of the explained entries of a period, the latest first, with the customers of booked entries. */
export async function listExplained(
  db: Database,
  period: Period,
  request: PageRequest,
): Promise<Page<ExplainedEntry>> {
  const where = and(inPeriod(period), sql`not (${isOpen})`);
  return readPage(
    request,
    ({ limit, offset }) => readExplained(db, where, limit, offset),
    () => db.$count(e, where),
  );
}

/** Columns of a Stripe payout that pages show. */
export const PAYOUT_COLUMNS = pickColumns(
  stripePayouts,
  ...(['id', 'stripe_payout_id', 'amount', 'currency', 'arrival_date', 'sums'] as const),
);

export type ExplainedEntry = Awaited<ReturnType<typeof readExplained>>[number];

async function readExplained(db: Database, where: SQL | undefined, limit: number, offset: number) {
  const found = await db
    .select({
      ...ENTRY_COLUMNS,
      customer: snippetColumns,
      recorded: transfers.amount,
      payout: PAYOUT_COLUMNS,
      /** Whether a later entry returned this entry's money. */
      is_returned: sql<boolean>`exists (select from ${e} later
        where later.returned_transfer_id = ${e}.transfer_id)`,
    })
    .from(e)
    .leftJoin(transfers, eq(transfers.id, e.transfer_id))
    .leftJoin(customers, eq(customers.id, transfers.customer_id))
    .leftJoin(stripePayouts, eq(stripePayouts.id, e.payout_id))
    .where(where)
    .orderBy(desc(e.day), desc(e.id))
    .limit(limit)
    .offset(offset);
  return found.map(({ customer, recorded, ...row }) => ({
    ...toEntry(row),
    customer: customer && toCustomerSnippet(customer),
    /** Amount of the linked transfer, which staff may have corrected. Null if the entry is not linked to a transfer. */
    recorded: recorded === null ? null : Number(recorded),
  }));
}

/** CSV export of bank entries, filtered by account, currency and day. */
export const entryList = defineList({
  table: e,
  filters: {
    account: filter(accountText, (account) => ({ where: eq(e.account, account) })),
    currency: filter(z.string(), (currency) => ({ where: eq(e.currency, currency) })),
    ...dayFilters(e.day),
  },
  orders: { date: sql`${e.day}` },
  sort: 'date',
  rows: (db, ids) => readExplained(db, inArray(e.id, ids), ids.length, 0),
  columns: [
    ...['id', 'account', 'currency', 'day', 'amount', 'name', 'iban', 'purpose', 'bank_reference'],
    ...['is_return', 'outcome', 'customer_number', 'transfer_id', 'payout', 'returned_transfer_id'],
    'returned_payment_id',
  ],
  toRecord: ({ customer, payout, ...row }) => ({
    ...row,
    outcome: outcomeOf(row),
    customer_number: customer?.customer_number ?? null,
    payout: payout?.stripe_payout_id ?? null,
  }),
});

/** Returns the outcome of an entry: `open`, `ignored`, `returned`, `booked` or `payout`. */
function outcomeOf(row: Pick<EntryRow, keyof typeof LINKS | 'state'>): string {
  const link = (Object.keys(LINKS) as (keyof typeof LINKS)[]).find((name) => row[name] !== null);
  return link ? LINKS[link] : row.state;
}

const LINKS = {
  transfer_id: 'booked',
  payout_id: 'payout',
  returned_transfer_id: 'returned',
  returned_payment_id: 'returned',
} as const;

/** A rule that assigns a sender's IBAN to a customer. */
export type RuleRow = Awaited<ReturnType<typeof listRules>>[number];

const MAX_RULES = 200;

/** Lists the newest 200 rules. */
export async function listRules(db: Database) {
  const found = await db
    .select({ ...pickColumns(bankRules, 'id', 'iban', 'actor_name'), customer: snippetColumns })
    .from(bankRules)
    .innerJoin(customers, eq(customers.id, bankRules.customer_id))
    .orderBy(desc(bankRules.id))
    .limit(literal(MAX_RULES));
  return found.map((row) => ({ ...row, customer: toCustomerSnippet(row.customer) }));
}
