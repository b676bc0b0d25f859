import { and, asc, desc, eq, gt, gte, inArray, isNull, lte, type SQL, sql } from 'drizzle-orm';
import { type Database, inTexts, pickColumns } from '@/db/database';
import { bankEntries, bankRules, customers, invoices, stripePayouts, transfers } from '@/db/schema';
import { findCustomers } from '../customers/find-customers';
import { hasOwnNumber } from '../customers/match-customer';
import { customerName, snippetColumns } from '../customers/queries';
import { customerQuery } from '../customers/schema';
import { toThousandths } from '../money';
import { literal } from '../page-query';
import { PAYOUT_DAYS } from '../sync/reconcile/payouts';
import {
  type Candidate,
  type ClosedInvoice,
  type Credit,
  joinedNumbersIn,
  matchPayouts,
  neighboursOf,
  numbersIn,
  type Proposal,
  propose,
} from './match';
import { type EntryRow, PAYOUT_COLUMNS } from './queries';

const e = bankEntries;

export interface ProposedEntry {
  entry: EntryRow;
  proposals: (Proposal & { customer: Candidate })[];
  /** The matching Stripe payout. An entry with a payout has no other proposal. */
  payout: FoundPayout | null;
}

/** Proposes customers and invoices, or Stripe payouts, for entries of one account and currency. */
export async function proposeFor(db: Database, entries: EntryRow[]): Promise<ProposedEntry[]> {
  const payouts = matchPayouts(entries, await readPayouts(db, entries), PAYOUT_DAYS);
  const { candidates, closed } = await findCandidates(
    db,
    entries.filter(({ id }) => !payouts.has(id)),
  );
  const byId = new Map(candidates.map((one) => [one.customer_id, one]));
  return entries.map((entry) => ({
    entry,
    payout: payouts.get(entry.id) ?? null,
    proposals: (payouts.has(entry.id) || !(entry.amount > 0)
      ? []
      : propose(toCredit(entry), candidates, closed)
    ).flatMap((one) => {
      const customer = byId.get(one.customer_id);
      return customer ? { ...one, customer } : [];
    }),
  }));
}

/** Returns the fields of an entry that proposals depend on, with the amount in thousandths. */
const toCredit = ({ amount, name, iban, purpose }: EntryRow): Credit => ({
  amount: Math.round(amount * 1000),
  name: name || null,
  iban: iban || null,
  purpose,
});

/** A Stripe payout that may match an entry. */
export type FoundPayout = Awaited<ReturnType<typeof readPayouts>>[number];

const MAX_PAYOUTS = 1000;

/** Lists the unlinked payouts whose currency and arrival date may match an entry. */
async function readPayouts(db: Database, entries: EntryRow[]) {
  const days = entries.map(({ day }) => day).sort();
  const [first, last, currency] = [days[0], days.at(-1), entries[0]?.currency];
  if (first === undefined || last === undefined || currency === undefined) return [];
  const { before, after } = PAYOUT_DAYS;
  return db
    .select(PAYOUT_COLUMNS)
    .from(stripePayouts)
    .leftJoin(e, eq(e.payout_id, stripePayouts.id))
    .where(
      and(
        ...[isNull(e.id), eq(stripePayouts.currency, currency)],
        gte(stripePayouts.arrival_date, sql`${first}::date - ${literal(after)}`),
        lte(stripePayouts.arrival_date, sql`${last}::date + ${literal(before)}`),
      ),
    )
    .orderBy(desc(stripePayouts.arrival_date), desc(stripePayouts.id))
    .limit(literal(MAX_PAYOUTS));
}

const MAX_CANDIDATES = 2000;
/** Maximum number of names to search for. Each name needs a query. */
const MAX_NAMES = 25;
const MAX_NUMBERS = 40_000;

/**
 * Finds the customers who may have sent the money of these entries, with their unpaid invoices. Also finds the invoices
 * that the texts name and the entries cannot pay.
 */
async function findCandidates(db: Database, entries: EntryRow[]) {
  const credits = entries.filter(({ amount }) => amount > 0);
  const [first] = credits;
  if (!first) return { candidates: [], closed: [] };
  const ibans = [...new Set(credits.map(({ iban }) => iban).filter(Boolean))];
  const ruled = await listRuleOwners(db, ibans);
  const payers = await listKnownOwners(db, ibans);
  const readOwners = (where: SQL) =>
    db
      .select({ id: invoices.customer_id, number: invoices.number })
      .from(invoices)
      .where(and(isPayable(first.currency), where))
      .orderBy(asc(invoices.due_date), asc(invoices.id))
      .limit(literal(MAX_CANDIDATES));
  const readNumbered = async (numbers: string[]) => [
    ...(await readOwners(inTexts(invoices.number, numbers))),
    ...(await db
      .select({ id: customers.id, number: customers.customer_number })
      .from(customers)
      .where(and(isNull(customers.erased_at), hasOwnNumber(numbers)))
      .limit(literal(MAX_CANDIDATES))),
  ];
  const textOf = ({ purpose, name }: EntryRow) => `${purpose} ${name}`;
  const textsOf = (entry: EntryRow) => numbersIn(textOf(entry));
  const numbers = [...new Set(credits.flatMap(textsOf))];
  const whole = await readNumbered(numbers);
  const toNumbers = (found: typeof whole) => new Set(found.map(({ number }) => number?.toUpperCase()));
  const known = toNumbers(whole);
  // Part of a known number is not another number, even if an invoice has it.
  const joinedOf = (one: EntryRow) => {
    const found = textsOf(one).filter((text) => known.has(text));
    return joinedNumbersIn(textOf(one)).filter(
      (text) => !found.some((number) => number.includes(text.toUpperCase())),
    );
  };
  const joined = [...new Set(credits.flatMap(joinedOf))].slice(0, MAX_NUMBERS);
  const named = [...whole, ...(await readNumbered(joined))];
  const payable = toNumbers(named);
  // Stripe's invoice can have the number of one of our own.
  const unpayable = await readClosed(db, [...numbers, ...joined], first);
  const closed = unpayable.filter(({ number }) => !payable.has(number.toUpperCase()));
  // A number has hundreds of spellings with one typing error. Search for them only for credits without a payable number,
  // and only in capitals.
  const correct = new Set(closed.map(({ number }) => number.toUpperCase()));
  const isUnclear = (text: string) => text === text.toUpperCase() && !correct.has(text);
  const unclear = credits.flatMap((one) =>
    textsOf(one).some((text) => known.has(text)) ? [] : textsOf(one).filter(isUnclear),
  );
  const nearby = await readNumbered([...new Set(unclear.flatMap(neighboursOf))].slice(0, MAX_NUMBERS));
  const byAmount = await readOwners(
    inTexts(
      invoices.amount_due,
      credits.map(({ amount }) => String(amount)),
      (text) => sql`${text}::numeric`,
    ),
  );
  const byName: { id: number }[] = [];
  for (const name of [...new Set(credits.map((one) => one.name))].slice(0, MAX_NAMES)) {
    const query = customerQuery.safeParse(name);
    if (query.success) byName.push(...(await findCustomers(db, query.data)).matches);
  }
  const ids = [...ruled, ...payers, ...named, ...nearby, ...byAmount, ...byName].map(({ id }) => id);
  const wanted = [...new Set(ids)].slice(0, MAX_CANDIDATES);
  const { currency } = first;
  const about = { currency, ruled, payers, named: toNumbers([...named, ...nearby]) };
  return { candidates: await toCandidates(db, wanted, about), closed };
}

/** Reads the invoices with these numbers that an entry cannot pay. */
async function readClosed(db: Database, numbers: string[], entry: EntryRow): Promise<ClosedInvoice[]> {
  const found = await db
    .select(pickColumns(invoices, 'number', 'status', 'currency', 'stripe_invoice_id'))
    .from(invoices)
    .where(and(inTexts(invoices.number, numbers), sql`not (${isPayable(entry.currency)})`))
    .limit(literal(MAX_CANDIDATES));
  return found.flatMap((invoice) => {
    const problem = problemOf(invoice, entry);
    return invoice.number === null || problem === null ? [] : { number: invoice.number, problem };
  });
}

/** Returns why an entry cannot pay an invoice. Returns null if it can. */
export function problemOf(
  invoice: { stripe_invoice_id: string | null; currency: string; status: string },
  { currency }: EntryRow,
): string | null {
  if (invoice.stripe_invoice_id !== null) return 'of Stripe';
  if (invoice.currency !== currency)
    return `in ${invoice.currency.toUpperCase()}, and the entry is in ${currency.toUpperCase()}`;
  return ['sent', 'overdue'].includes(invoice.status) ? null : `that is ${invoice.status}`;
}

/** Condition for the invoices that an entry in this currency can pay: unpaid ones, except Stripe's. */
export const isPayable = (currency: string) =>
  and(
    sql`${invoices.status} in ('sent', 'overdue') and ${invoices.stripe_invoice_id} is null`,
    eq(invoices.currency, currency),
  );

interface IbanOwner {
  id: number;
  iban: string;
}

export function listRuleOwners(db: Database, ibans: string[]): Promise<IbanOwner[]> {
  return db
    .select({ id: bankRules.customer_id, iban: bankRules.iban })
    .from(bankRules)
    .where(inTexts(bankRules.iban, ibans));
}

export function listKnownOwners(db: Database, ibans: string[]): Promise<IbanOwner[]> {
  return db
    .selectDistinct({ id: transfers.customer_id, iban: e.iban })
    .from(e)
    .innerJoin(transfers, eq(transfers.id, e.transfer_id))
    .where(and(inTexts(e.iban, ibans), sql`${e.iban} <> ''`, gt(e.amount, '0')))
    .limit(literal(MAX_CANDIDATES));
}

/** Maximum number of unpaid invoices of each customer to compare, besides those that the entries name. */
const MAX_INVOICES = 50;

async function toCandidates(
  db: Database,
  ids: number[],
  {
    currency,
    ruled,
    payers,
    named,
  }: { currency: string; ruled: IbanOwner[]; payers: IbanOwner[]; named: Set<string | undefined> },
): Promise<Candidate[]> {
  const people = await db
    .select(snippetColumns)
    .from(customers)
    .where(and(inArray(customers.id, ids), isNull(customers.erased_at)));
  const unpaid = await db
    .select({
      ...pickColumns(invoices, 'id', 'number', 'customer_id', 'amount_due'),
      rank: sql<number>`(row_number() over (partition by ${invoices.customer_id} order by ${invoices.due_date}, ${invoices.id}))::int`,
    })
    .from(invoices)
    .where(and(inArray(invoices.customer_id, ids), isPayable(currency)))
    .orderBy(asc(invoices.due_date), asc(invoices.id));
  const invoicesOf = new Map<number, Candidate['invoices']>();
  for (const { id, number, customer_id, amount_due, rank } of unpaid) {
    if (rank > MAX_INVOICES && !named.has(number?.toUpperCase())) continue;
    const its = invoicesOf.get(customer_id) ?? [];
    its.push({ id, number, amount: toThousandths(amount_due) });
    invoicesOf.set(customer_id, its);
  }
  const ibansOf = (all: IbanOwner[], customer: number) =>
    all.flatMap(({ id, iban }) => (id === customer ? iban : []));
  return people.map((person) => ({
    customer_id: person.id,
    customer_number: person.customer_number,
    names: [customerName(person), [person.first_name, person.last_name].filter(Boolean).join(' ')].filter(
      Boolean,
    ),
    ruled: ibansOf(ruled, person.id),
    known: ibansOf(payers, person.id),
    invoices: invoicesOf.get(person.id) ?? [],
  }));
}
