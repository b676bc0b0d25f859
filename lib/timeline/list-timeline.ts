import { and, desc, eq, getTableColumns, inArray, lt, type SQL, sql } from 'drizzle-orm';
import { type Database, pickColumns, rows } from '@/db/database';
import {
  auditedCustomer,
  auditLog,
  type FieldChange,
  invoices,
  payments,
  stripeCustomers,
  stripeEvents,
  subscriptionItems,
  subscriptions,
} from '@/db/schema';
import { readLimited } from '@/db/transaction';
import { type AuditRow, auditNumber } from '../audit/audit-log';
import { listMergedInto } from '../customers/merged-customers';
import { type CustomerNote, listCustomerNotes } from '../customers/notes';
import { fromEpoch, toEpoch } from '../dates';
import { calendarDate } from '../fields';
import { type CreditNoteRow, listCustomerCreditNotes } from '../invoices/credit-notes';
import { toJsonAmounts } from '../money';
import { MAX_ID } from '../page';
import { constant, literal } from '../page-query';
import { listMoneyBack, type MoneyBackRow } from '../payments/money-back';
import type { PaymentRow } from '../payments/schema';
import { type NamedChange, nameChanges } from '../sync/reconcile/changes';
import { listStripeCustomersOf } from '../sync/staff/stripe-customers';
import { listCallsAbout, type ToolCallRow } from '../tool-calls/tool-calls';

type EntryContent = { at: Date } & (
  | { kind: 'payment'; payment: TimelinePayment; isDayOnly: boolean }
  | { kind: 'money_back'; row: MoneyBackRow }
  | { kind: 'credit_note'; note: CreditNoteRow & { invoice_id: number; invoice_number: string | null } }
  | { kind: 'event'; event: TimelineEvent }
  | { kind: 'changes'; run_id: number; changes: NamedChange[] }
  | { kind: 'note'; note: CustomerNote }
  | { kind: 'audit'; audit: TimelineAudit }
  | { kind: 'call'; call: ToolCallRow }
);

/** An entry of a customer's history. Its key is unique in the timeline. */
export type TimelineEntry = EntryContent & { key: string };

type TimelinePayment = Pick<PaymentRow, Exclude<keyof typeof paymentColumns, 'invoice_number'>> & {
  invoice_number: string | null;
};

const eventColumns = pickColumns(stripeEvents, 'id', 'type', 'object_id', 'stripe_created', 'outcome');
type TimelineEvent = Pick<typeof stripeEvents.$inferSelect, keyof typeof eventColumns>;

export type TimelineAudit = AuditRow & { entity: string; entity_id: number };

interface TimelineOptions {
  timeZone: string;
  /** Cursor of an older page. With an invalid cursor, the newest page is returned. */
  before?: string | null;
  /** Whether to include Stripe's events that sync ignored. */
  withIgnored?: boolean;
  /** Whether to include programs' queries about the customer, which only admins may see. */
  withCalls?: boolean;
}

/** The number of entries on a page. */
const LIMIT = 30;

/** Lists a page of a customer's history from all `SOURCES`, newest first. */
export function listTimeline(db: Database, customerId: number, options: TimelineOptions) {
  return readLimited(db, async (tx) => {
    const sources = options.withCalls ? [...SOURCES, callSource] : SOURCES;
    const scope = { ...options, db: tx, customerId };
    return mergeSources(sources, scope, options.before ?? null);
  });
}

/**
 * Merges the newest entries of several sources, each read from its own position.
 *
 * @returns the entries, and the cursor of the next older page, which is null on the last page
 */
async function mergeSources(sources: Source[], scope: Scope, cursor: string | null) {
  const positions = parseCursor(sources, cursor);
  const heads = await Promise.all(sources.map((source, i) => source.read(scope, positions[i] ?? null)));
  const entries: TimelineEntry[] = [];
  while (entries.length < LIMIT) {
    const from = newest(heads);
    const next = heads[from]?.shift();
    if (!next) break;
    entries.push(next.entry);
    positions[from] = next.cursor;
  }
  return {
    entries,
    older: heads.some((head) => head.length > 0) ? positions.map((at) => at ?? '').join(SEPARATOR) : null,
  };
}

const SEPARATOR = '~';

function parseCursor(sources: Source[], cursor: string | null): (string | null)[] {
  const parts = cursor?.split(SEPARATOR) ?? [];
  const isOurs =
    parts.length === sources.length && parts.every((at, i) => at === '' || sources[i]?.isCursor(at));
  return sources.map((_, i) => (isOurs && parts[i]) || null);
}

function newest(heads: { entry: TimelineEntry }[][]): number {
  const times = heads.map(([first]) => first?.entry.at.getTime() ?? Number.NEGATIVE_INFINITY);
  return times.indexOf(Math.max(...times));
}

/** The customer, the transaction to read with, and the options that select entries. */
type Scope = Omit<TimelineOptions, 'before'> & { db: Database; customerId: number };

/** A source of entries. Each source has its own cursors, and returns the entries older than a cursor, newest first. */
type Source = ReturnType<typeof toSource>;

interface Reading<Row> {
  /** The pattern of a cursor. If the pattern has a group `id`, the group matches a row id. */
  form: RegExp;
  /** Returns the rows older than a cursor's position, newest first. Null starts at the newest row. */
  read(scope: Scope, place: Place | null, limit: number): Promise<Row[]>;
  toEntry(row: Row, scope: Scope): EntryContent;
  cursorOf(row: Row): string;
}

/** The named groups that the pattern found in a cursor. */
type Place = Record<string, string>;

function toSource<Row>({ form, read, toEntry, cursorOf }: Reading<Row>) {
  const placeOf = (text: string): Place | undefined => form.exec(text)?.groups;
  return {
    isCursor(text: string) {
      const { id = '0', date } = placeOf(text) ?? { id: 'none' };
      return Number(id) <= MAX_ID && (date === undefined || calendarDate.safeParse(date).success);
    },
    /** Reads one entry more than fits on a page, to find out whether older entries exist. */
    async read(scope: Scope, cursor: string | null): Promise<{ entry: TimelineEntry; cursor: string }[]> {
      const rows = await read(scope, cursor === null ? null : (placeOf(cursor) ?? {}), LIMIT + 1);
      return rows.map((row) => {
        const [entry, at] = [toEntry(row, scope), cursorOf(row)];
        return { entry: { ...entry, key: `${entry.kind} ${at}` }, cursor: at };
      });
    },
  };
}

const paymentColumns = {
  ...pickColumns(payments, 'id', 'invoice_id', 'amount', 'currency', 'payment_date'),
  ...pickColumns(payments, 'payment_reference', 'status', 'source'),
  invoice_number: invoices.number,
};

/**
 * The payments of a customer, sorted by payment date and time. The time is when the payment was recorded, or noon UTC if
 * that was on another day.
 */
const paymentSource = toSource({
  form: /^(?<date>[\d-]{10})\.(?<ms>\d{1,14})\.(?<id>\d{1,10})$/,
  read({ db, customerId, timeZone }, place, limit) {
    const { payment_date, created_at, id } = payments;
    const isDayOnly = sql<boolean>`(${created_at} at time zone ${timeZone}::text)::date <> ${payment_date}`;
    const noon = sql`(${payment_date} + time '12:00') at time zone 'UTC'`;
    const at = sql`case when ${isDayOnly} then ${noon} else date_trunc('milliseconds', ${created_at}) end`;
    const before = place && new Date(Number(place.ms)).toISOString();
    const older =
      place &&
      sql`(${payment_date}, ${at}, ${id}) < (${place.date}::date, ${before}::timestamptz, ${place.id}::int)`;
    return db
      .select({
        payment: paymentColumns,
        isDayOnly,
        ms: sql<number>`(extract(epoch from ${at}) * 1000)::float8`,
      })
      .from(payments)
      .innerJoin(invoices, eq(invoices.id, payments.invoice_id))
      .where(and(eq(payments.customer_id, customerId), older ?? undefined))
      .orderBy(desc(payment_date), desc(at), desc(id))
      .limit(literal(limit));
  },
  toEntry: ({ payment, isDayOnly, ms }) => ({
    ...{ kind: 'payment', at: new Date(ms), isDayOnly },
    payment: toJsonAmounts(payment, 'amount'),
  }),
  cursorOf: ({ payment, ms }) => `${payment.payment_date}.${ms}.${payment.id}`,
});

/** The refunds and disputes of a customer's payments. */
const moneyBackSource = toSource({
  form: /^(?<ms>\d{1,14})\.(?<kind>refund|dispute)\.(?<id>\d{1,10})$/,
  read({ db, customerId }, place, limit) {
    const at = place && new Date(Number(place.ms)).toISOString();
    const which: Parameters<typeof listMoneyBack>[1] = (table, kind) => {
      const row = sql`(${table.issued_at}, ${kind}::text, ${table.id})`;
      const older = place && sql`${row} < (${at}::timestamptz, ${place.kind}::text, ${place.id}::int)`;
      return and(eq(payments.customer_id, customerId), older ?? undefined);
    };
    return listMoneyBack(db, which, limit);
  },
  toEntry: (row) => ({ kind: 'money_back', at: row.issued_at, row }),
  cursorOf: (row) => `${row.issued_at.getTime()}.${row.kind}.${row.id}`,
});

/** Pattern of a cursor that consists of a row id. */
const ID = /^(?<id>\d{1,10})$/;

/** The credit notes and cancellations of a customer's invoices. */
const creditNoteSource = toSource({
  form: ID,
  read: ({ db, customerId }, place, limit) =>
    listCustomerCreditNotes(db, customerId, limit, place && Number(place.id)),
  toEntry: (note) => ({ kind: 'credit_note', at: note.created_at, note }),
  cursorOf: ({ id }) => String(id),
});

/** The events that Stripe reported about the customer's Stripe customers. */
const eventSource = toSource({
  form: /^(?<second>\d{1,11})\.(?<event>[!-}]{1,255})$/,
  read({ db, customerId, withIgnored }, place, limit) {
    const { id, stripe_created, outcome } = eventColumns;
    const created = place && sql.param(fromEpoch(Number(place.second)), stripe_created);
    // Read the latest events of each Stripe customer separately, so that each read uses the index on the customer.
    const latest = db
      .select(eventColumns)
      .from(stripeEvents)
      .where(
        and(
          eq(stripeEvents.stripe_customer_id, stripeCustomers.stripe_customer_id),
          withIgnored ? undefined : sql`${outcome} <> 'ignored'`,
          place ? sql`(${stripe_created}, ${id}) < (${created}, ${place.event})` : undefined,
        ),
      )
      .orderBy(desc(stripe_created), desc(id))
      .limit(literal(limit))
      .as('latest');
    return db
      .select(latest._.selectedFields)
      .from(stripeCustomers)
      .innerJoinLateral(latest, sql`true`)
      .where(eq(stripeCustomers.customer_id, customerId))
      .orderBy(desc(latest.stripe_created), desc(latest.id))
      .limit(literal(limit));
  },
  toEntry: (event) => ({ kind: 'event', at: event.stripe_created, event }),
  cursorOf: (event) => `${toEpoch(event.stripe_created)}.${event.id}`,
});

type Group = Record<'run_id' | 'last_id' | 'at', number> & { changes: FieldChange[] };

/**
 * Changes that reconciliation logged for a customer and its records, without refunds and disputes. All changes to one
 * record in one run form one entry.
 */
const changesSource = toSource({
  form: ID,
  async read({ db, customerId }, place, limit) {
    const groups = await readGroups(db, customerId, place, limit);
    const named = await nameChanges(
      db,
      groups.flatMap(({ changes }) => changes),
    );
    return groups.map((group) => ({ ...group, changes: named.splice(0, group.changes.length) }));
  },
  toEntry: ({ at, run_id, changes }) => ({ kind: 'changes', at: new Date(at), run_id, changes }),
  cursorOf: ({ last_id }) => String(last_id),
});

/** Reads the changes, grouped by run and record. `at` is the time in milliseconds since 1970. */
async function readGroups(db: Database, customerId: number, place: Place | null, limit: number) {
  return rows<Group>(
    db,
    sql`
      with customer as (select ${customerId}::int as id),
      records (entity, id) as (
        select 'customer', id from customer
        union all select 'customer', m.id from merged_customers m join customer c on m.customer_id = c.id
        union all select 'customer_service', s.id from customer_services s join customer c on s.customer_id = c.id
        union all select 'subscription', s.id from subscriptions s join customer c on s.customer_id = c.id
        union all select 'subscription_item', i.id from subscription_items i
          join subscriptions s on s.id = i.subscription_id join customer c on s.customer_id = c.id
        union all select 'invoice', i.id from invoices i join customer c on i.customer_id = c.id
        union all select 'payment', p.id from payments p join customer c on p.customer_id = c.id
      )
      select c.run_id, max(c.id) as last_id, (extract(epoch from max(c.created_at)) * 1000)::float8 as at,
        json_agg(json_build_object(
          'entity', c.entity, 'entity_id', c.entity_id, 'stripe_id', c.stripe_id, 'field', c.field,
          'before', c.before, 'after', c.after, 'outcome', c.outcome) order by c.id) as changes
      from records r join reconciliation_changes c on c.entity = r.entity and c.entity_id = r.id
      group by c.run_id, c.entity, c.entity_id
      ${place ? sql`having max(c.id) < ${Number(place.id)}::int` : sql``}
      order by max(c.id) desc
      limit ${literal(limit)}`,
  );
}

/**
 * Audit log entries about a customer's payments, its subscription items, its Stripe customers and its checks with
 * Stripe. Leaves out the creation of payments, because `paymentSource` already lists the payments.
 */
const auditSource = toSource({
  form: ID,
  async read({ db, customerId }, place, limit) {
    const older = place ? lt(auditLog.id, Number(place.id)) : undefined;
    const found = await Promise.all(
      (await subjectsOf(db, customerId)).map((subject) =>
        db
          .select(auditColumns)
          .from(auditLog)
          .where(and(subject, older))
          .orderBy(desc(auditLog.id))
          .limit(literal(limit)),
      ),
    );
    const newestFirst = found.flat().sort((a, b) => b.id - a.id);
    return newestFirst.slice(0, limit);
  },
  toEntry: (audit) => ({ kind: 'audit', at: audit.created_at, audit }),
  cursorOf: ({ id }) => String(id),
});

const { actor_id: _, updated_at: __, ...auditColumns } = getTableColumns(auditLog);

async function subjectsOf(db: Database, customerId: number): Promise<(SQL | undefined)[]> {
  const items = db
    .select({ id: subscriptionItems.id })
    .from(subscriptionItems)
    .innerJoin(subscriptions, eq(subscriptions.id, subscriptionItems.subscription_id))
    .where(eq(subscriptions.customer_id, customerId));
  const customers = [customerId, ...(await listMergedInto(db, customerId)).map(({ id }) => id)];
  const ids = (await listStripeCustomersOf(db, customerId)).map(({ id }) => id);
  const ownOf = (table: typeof invoices | typeof subscriptions) =>
    db.select({ id: table.id }).from(table).where(eq(table.customer_id, customerId));
  const isCheck = (entity: string) => sql`${auditLog.action} = ${constant(`${entity}.check`)}`;
  const subject = (entity: string, ...narrower: (SQL | undefined)[]) =>
    and(sql`${auditLog.entity} = ${constant(entity)}`, ...narrower);
  return [
    subject(
      'payment',
      sql`${auditLog.action} <> 'payment.create'`,
      inArray(auditedCustomer(auditLog), customers.map(String)),
    ),
    subject('subscription_item', inArray(auditLog.entity_id, items)),
    subject('invoice', isCheck('invoice'), inArray(auditLog.entity_id, ownOf(invoices))),
    subject('subscription', isCheck('subscription'), inArray(auditLog.entity_id, ownOf(subscriptions))),
    subject(
      'stripe_customer',
      inArray(auditLog.entity_id, ids.map(auditNumber)),
      inArray(sql`coalesce(${auditLog.after}, ${auditLog.before}) ->> 'stripe_customer_id'`, ids),
    ),
  ];
}

const noteSource = toSource({
  form: /^(?<ms>\d{1,14})\.(?<id>\d{1,10})$/,
  read({ db, customerId }, place, limit) {
    const behind = place && { created_at: new Date(Number(place.ms)), id: Number(place.id) };
    return listCustomerNotes(db, customerId, limit, behind);
  },
  toEntry: (note) => ({ kind: 'note', at: note.created_at, note }),
  cursorOf: ({ created_at, id }) => `${created_at.getTime()}.${id}`,
});

/** The tool calls in which API clients or assistants asked about a customer. */
const callSource = toSource({
  form: /^(?<call>\d{1,15})$/,
  read: ({ db, customerId }, place, limit) =>
    listCallsAbout(db, customerId, limit, place && Number(place.call)),
  toEntry: (call) => ({ kind: 'call', at: call.called_at, call }),
  cursorOf: ({ id }) => String(id),
});

/** The sources of every timeline. Entries with the same time are listed in the order of their sources. */
const SOURCES = [
  paymentSource,
  eventSource,
  changesSource,
  auditSource,
  moneyBackSource,
  creditNoteSource,
  noteSource,
];
