import {
  and,
  asc,
  desc,
  eq,
  gt,
  ilike,
  inArray,
  like,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm';
import { type PgColumn, type PgTable, QueryBuilder, type SelectedFields } from 'drizzle-orm/pg-core';
import { type Database, pickColumns } from '@/db/database';
import {
  creditNotes,
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
import { readLimited } from '@/db/transaction';
import { hasNumber, idAfterHash, matchMention, matchNumbered, spellings } from '../customers/match-customer';
import { customerName, matchRank, snippetColumns } from '../customers/queries';
import { currencyDecimals, toJsonAmount } from '../money';
import { literal } from '../page-query';
import { normalReference } from '../payments/schema';
import { typedAmounts } from '../read-amount';
import { hasTrigram, indexedPatterns, prefixPattern, wholePattern } from '../search-text';
import { listServers, matches, type ServerRow } from '../servers/queries';
import { MAX_HITS, type SearchGroup, type SearchHit, type SearchKind, type SearchResults } from './schema';

/**
 * Finds records that match a text, grouped by kind. Kinds with an exact hit come first. The search ignores case, except
 * in Stripe ids, and in numbers of invoices, credit notes, services and sales documents that contain small letters. The
 * text `#31` finds the records whose id in our database is 31.
 *
 * @param text output of `searchText`
 */
export async function search(db: Database, text: string): Promise<SearchResults> {
  const found = await readLimited(db, async (tx) => {
    // Disable sequential scans. The planner prefers them if many rows match, but they are slow if the matches are at
    // the table's end. Disable JIT too. A disabled scan has such a high estimated cost that PostgreSQL would start JIT,
    // which takes longer than the query.
    await tx.execute(sql`select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`);
    const groups: (SearchGroup & { exact: number })[] = [];
    for (const { kind, label, find } of KINDS) groups.push({ kind, label, ...(await find(tx, text)) });
    return groups.filter(({ hits }) => hits.length > 0);
  });
  const [first, ...others] = found.sort((a, b) => Math.sign(b.exact) - Math.sign(a.exact));
  const isAlone = others.length === 0 && first?.hits.length === 1 && first.exact === 1;
  return {
    groups: found.map(({ exact: _, ...group }) => group),
    only: isAlone ? (first.hits[0] ?? null) : null,
  };
}

/** Hits of one kind of record. */
interface FoundHits {
  hits: SearchHit[];
  /** Number of exact hits. They come first. */
  exact: number;
  more: boolean;
}

/**
 * Reads the exact hits. If there are at most `MAX_HITS` of them, also reads other hits.
 *
 * @param exact function that reads at most `limit` exact hits, such as those whose number or id equals the text
 * @param others functions that read partial matches, the cheapest query first; they may return a hit again
 */
async function collect(exact: Read, ...others: Read[]): Promise<FoundHits> {
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

/** Maximum number of partial matches to sort. If more rows match, the rest is ignored, so the best may be missing. */
const CANDIDATES = 500;

/** Describes how to find the hits of one kind. */
interface HitKind<Columns extends SelectedFields> {
  kind: SearchKind;
  label: string;
  table: PgTable & { id: PgColumn; customer_id?: PgColumn };
  /** Columns to select. They can include `customer` if the table has a `customer_id`. */
  columns: Columns & { id: PgColumn; status: PgColumn };
  join?: { table: PgTable; on: SQL };
  order: SQLWrapper[];
  toHit(record: Selected<Columns>): Pick<SearchHit, 'title' | 'detail' | 'figure'>;
  /** Returns the condition for exact hits, such as rows whose number equals the text. Undefined if no row can match. */
  exact(text: string): SQL | undefined;
  /** Returns conditions for partial matches, the cheapest first. Undefined conditions are skipped. */
  others?(text: string): (SQL | undefined)[];
  /** Returns the sort expressions that precede `order`, one for the exact hits and one for the partial matches. */
  first?(text: string): Record<'exact' | 'others', SQL>;
}

/** Row type of the selected columns. */
type Selected<Columns> = {
  [name in keyof Columns]: Columns[name] extends PgColumn
    ? Columns[name]['_']['notNull'] extends true
      ? Columns[name]['_']['data']
      : Columns[name]['_']['data'] | null
    : typeof customers.$inferSelect;
};

function hitsOf<Columns extends SelectedFields>(options: HitKind<Columns>) {
  const { kind, label, table, columns, join, order, toHit, exact, others, first } = options;
  async function read(db: Database, where: SQL | undefined, limit: number, before: SQL | undefined) {
    if (!where) return [];
    const query = db
      .select(columns as SelectedFields)
      .from(table)
      .$dynamic();
    if (join) query.innerJoin(join.table, join.on);
    if (table.customer_id) query.innerJoin(customers, eq(customers.id, table.customer_id));
    const rows = await query
      .where(where)
      .orderBy(...(before ? [before] : []), ...order.map((by) => sql`${by}`))
      .limit(literal(limit));
    return rows.map((row) => {
      const { id, status } = row as Pick<SearchHit, 'id' | 'status'>;
      return { kind, id, status, ...toHit(row as Selected<Columns>) };
    });
  }
  const amongFirst = (where: SQL | undefined) => {
    const some = build.select({ id: table.id }).from(table).where(where).limit(literal(CANDIDATES));
    return where && inArray(table.id, some);
  };
  return {
    kind,
    label,
    find: (db: Database, text: string) =>
      collect(
        (limit) => read(db, exact(text), limit, first?.(text).exact),
        ...(others?.(text) ?? []).map(
          (where) => (limit: number) => read(db, amongFirst(where), limit, first?.(text).others),
        ),
      ),
  };
}

const build = new QueryBuilder();
const [s, i, n, p, d, e] = [customerServices, invoices, creditNotes, payments, salesDocuments, stripeEvents];

type Customer = Parameters<typeof customerName>[0] & { customer_number: string };

/** Returns the name of a record's customer, or the number of a customer without a name. */
const nameOf = (customer: Customer) => customerName(customer) || customer.customer_number;

const joined = (...parts: (string | null | undefined)[]) => parts.filter(Boolean).join(' · ');

const figureOf = (amount: string, currency: string) => ({ amount: toJsonAmount(amount), currency });

/** For a text such as `#31`, returns the condition that the id is 31. For any other text, returns `other`. */
function isNumbered(id: PgColumn, text: string, other: SQL | undefined): SQL | undefined {
  const ours = idAfterHash(text);
  return ours === null ? other : eq(id, ours);
}

/** Finds customers by number, e-mail address or Stripe id, then by parts of number, name, company or e-mail address. */
export const customerHits = hitsOf({
  kind: 'customer',
  label: 'Customers',
  table: customers,
  columns: snippetColumns,
  order: [customers.customer_number],
  toHit(record) {
    const name = customerName(record);
    const detail = joined(name && record.customer_number, record.email);
    return { title: name || record.customer_number, detail };
  },
  exact(text) {
    const linked = build
      .select({ id: stripeCustomers.customer_id })
      .from(stripeCustomers)
      .where(eq(stripeCustomers.stripe_customer_id, text));
    if (text.startsWith('cus_')) return inArray(customers.id, linked);
    const hasAddress = eq(sql`lower(${customers.email})`, text.toLowerCase());
    return isNumbered(customers.id, text, or(hasNumber(spellings(text)), hasAddress));
  },
  others: (text) => [matchMention(text), mentionsAll(text)],
  first: (text) => ({ exact: asc(customers.id), others: matchRank(text) }),
});

/**
 * Returns the condition for customers that contain each searchable word of the text, up to the fifth, in any field.
 * Returns undefined for fewer than two searchable words.
 */
function mentionsAll(text: string): SQL | undefined {
  const words = text.split(/\s+/).filter(hasTrigram).slice(0, MAX_NAME_WORDS);
  return words.length > 1 ? and(...words.map(matchMention)) : undefined;
}

const MAX_NAME_WORDS = 5;

/** Finds services by number or domain, then by the start or end of the number, or by a part of the domain. */
const serviceHits = hitsOf({
  kind: 'service',
  label: 'Services',
  table: s,
  columns: {
    ...pickColumns(s, 'id', 'service_number', 'name', 'domain', 'status'),
    customer: snippetColumns,
  },
  order: [asc(s.service_number)],
  toHit: ({ service_number, name, domain, customer }) => ({
    title: joined(service_number, domain),
    detail: [name, nameOf(customer)].join(' · '),
  }),
  exact(text) {
    const domain = text.includes('.') ? ilike(s.domain, wholePattern(text)) : undefined;
    return isNumbered(s.id, text, or(inArray(s.service_number, spellings(text)), domain));
  },
  others: (text) => [
    or(
      ...beginnings(s.service_number, text),
      ...endings(s.service_number, text),
      ...indexedPatterns(text, ['.', '-']).map((pattern) => ilike(s.domain, pattern)),
    ),
  ],
});

/** Finds servers by id, host name or IP address, then by parts of their fields. Reads all servers, as there are few. */
async function findServerHits(db: Database, text: string): Promise<FoundHits> {
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

/** Finds subscriptions by our id, by Stripe id, or by the Stripe id of an item. */
const subscriptionHits = hitsOf({
  kind: 'subscription',
  label: 'Subscriptions',
  table: subscriptions,
  columns: {
    ...pickColumns(subscriptions, 'id', 'stripe_subscription_id', 'status'),
    customer: snippetColumns,
  },
  order: [desc(subscriptions.id)],
  toHit: ({ id, stripe_subscription_id, customer }) => ({
    title: `Subscription ${id}`,
    detail: joined(nameOf(customer), stripe_subscription_id),
  }),
  exact(text) {
    const holding = build
      .select({ id: subscriptionItems.subscription_id })
      .from(subscriptionItems)
      .where(eq(subscriptionItems.stripe_subscription_item_id, text));
    if (text.startsWith('si_')) return inArray(subscriptions.id, holding);
    return isNumbered(subscriptions.id, text, eq(subscriptions.stripe_subscription_id, text));
  },
});

/** Finds invoices by number or Stripe id, then by total or open amount, then by the start or end of the number. */
const invoiceHits = hitsOf({
  kind: 'invoice',
  label: 'Invoices',
  table: i,
  columns: {
    ...pickColumns(i, 'id', 'number', 'status', 'total', 'amount_due', 'currency'),
    customer: snippetColumns,
  },
  order: [desc(i.invoice_date), desc(i.id)],
  toHit: ({ id, number, total, amount_due, currency, customer }) => ({
    title: number ?? `#${id}`,
    detail: joined(nameOf(customer), openText(total, amount_due, currency)),
    figure: figureOf(total, currency),
  }),
  exact: (text) => (text.startsWith('in_') ? eq(i.stripe_invoice_id, text) : matchNumbered(i, text)),
  others: (text) => [
    isInvoiceAmount(text),
    or(...beginnings(i.number, text)),
    or(...endings(i.number, text)),
  ],
});

/**
 * Returns the condition for invoices with this total or open amount. For 0, only the total counts, because most
 * invoices have an open amount of 0.
 */
function isInvoiceAmount(text: string): SQL | undefined {
  const isDue = isAmount(i.amount_due, text);
  return isDue && or(isAmount(i.total, text), and(isDue, gt(i.amount_due, '0')));
}

/** Returns the open amount of a partly paid invoice, because a search may have found the invoice by this amount. */
function openText(total: string, due: string, currency: string): string | null {
  const isPartly = Number(due) > 0 && Number(due) !== Number(total);
  return isPartly
    ? `${Number(due).toFixed(currencyDecimals(currency))} ${currency.toUpperCase()} open`
    : null;
}

/** Finds payments by reference or Stripe payment intent, then by amount, then by a part of the reference. */
const paymentHits = hitsOf({
  kind: 'payment',
  label: 'Payments',
  table: p,
  columns: {
    ...pickColumns(p, 'id', 'payment_reference', 'status', 'amount', 'currency'),
    ...{ number: invoices.number, customer: snippetColumns },
  },
  join: { table: invoices, on: eq(invoices.id, p.invoice_id) },
  order: [desc(p.payment_date), desc(p.id)],
  toHit: ({ payment_reference, amount, currency, number, customer }) => ({
    title: payment_reference,
    detail: joined(nameOf(customer), number),
    figure: figureOf(amount, currency),
  }),
  exact(typed) {
    const text = normalReference(typed);
    const id = idAfterHash(text);
    return or(
      inArray(p.payment_reference, [...new Set([text, text.toUpperCase(), text.toLowerCase()])]),
      id === null ? undefined : eq(p.id, id),
      text.startsWith('pi_') ? eq(p.stripe_payment_intent_id, text) : undefined,
    );
  },
  others(typed) {
    const patterns = indexedPatterns(normalReference(typed), []);
    const isAlike = (reference: PgColumn) => or(...patterns.map((pattern) => ilike(reference, pattern)));
    // A frequent text is found quickly among the latest payments. The index finds a rare text quickly.
    return [isAmount(p.amount, typed), isAmongLatest(isAlike), isAlike(p.payment_reference)];
  },
});

const LATEST_PAYMENTS = 20_000;

function isAmongLatest(isAlike: (reference: PgColumn) => SQL | undefined): SQL | undefined {
  const latest = build
    .select(pickColumns(p, 'id', 'payment_reference'))
    .from(p)
    .orderBy(desc(p.id))
    .limit(literal(LATEST_PAYMENTS))
    .as('latest');
  const where = isAlike(latest.payment_reference);
  const some = build.select({ id: latest.id }).from(latest).where(where).limit(literal(CANDIDATES));
  return where && inArray(p.id, some);
}

/** Finds offers and order confirmations by number, then by the start or end of the number. */
const documentHits = hitsOf({
  kind: 'sales_document',
  label: 'Sales documents',
  table: d,
  columns: {
    ...pickColumns(d, 'id', 'document_number', 'type', 'status', 'total', 'currency'),
    customer: snippetColumns,
  },
  order: [desc(d.document_date), desc(d.id)],
  toHit: ({ document_number, type, total, currency, customer }) => ({
    title: document_number,
    detail: [type.replace('_', ' '), nameOf(customer)].join(' · '),
    figure: figureOf(total, currency),
  }),
  exact: (text) => matchNumbered({ id: d.id, number: d.document_number }, text),
  others: (text) => [or(...beginnings(d.document_number, text), ...endings(d.document_number, text))],
});

/** Finds credit notes and cancellations by number, then by the start of the number. */
const creditNoteHits = hitsOf({
  kind: 'credit_note',
  label: 'Credit notes',
  table: n,
  columns: {
    ...pickColumns(n, 'id', 'number', 'total', 'currency'),
    ...{ status: n.kind, customer: snippetColumns },
  },
  order: [desc(n.date), desc(n.id)],
  toHit: ({ number, total, currency, customer }) => ({
    title: number,
    detail: nameOf(customer),
    figure: figureOf(total, currency),
  }),
  exact: (text) => matchNumbered(n, text),
  others: (text) => [or(...beginnings(n.number, text))],
});

/** Finds events by their id, or by the id of their checkout session, because sessions themselves are not stored. */
const eventHits = hitsOf({
  kind: 'event',
  label: 'Stripe events',
  table: e,
  columns: { ...pickColumns(e, 'id', 'type', 'object_id'), status: e.outcome },
  order: [desc(e.stripe_created), desc(e.id)],
  toHit: ({ id, type, object_id }) => ({ title: type, detail: joined(id, object_id) }),
  exact(text) {
    if (text.startsWith('evt_')) return eq(e.id, text);
    return text.startsWith('cs_') ? eq(e.object_id, text) : undefined;
  },
});

const KINDS: ReturnType<typeof hitsOf>[] = [
  ...[customerHits, invoiceHits, creditNoteHits, paymentHits, serviceHits, documentHits],
  { kind: 'server', label: 'Servers', find: findServerHits },
  ...[subscriptionHits, eventHits],
];

/**
 * Returns the condition for rows with an amount that the text may mean. Returns undefined if the text is not an amount.
 */
function isAmount(column: PgColumn, text: string): SQL | undefined {
  const amounts = typedAmounts(text);
  return amounts.length === 0 ? undefined : inArray(column, amounts);
}

/** Returns conditions that a number starts with the text, one for each spelling of the text. */
function beginnings(number: PgColumn, text: string): SQL[] {
  const starts = spellings(text).filter((start) => start !== '');
  return starts.map((start) => like(number, prefixPattern(start)));
}

/** Minimum length of a searched ending. Shorter endings match too many numbers. */
const SHORTEST_ENDING = 3;

/**
 * Returns conditions that a number ends with the text, one for each spelling of the text. PostgreSQL can use the index
 * on the reversed number.
 */
function endings(number: SQLWrapper, text: string): SQL[] {
  if (text.length < SHORTEST_ENDING) return [];
  return spellings(text).map(
    (end) => sql`reverse(${number}) like ${prefixPattern([...end].reverse().join(''))}`,
  );
}
