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
import { type AuditRow, auditNumber } from '../audit/audit-log';
import { listMergedInto } from '../customers/merged-customers';
import { type CustomerNote, listCustomerNotes } from '../customers/notes';
import { fromEpoch, toCalendarDate, toEpoch } from '../dates';
import { calendarDate } from '../fields';
import { toJsonAmounts } from '../money';
import { MAX_ID } from '../page';
import { constant, literal } from '../page-query';
import { listMoneyBack, type MoneyBackRow, type Which } from '../payments/money-back';
import type { PaymentRow } from '../payments/schema';
import { type NamedChange, nameChanges } from '../sync/reconcile/changes';
import { listStripeCustomersOf } from '../sync/staff/stripe-customers';
import { listCallsAbout, type ToolCallRow } from '../tool-calls/tool-calls';

type Happening = { at: Date } & (
  | { kind: 'payment'; payment: TimelinePayment; isDayOnly: boolean }
  | { kind: 'money_back'; row: MoneyBackRow }
  | { kind: 'event'; event: TimelineEvent }
  | { kind: 'changes'; run_id: number; changes: NamedChange[] }
  | { kind: 'note'; note: CustomerNote }
  | { kind: 'audit'; audit: TimelineAudit }
  | { kind: 'call'; call: ToolCallRow }
);

/** An event in a customer's history. Its key is unique in the timeline. */
export type TimelineEntry = Happening & { key: string };

type TimelinePayment = Pick<PaymentRow, Exclude<keyof typeof paymentColumns, 'invoice_number'>> & {
  invoice_number: string | null;
};

const eventColumns = pickColumns(stripeEvents, 'id', 'type', 'object_id', 'stripe_created', 'outcome');
type TimelineEvent = Pick<typeof stripeEvents.$inferSelect, keyof typeof eventColumns>;

export type TimelineAudit = AuditRow & { entity: string; entity_id: number };

/** A source of entries. It returns the entries after one of its own cursors, the newest first. */
export interface Source {
  isCursor(text: string): boolean;
  read(cursor: string | null, limit: number): Promise<{ entry: TimelineEntry; cursor: string }[]>;
}

interface Reading<Row> {
  /** The form of a cursor. A group `id` holds the id of a row. */
  form: RegExp;
  /** Returns the rows after a cursor's position, the newest first. Null starts at the newest row. */
  read(place: Place | null, limit: number): Promise<Row[]>;
  toEntry(row: Row): Happening;
  cursorOf(row: Row): string;
}

/** The named groups of a cursor. */
type Place = Record<string, string>;

function toSource<Row>({ form, read, toEntry, cursorOf }: Reading<Row>): Source {
  const placeOf = (text: string): Place | undefined => form.exec(text)?.groups;
  return {
    isCursor(text) {
      const { id = '0', date } = placeOf(text) ?? { id: 'none' };
      return Number(id) <= MAX_ID && (date === undefined || calendarDate.safeParse(date).success);
    },
    async read(cursor, limit) {
      const rows = await read(cursor === null ? null : (placeOf(cursor) ?? {}), limit);
      return rows.map((row) => {
        const [entry, at] = [toEntry(row), cursorOf(row)];
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

/** Reads the payments of a customer, by their day. */
export function paymentSource(db: Database, customerId: number, timeZone: string): Source {
  return toSource({
    form: /^(?<date>[\d-]{10})\.(?<id>\d{1,10})$/,
    read: (place, limit) =>
      db
        .select({ payment: paymentColumns, created_at: payments.created_at })
        .from(payments)
        .innerJoin(invoices, eq(invoices.id, payments.invoice_id))
        .where(
          and(
            eq(payments.customer_id, customerId),
            place
              ? sql`(${payments.payment_date}, ${payments.id}) < (${place.date}::date, ${Number(place.id)}::int)`
              : undefined,
          ),
        )
        .orderBy(desc(payments.payment_date), desc(payments.id))
        .limit(literal(limit)),
    toEntry: ({ payment, created_at }) => ({
      kind: 'payment',
      ...timeOf(payment.payment_date, created_at, timeZone),
      payment: toJsonAmounts(payment, 'amount'),
    }),
    cursorOf: ({ payment }) => `${payment.payment_date}.${payment.id}`,
  });
}

/**
 * Returns the time of a payment. If it was recorded on its own day, that is the time of the recording. For other
 * payments only the day is known.
 */
function timeOf(date: string, recorded: Date, timeZone: string): { at: Date; isDayOnly: boolean } {
  const isDayOnly = toCalendarDate(recorded, timeZone) !== date;
  return { at: isDayOnly ? new Date(`${date}T12:00:00Z`) : recorded, isDayOnly };
}

/** Reads the refunds of a customer's payments, and the disputes over them. */
export function moneyBackSource(db: Database, customerId: number): Source {
  return toSource({
    form: /^(?<ms>\d{1,14})\.(?<kind>refund|dispute)\.(?<id>\d{1,10})$/,
    read: (place, limit) => listMoneyBack(db, olderMoneyBack(customerId, place), limit),
    toEntry: (row) => ({ kind: 'money_back', at: row.issued_at, row }),
    cursorOf: (row) => `${row.issued_at.getTime()}.${row.kind}.${row.id}`,
  });
}

function olderMoneyBack(customerId: number, place: Place | null): Which {
  return (table, kind: MoneyBackRow['kind']) =>
    and(
      eq(payments.customer_id, customerId),
      place
        ? sql`(${table.issued_at}, ${kind}::text, ${table.id})
            < (${new Date(Number(place.ms)).toISOString()}::timestamptz, ${place.kind}::text, ${place.id}::int)`
        : undefined,
    );
}

/** Reads the events that Stripe reported about the Stripe customers of a customer. */
export function eventSource(db: Database, customerId: number, withIgnored: boolean): Source {
  const { id, stripe_created, outcome } = eventColumns;
  return toSource({
    form: /^(?<second>\d{1,11})\.(?<event>[!-}]{1,255})$/,
    read(place, limit) {
      const created = place && sql.param(fromEpoch(Number(place.second)), stripe_created);
      // The latest events of each Stripe customer, by the index over one Stripe customer.
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
        .select({
          id: latest.id,
          type: latest.type,
          object_id: latest.object_id,
          stripe_created: latest.stripe_created,
          outcome: latest.outcome,
        })
        .from(stripeCustomers)
        .innerJoinLateral(latest, sql`true`)
        .where(eq(stripeCustomers.customer_id, customerId))
        .orderBy(desc(latest.stripe_created), desc(latest.id))
        .limit(literal(limit));
    },
    toEntry: (event) => ({ kind: 'event', at: event.stripe_created, event }),
    cursorOf: (event) => `${toEpoch(event.stripe_created)}.${event.id}`,
  });
}

/** The form of a cursor that is an id. */
const ID = /^(?<id>\d{1,10})$/;

interface Group {
  [column: string]: unknown;
  run_id: number;
  last_id: number;
  /** Time in milliseconds since 1970. */
  at: number;
  changes: FieldChange[];
}

/** Reads changes by reconciliation to a customer and its records. The changes of a record in one run are one entry. */
export function changesSource(db: Database, customerId: number): Source {
  return toSource({
    form: ID,
    async read(place, limit) {
      const groups = await readGroups(db, customerId, place, limit);
      const named = await nameChanges(
        db,
        groups.flatMap(({ changes }) => changes),
      );
      let taken = 0;
      return groups.map((group) => {
        const changes = named.slice(taken, taken + group.changes.length);
        taken += group.changes.length;
        return { ...group, changes };
      });
    },
    toEntry: ({ at, run_id, changes }) => ({ kind: 'changes', at: new Date(at), run_id, changes }),
    cursorOf: ({ last_id }) => String(last_id),
  });
}

async function readGroups(db: Database, customerId: number, place: Place | null, limit: number) {
  return rows<Group>(
    db,
    sql`
      with customer as (select ${customerId}::int as id),
      records (entity, id) as (
        select 'customer', id from customer
        union all
        select 'customer', m.id from merged_customers m join customer c on m.customer_id = c.id
        union all
        select 'customer_service', s.id from customer_services s join customer c on s.customer_id = c.id
        union all
        select 'subscription', s.id from subscriptions s join customer c on s.customer_id = c.id
        union all
        select 'subscription_item', i.id from subscription_items i
          join subscriptions s on s.id = i.subscription_id join customer c on s.customer_id = c.id
        union all
        select 'invoice', i.id from invoices i join customer c on i.customer_id = c.id
        union all
        select 'payment', p.id from payments p join customer c on p.customer_id = c.id
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
 * Reads the changes by people and programs to a customer's payments, to the links of its items and Stripe customers,
 * and the checks with Stripe that staff requested. The creation of a payment is left out, because the payment is an
 * entry itself.
 */
export function auditSource(db: Database, customerId: number): Source {
  return toSource({
    form: ID,
    async read(place, limit) {
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
      return found
        .flat()
        .sort((a, b) => b.id - a.id)
        .slice(0, limit);
    },
    toEntry: (audit) => ({ kind: 'audit', at: audit.created_at, audit }),
    cursorOf: ({ id }) => String(id),
  });
}

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

/** Reads the notes of staff about a customer. */
export function noteSource(db: Database, customerId: number): Source {
  return toSource({
    form: /^(?<ms>\d{1,14})\.(?<id>\d{1,10})$/,
    read(place, limit) {
      const behind = place && { created_at: new Date(Number(place.ms)), id: Number(place.id) };
      return listCustomerNotes(db, customerId, limit, behind);
    },
    toEntry: (note) => ({ kind: 'note', at: note.created_at, note }),
    cursorOf: ({ created_at, id }) => `${created_at.getTime()}.${id}`,
  });
}

/** Reads the queries of programs and assistants about a customer. */
export function callSource(db: Database, customerId: number): Source {
  return toSource({
    form: /^(?<call>\d{1,15})$/,
    read: (place, limit) => listCallsAbout(db, customerId, limit, place && Number(place.call)),
    toEntry: (call) => ({ kind: 'call', at: call.called_at, call }),
    cursorOf: ({ id }) => String(id),
  });
}
