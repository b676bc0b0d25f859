import { and, asc, desc, eq, ilike, inArray, like, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { PgColumn, PgTable, SelectedFields } from 'drizzle-orm/pg-core';
import type { Database } from '@/db/database';
import {
  customerServices,
  customers,
  invoices,
  payments,
  salesDocuments,
  stripeCustomers,
  stripeEvents,
  subscriptionItems,
  subscriptions,
} from '@/db/schema';
import { hasNumber, idAfterHash, matchMention, matchNumbered, spellings } from '../customers/match-customer';
import { customerName, matchRank, snippetColumns, toCustomerSnippet } from '../customers/queries';
import { matchInvoice } from '../invoices/queries';
import { toJsonAmount } from '../money';
import { literal } from '../page-query';
import { normalReference } from '../payments/schema';
import { typedAmounts } from '../read-amount';
import { hasTrigram, indexedPatterns, prefixPattern, wholePattern } from '../search-text';
import { listServers, matches, type ServerRow } from '../servers/queries';
import { MAX_HITS, type SearchHit } from './schema';

/** Hits of one kind of record. */
export interface Found {
  hits: SearchHit[];
  /** Number of exact hits. They come first. */
  exact: number;
  more: boolean;
}

/**
 * Reads the exact hits, then other hits only while there are too few.
 *
 * @param exact reads at most `limit` hits whose number, name or id equals the text
 * @param others read partial matches, the cheapest query first; they may return a hit again
 */
async function collect(exact: Read, ...others: Read[]): Promise<Found> {
  const named = await exact(MAX_HITS + 1);
  const found = new Map(named.map((hit) => [hit.id, hit]));
  for (const read of others) {
    if (found.size > MAX_HITS) break;
    for (const hit of await read(MAX_HITS + 1 + found.size)) found.set(hit.id, found.get(hit.id) ?? hit);
  }
  return {
    hits: [...found.values()].slice(0, MAX_HITS),
    exact: Math.min(named.length, MAX_HITS),
    more: found.size > MAX_HITS,
  };
}

type Read = (limit: number) => Promise<SearchHit[]>;

/** Maximum number of matches to sort. With more matches, the best hits are chosen among this many only. */
const CANDIDATES = 500;

/** Declaration of the query for one kind of hit. */
interface HitKind<Columns extends SelectedFields> {
  table: PgTable & { id: PgColumn; customer_id?: PgColumn };
  /** Columns to select. They can include `customer` if the table has a `customer_id`. */
  columns: Columns;
  join?: { table: PgTable; on: SQL };
  order: SQLWrapper[];
  toHit(record: Selected<Columns>): SearchHit;
}

/** Row type of the selected columns. */
type Selected<Columns> = {
  [name in keyof Columns]: Columns[name] extends PgColumn
    ? Columns[name]['_']['notNull'] extends true
      ? Columns[name]['_']['data']
      : Columns[name]['_']['data'] | null
    : typeof customers.$inferSelect;
};

/** Makes the queries for one kind of hit. */
function hitsOf<Columns extends SelectedFields>({ table, columns, join, order, toHit }: HitKind<Columns>) {
  async function read(db: Database, where: SQL | undefined, limit: number, first: SQL[] = []) {
    const query = db
      .select(columns as SelectedFields)
      .from(table)
      .$dynamic();
    if (join) query.innerJoin(join.table, join.on);
    if (table.customer_id) query.innerJoin(customers, eq(customers.id, table.customer_id));
    const rows = await query
      .where(where)
      .orderBy(...first, ...order.map((by) => sql`${by}`))
      .limit(literal(limit));
    return rows.map((row) => toHit(row as Selected<Columns>));
  }
  return {
    /** Reads the hits that match a condition. */
    read,
    /** Reads the best hits among the first `CANDIDATES` matches. Returns no hits without a condition. */
    async best(db: Database, where: SQL | undefined, limit: number, first?: SQL[]): Promise<SearchHit[]> {
      if (!where) return [];
      const some = db.select({ id: table.id }).from(table).where(where).limit(literal(CANDIDATES));
      return read(db, inArray(table.id, some), limit, first);
    },
  };
}

type Customer = Parameters<typeof customerName>[0] & { customer_number: string };

/** Returns the name of a record's customer, or the number of a customer without a name. */
const nameOf = (customer: Customer) => customerName(customer) || customer.customer_number;

const joined = (...parts: (string | null | undefined)[]) => parts.filter(Boolean).join(' · ');

const figureOf = (amount: string, currency: string) => ({ amount: toJsonAmount(amount), currency });

const customerHits = hitsOf({
  table: customers,
  columns: snippetColumns,
  order: [customers.customer_number],
  toHit(record) {
    const { id, name, customer_number, email, status } = toCustomerSnippet(record);
    const detail = joined(name && customer_number, email);
    return { kind: 'customer', id, title: name || customer_number, detail, status };
  },
});

/** Finds customers by number, e-mail address or Stripe id, then by parts of number, name, company or e-mail address. */
export function findCustomerHits(db: Database, text: string): Promise<Found> {
  const best = (mention: SQL | undefined) => (limit: number) =>
    customerHits.best(db, mention, limit, [matchRank(text)]);
  return collect(
    (limit) => customerHits.read(db, namesCustomer(db, text), limit, [asc(customers.id)]),
    best(matchMention(text)),
    best(mentionsAll(text)),
  );
}

/** Matches customers that contain all words, in any order and any field. Undefined for fewer than two words. */
function mentionsAll(text: string): SQL | undefined {
  const words = text.split(/\s+/).filter(hasTrigram).slice(0, MAX_NAME_WORDS);
  return words.length > 1 ? and(...words.map(matchMention)) : undefined;
}

const MAX_NAME_WORDS = 5;

function namesCustomer(db: Database, text: string): SQL | undefined {
  const linked = db
    .select({ id: stripeCustomers.customer_id })
    .from(stripeCustomers)
    .where(eq(stripeCustomers.stripe_customer_id, text));
  const id = idAfterHash(text);
  if (id !== null) return eq(customers.id, id);
  if (text.startsWith('cus_')) return inArray(customers.id, linked);
  return or(hasNumber(spellings(text)), eq(sql`lower(${customers.email})`, text.toLowerCase()));
}

const s = customerServices;
const serviceHits = hitsOf({
  table: s,
  columns: {
    ...{ id: s.id, number: s.service_number, name: s.name, domain: s.domain, status: s.status },
    customer: snippetColumns,
  },
  order: [asc(s.service_number)],
  toHit: ({ id, number, name, domain, status, customer }) => ({
    ...{ kind: 'service', id, status },
    title: joined(number, domain),
    detail: [name, nameOf(customer)].join(' · '),
  }),
});

/** Finds services by number or domain, then by the start or end of the number, or by a part of the domain. */
export function findServiceHits(db: Database, text: string): Promise<Found> {
  const others = or(
    ...beginnings(text).map((start) => like(s.service_number, start)),
    ...endings(s.service_number, text),
    ...indexedPatterns(text, ['.', '-']).map((pattern) => ilike(s.domain, pattern)),
  );
  const domain = text.includes('.') ? ilike(s.domain, wholePattern(text)) : undefined;
  const id = idAfterHash(text);
  const isNamed = id === null ? or(inArray(s.service_number, spellings(text)), domain) : eq(s.id, id);
  return collect(
    (limit) => serviceHits.read(db, isNamed, limit),
    (limit) => serviceHits.best(db, others, limit),
  );
}

/** Finds servers by host name or IP address, then by parts of other fields. It reads all, because servers are few. */
export async function findServerHits(db: Database, text: string): Promise<Found> {
  const all = await listServers(db);
  const id = idAfterHash(text);
  const wanted = text.toLowerCase();
  const hits =
    (isHit: (server: ServerRow) => boolean): Read =>
    async (limit) =>
      all.filter(isHit).slice(0, limit).map(toServerHit);
  return collect(
    hits((server) => server.id === id || [server.hostname, ...server.ipv4, ...server.ipv6].includes(wanted)),
    hits((server) => matches(server, { q: text })),
  );
}

function toServerHit({ id, hostname, ipv4, location, status }: ServerRow): SearchHit {
  return { kind: 'server', id, title: hostname, detail: joined(ipv4[0], location), status };
}

const subscriptionHits = hitsOf({
  table: subscriptions,
  columns: {
    ...{
      id: subscriptions.id,
      stripe_id: subscriptions.stripe_subscription_id,
      status: subscriptions.status,
    },
    customer: snippetColumns,
  },
  order: [desc(subscriptions.id)],
  toHit: ({ id, stripe_id, status, customer }) => ({
    ...{ kind: 'subscription', id, status },
    title: `Subscription ${id}`,
    detail: joined(nameOf(customer), stripe_id),
  }),
});

/** Finds subscriptions by our id, by Stripe id, or by the Stripe id of an item. */
export function findSubscriptionHits(db: Database, text: string): Promise<Found> {
  return collect((limit) => subscriptionHits.read(db, namesSubscription(db, text), limit));
}

function namesSubscription(db: Database, text: string): SQL {
  const id = idAfterHash(text);
  if (id !== null) return eq(subscriptions.id, id);
  if (!text.startsWith('si_')) return eq(subscriptions.stripe_subscription_id, text);
  const holding = db
    .select({ id: subscriptionItems.subscription_id })
    .from(subscriptionItems)
    .where(eq(subscriptionItems.stripe_subscription_item_id, text));
  return inArray(subscriptions.id, holding);
}

const i = invoices;
const invoiceHits = hitsOf({
  table: i,
  columns: {
    ...{ id: i.id, number: i.number, status: i.status, total: i.total, currency: i.currency },
    customer: snippetColumns,
  },
  order: [desc(i.invoice_date), desc(i.id)],
  toHit: ({ id, number, status, total, currency, customer }) => ({
    ...{ kind: 'invoice', id, status },
    title: number ?? `#${id}`,
    detail: nameOf(customer),
    figure: figureOf(total, currency),
  }),
});

/** Finds invoices by number or Stripe id, then by total, then by the start or end of the number. */
export function findInvoiceHits(db: Database, text: string): Promise<Found> {
  const isNamed = text.startsWith('in_') ? eq(i.stripe_invoice_id, text) : matchInvoice(text);
  const starts = beginnings(text).map((start) => like(i.number, start));
  return collect(
    (limit) => invoiceHits.read(db, isNamed, limit),
    (limit) => invoiceHits.best(db, isAmount(i.total, text), limit),
    (limit) => invoiceHits.best(db, or(...starts), limit),
    (limit) => invoiceHits.best(db, or(...endings(i.number, text)), limit),
  );
}

const p = payments;
const paymentHits = hitsOf({
  table: p,
  columns: {
    ...{ id: p.id, reference: p.payment_reference, status: p.status, amount: p.amount, currency: p.currency },
    ...{ number: invoices.number, customer: snippetColumns },
  },
  join: { table: invoices, on: eq(invoices.id, p.invoice_id) },
  order: [desc(p.payment_date), desc(p.id)],
  toHit: ({ id, reference, status, amount, currency, number, customer }) => ({
    ...{ kind: 'payment', id, status },
    title: reference,
    detail: joined(nameOf(customer), number),
    figure: figureOf(amount, currency),
  }),
});

/** Finds payments by reference or Stripe payment intent, then by amount, then by a part of the reference. */
export function findPaymentHits(db: Database, typed: string): Promise<Found> {
  const text = normalReference(typed);
  const patterns = indexedPatterns(text, []);
  return collect(
    (limit) => paymentHits.read(db, namesPayment(text), limit),
    (limit) => paymentHits.best(db, isAmount(p.amount, typed), limit),
    // A frequent part is found quickly among the latest payments. A rare part is found quickly by the index.
    (limit) => readAlikePayments(db, latestPayments(db), patterns, limit),
    (limit) => readAlikePayments(db, payments, patterns, limit),
  );
}

const LATEST_PAYMENTS = 20_000;

function latestPayments(db: Database) {
  return db
    .select({ id: p.id, payment_reference: p.payment_reference })
    .from(p)
    .orderBy(desc(p.id))
    .limit(literal(LATEST_PAYMENTS))
    .as('latest');
}

async function readAlikePayments(
  db: Database,
  among: typeof payments | ReturnType<typeof latestPayments>,
  patterns: string[],
  limit: number,
): Promise<SearchHit[]> {
  if (patterns.length === 0) return [];
  const some = db
    .select({ id: among.id })
    .from(among)
    .where(or(...patterns.map((pattern) => ilike(among.payment_reference, pattern))))
    .limit(literal(CANDIDATES));
  return paymentHits.read(db, inArray(p.id, some), limit);
}

function namesPayment(text: string): SQL | undefined {
  const id = idAfterHash(text);
  return or(
    inArray(p.payment_reference, [...new Set([text, text.toUpperCase(), text.toLowerCase()])]),
    id === null ? undefined : eq(p.id, id),
    text.startsWith('pi_') ? eq(p.stripe_payment_intent_id, text) : undefined,
  );
}

const d = salesDocuments;
const documentHits = hitsOf({
  table: d,
  columns: {
    ...{ id: d.id, number: d.document_number, type: d.type, status: d.status, total: d.total },
    ...{ currency: d.currency, customer: snippetColumns },
  },
  order: [desc(d.document_date), desc(d.id)],
  toHit: ({ id, number, type, status, total, currency, customer }) => ({
    ...{ kind: 'sales_document', id, status },
    title: number,
    detail: [type.replace('_', ' '), nameOf(customer)].join(' · '),
    figure: figureOf(total, currency),
  }),
});

/** Finds offers and order confirmations by number, then by the start or end of the number. */
export function findDocumentHits(db: Database, text: string): Promise<Found> {
  const others = or(
    ...beginnings(text).map((start) => like(d.document_number, start)),
    ...endings(d.document_number, text),
  );
  const isNamed = matchNumbered({ id: d.id, number: d.document_number }, text);
  return collect(
    (limit) => documentHits.read(db, isNamed, limit),
    (limit) => documentHits.best(db, others, limit),
  );
}

const e = stripeEvents;
const eventHits = hitsOf({
  table: e,
  columns: { id: e.id, type: e.type, object_id: e.object_id, status: e.outcome },
  order: [desc(e.stripe_created), desc(e.id)],
  toHit: ({ id, type, object_id, status }) => ({
    ...{ kind: 'event', id, title: type, status },
    detail: joined(id, object_id),
  }),
});

/** Finds events by id, or by the id of a checkout session, since we store nothing else of a checkout session. */
export function findEventHits(db: Database, text: string): Promise<Found> {
  const column = text.startsWith('evt_') ? e.id : text.startsWith('cs_') ? e.object_id : null;
  return collect(async (limit) => (column ? eventHits.read(db, eq(column, text), limit) : []));
}

/** Matches rows with an amount that the text can stand for. Undefined if the text is not an amount. */
function isAmount(column: PgColumn, text: string): SQL | undefined {
  const amounts = typedAmounts(text);
  return amounts.length === 0 ? undefined : inArray(column, amounts);
}

/** Returns LIKE patterns for numbers that start with the text, one for each spelling. */
function beginnings(text: string): string[] {
  return spellings(text)
    .filter((start) => start !== '')
    .map(prefixPattern);
}

/** Minimum length of a searched ending. Shorter endings match too many numbers. */
const SHORTEST_ENDING = 3;

/** Matches numbers that end with the text. Uses the index on the reversed number. */
function endings(number: SQLWrapper, text: string): SQL[] {
  if (text.length < SHORTEST_ENDING) return [];
  return spellings(text).map(
    (end) => sql`reverse(${number}) like ${prefixPattern([...end].reverse().join(''))}`,
  );
}
