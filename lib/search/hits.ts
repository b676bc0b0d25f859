import { and, asc, desc, eq, ilike, inArray, like, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
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

/** What a kind of record has for a text. */
export interface Found {
  hits: SearchHit[];
  /** How many of them, at the start, the text names as a whole. */
  exact: number;
  more: boolean;
}

/**
 * Asks for those that the text names, then for others only while there are too few.
 *
 * @param exact at most `limit` hits that the text names as a whole
 * @param others the cheapest first; each may meet hits again that were met before
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

/** So many matches are looked at to find the best of them, however many there are. */
const CANDIDATES = 500;

/** By number, e-mail address or Stripe's id; then by part of number, name, company or address. */
export function findCustomerHits(db: Database, text: string): Promise<Found> {
  const mention = matchMention(text);
  const words = mentionsAll(text);
  return collect(
    (limit) => readCustomers(db, namesCustomer(db, text), asc(customers.id), limit),
    async (limit) => (mention ? readBestCustomers(db, mention, text, limit) : []),
    async (limit) => (words ? readBestCustomers(db, words, text, limit) : []),
  );
}

/** Those that have each of several words, in any order and in any field; undefined where there are not several. */
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

function readBestCustomers(db: Database, mention: SQL, text: string, limit: number) {
  const some = db.select({ id: customers.id }).from(customers).where(mention).limit(literal(CANDIDATES));
  return readCustomers(db, inArray(customers.id, some), matchRank(text), limit);
}

async function readCustomers(
  db: Database,
  where: SQL | undefined,
  order: SQL,
  limit: number,
): Promise<SearchHit[]> {
  const rows = await db
    .select(snippetColumns)
    .from(customers)
    .where(where)
    .orderBy(order, customers.customer_number)
    .limit(literal(limit));
  return rows.map(toCustomerSnippet).map(({ id, name, customer_number, email, status }) => ({
    kind: 'customer',
    id,
    title: name || customer_number,
    detail: [name && customer_number, email].filter(Boolean).join(' · '),
    status,
  }));
}

const s = customerServices;

/** By number or domain; then those whose number starts or ends with the text, or whose domain holds it. */
export function findServiceHits(db: Database, text: string): Promise<Found> {
  const others = or(
    ...beginnings(text).map((start) => like(s.service_number, start)),
    ...endings(s.service_number, text),
    ...indexedPatterns(text, ['.', '-']).map((pattern) => ilike(s.domain, pattern)),
  );
  const some = db.select({ id: s.id }).from(s).where(others).limit(literal(CANDIDATES));
  return collect(
    (limit) => readServices(db, namesService(text), limit),
    async (limit) => (others ? readServices(db, inArray(s.id, some), limit) : []),
  );
}

function namesService(text: string): SQL | undefined {
  const id = idAfterHash(text);
  if (id !== null) return eq(s.id, id);
  const domain = text.includes('.') ? ilike(s.domain, wholePattern(text)) : undefined;
  return or(inArray(s.service_number, spellings(text)), domain);
}

async function readServices(db: Database, where: SQL | undefined, limit: number): Promise<SearchHit[]> {
  const rows = await db
    .select({
      id: s.id,
      service_number: s.service_number,
      name: s.name,
      domain: s.domain,
      status: s.status,
      customer: snippetColumns,
    })
    .from(s)
    .innerJoin(customers, eq(customers.id, s.customer_id))
    .where(where)
    .orderBy(asc(s.service_number))
    .limit(literal(limit));
  return rows.map(({ id, service_number, name, domain, status, customer }) => ({
    kind: 'service',
    id,
    title: [service_number, domain].filter(Boolean).join(' · '),
    detail: [name, customerName(customer) || customer.customer_number].join(' · '),
    status,
  }));
}

/** By host name or address; then by part of one of them, of the system, or of the location. There are few. */
export async function findServerHits(db: Database, text: string): Promise<Found> {
  const all = await listServers(db);
  const id = idAfterHash(text);
  const wanted = text.toLowerCase();
  const isNamed = (server: ServerRow) =>
    server.id === id || [server.hostname, ...server.ipv4, ...server.ipv6].includes(wanted);
  return collect(
    async (limit) => all.filter(isNamed).slice(0, limit).map(toServerHit),
    async (limit) =>
      all
        .filter((server) => matches(server, { q: text }))
        .slice(0, limit)
        .map(toServerHit),
  );
}

function toServerHit({ id, hostname, ipv4, location, status }: ServerRow): SearchHit {
  return {
    kind: 'server',
    id,
    title: hostname,
    detail: [ipv4[0], location].filter(Boolean).join(' · '),
    status,
  };
}

/** By our id, or by Stripe's id of the subscription or of one of its items. */
export function findSubscriptionHits(db: Database, text: string): Promise<Found> {
  return collect((limit) => readSubscriptions(db, namesSubscription(db, text), limit));
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

async function readSubscriptions(db: Database, where: SQL, limit: number): Promise<SearchHit[]> {
  const rows = await db
    .select({
      id: subscriptions.id,
      stripe_id: subscriptions.stripe_subscription_id,
      status: subscriptions.status,
      customer: snippetColumns,
    })
    .from(subscriptions)
    .innerJoin(customers, eq(customers.id, subscriptions.customer_id))
    .where(where)
    .orderBy(desc(subscriptions.id))
    .limit(literal(limit));
  return rows.map(({ id, stripe_id, status, customer }) => ({
    kind: 'subscription',
    id,
    title: `Subscription ${id}`,
    detail: [customerName(customer) || customer.customer_number, stripe_id].filter(Boolean).join(' · '),
    status,
  }));
}

/** By number or Stripe's id; then those whose number starts or ends with the text, or whose total it is. */
export function findInvoiceHits(db: Database, text: string): Promise<Found> {
  const isNamed = text.startsWith('in_') ? eq(invoices.stripe_invoice_id, text) : matchInvoice(text);
  const amounts = typedAmounts(text);
  const starts = beginnings(text).map((start) => like(invoices.number, start));
  const readSome = async (where: SQL | undefined, limit: number) => {
    const some = db.select({ id: invoices.id }).from(invoices).where(where).limit(literal(CANDIDATES));
    return where ? readInvoices(db, inArray(invoices.id, some), limit) : [];
  };
  return collect(
    (limit) => readInvoices(db, isNamed, limit),
    (limit) => readSome(amounts.length === 0 ? undefined : inArray(invoices.total, amounts), limit),
    (limit) => readSome(or(...starts), limit),
    (limit) => readSome(or(...endings(invoices.number, text)), limit),
  );
}

async function readInvoices(db: Database, where: SQL, limit: number): Promise<SearchHit[]> {
  const rows = await db
    .select({
      id: invoices.id,
      number: invoices.number,
      status: invoices.status,
      total: invoices.total,
      currency: invoices.currency,
      customer: snippetColumns,
    })
    .from(invoices)
    .innerJoin(customers, eq(customers.id, invoices.customer_id))
    .where(where)
    .orderBy(desc(invoices.invoice_date), desc(invoices.id))
    .limit(literal(limit));
  return rows.map(({ id, number, status, total, currency, customer }) => ({
    kind: 'invoice',
    id,
    title: number ?? `#${id}`,
    detail: customerName(customer) || customer.customer_number,
    status,
    figure: { amount: toJsonAmount(total), currency },
  }));
}

/** By reference or Stripe's payment intent; then by amount, and by part of the reference. */
export function findPaymentHits(db: Database, typed: string): Promise<Found> {
  const text = normalReference(typed);
  const patterns = indexedPatterns(text, []);
  return collect(
    (limit) => readPayments(db, namesPayment(text), limit),
    (limit) => readPaymentsOfAmount(db, typedAmounts(typed), limit),
    // A part that many have is found at once among the latest; one that few have, by the index.
    (limit) => readAlikePayments(db, latestPayments(db), patterns, limit),
    (limit) => readAlikePayments(db, payments, patterns, limit),
  );
}

async function readPaymentsOfAmount(db: Database, amounts: string[], limit: number): Promise<SearchHit[]> {
  if (amounts.length === 0) return [];
  const some = db
    .select({ id: payments.id })
    .from(payments)
    .where(inArray(payments.amount, amounts))
    .limit(literal(CANDIDATES));
  return readPayments(db, inArray(payments.id, some), limit);
}

const LATEST_PAYMENTS = 20_000;

function latestPayments(db: Database) {
  return db
    .select({ id: payments.id, payment_reference: payments.payment_reference })
    .from(payments)
    .orderBy(desc(payments.id))
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
  return readPayments(db, inArray(payments.id, some), limit);
}

function namesPayment(text: string): SQL | undefined {
  const id = idAfterHash(text);
  return or(
    inArray(payments.payment_reference, [...new Set([text, text.toUpperCase(), text.toLowerCase()])]),
    id === null ? undefined : eq(payments.id, id),
    text.startsWith('pi_') ? eq(payments.stripe_payment_intent_id, text) : undefined,
  );
}

async function readPayments(db: Database, where: SQL | undefined, limit: number): Promise<SearchHit[]> {
  const rows = await db
    .select({
      id: payments.id,
      reference: payments.payment_reference,
      status: payments.status,
      amount: payments.amount,
      currency: payments.currency,
      number: invoices.number,
      customer: snippetColumns,
    })
    .from(payments)
    .innerJoin(invoices, eq(invoices.id, payments.invoice_id))
    .innerJoin(customers, eq(customers.id, payments.customer_id))
    .where(where)
    .orderBy(desc(payments.payment_date), desc(payments.id))
    .limit(literal(limit));
  return rows.map(({ id, reference, status, amount, currency, number, customer }) => ({
    kind: 'payment',
    id,
    title: reference,
    detail: [customerName(customer) || customer.customer_number, number].filter(Boolean).join(' · '),
    status,
    figure: { amount: toJsonAmount(amount), currency },
  }));
}

const d = salesDocuments;

/** Offers and order confirmations by number; then those whose number starts or ends with the text. */
export function findDocumentHits(db: Database, text: string): Promise<Found> {
  const others = or(
    ...beginnings(text).map((start) => like(d.document_number, start)),
    ...endings(d.document_number, text),
  );
  const some = db.select({ id: d.id }).from(d).where(others).limit(literal(CANDIDATES));
  return collect(
    (limit) => readDocuments(db, matchNumbered({ id: d.id, number: d.document_number }, text), limit),
    async (limit) => (others ? readDocuments(db, inArray(d.id, some), limit) : []),
  );
}

async function readDocuments(db: Database, where: SQL, limit: number): Promise<SearchHit[]> {
  const rows = await db
    .select({
      id: d.id,
      number: d.document_number,
      type: d.type,
      status: d.status,
      total: d.total,
      currency: d.currency,
      customer: snippetColumns,
    })
    .from(d)
    .innerJoin(customers, eq(customers.id, d.customer_id))
    .where(where)
    .orderBy(desc(d.document_date), desc(d.id))
    .limit(literal(limit));
  return rows.map(({ id, number, type, status, total, currency, customer }) => ({
    kind: 'sales_document',
    id,
    title: number,
    detail: [type.replace('_', ' '), customerName(customer) || customer.customer_number].join(' · '),
    status,
    figure: { amount: toJsonAmount(total), currency },
  }));
}

/** By its id, or by that of a checkout session, of which we keep nothing but its events. */
export function findEventHits(db: Database, text: string): Promise<Found> {
  const column = { evt_: stripeEvents.id, cs_: stripeEvents.object_id };
  const [, prefix] = /^(evt_|cs_)/.exec(text) ?? [];
  return collect(async (limit) =>
    prefix ? readEvents(db, eq(column[prefix as keyof typeof column], text), limit) : [],
  );
}

async function readEvents(db: Database, where: SQL, limit: number): Promise<SearchHit[]> {
  const rows = await db
    .select({
      id: stripeEvents.id,
      type: stripeEvents.type,
      object_id: stripeEvents.object_id,
      outcome: stripeEvents.outcome,
    })
    .from(stripeEvents)
    .where(where)
    .orderBy(desc(stripeEvents.stripe_created), desc(stripeEvents.id))
    .limit(literal(limit));
  return rows.map(({ id, type, object_id, outcome }) => ({
    kind: 'event',
    id,
    title: type,
    detail: [id, object_id].filter(Boolean).join(' · '),
    status: outcome,
  }));
}

/** LIKE patterns for numbers that start with a text, as they are written. */
function beginnings(text: string): string[] {
  return spellings(text)
    .filter((start) => start !== '')
    .map(prefixPattern);
}

/** Shorter endings are those of too many. */
const SHORTEST_ENDING = 3;

/** Numbers that end in a text, by the index over their reverse. */
function endings(number: SQLWrapper, text: string): SQL[] {
  if (text.length < SHORTEST_ENDING) return [];
  return spellings(text).map(
    (end) => sql`reverse(${number}) like ${prefixPattern([...end].reverse().join(''))}`,
  );
}
