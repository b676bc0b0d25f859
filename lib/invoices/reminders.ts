import { and, asc, eq, inArray, or, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { type Database, pickColumns, rows } from '@/db/database';
import { auditLog, customers, decidedDisputes, disputes, invoices, payments } from '@/db/schema';
import { transact } from '@/db/transaction';
import { recordAudit } from '../audit/audit-log';
import { defineList, filter, type ListPlace } from '../counted-list/define-list';
import { readSortedPage } from '../counted-list/sorted-page';
import { customerFilter } from '../customers/match-customer';
import { insertNote, MAX_NOTE } from '../customers/notes';
import { inColumns, snippetColumns, toCustomerSnippet } from '../customers/queries';
import { addDays, toCalendarDate } from '../dates';
import { AppError } from '../errors';
import { oneOf } from '../fields';
import { toJsonAmounts } from '../money';
import { MAX_ID } from '../page';
import { constant, literal } from '../page-query';
import type { RecordWriter } from '../records/record-kind';

/** Rules that determine when a reminder is due. */
export interface ReminderRules {
  /** Days from the due date until the reminders of levels 1, 2 and 3 are due. Null for a level that is not used. */
  days: (number | null)[];
  /** Minimum number of days between two reminders of an invoice. At least 1. */
  pause: number;
}

/** The levels of reminders, as the filter names them. */
export const LEVELS = ['1', '2', '3'] as const;

const other = alias(invoices, 'other');
type Invoices = typeof invoices | typeof other;

const dueOf = (t: Invoices) => sql`coalesce(${t.due_date}, ${t.invoice_date})`;
const levelOf = (t: Invoices) => sql`cardinality(${t.reminded_on})`;
const lastOf = (t: Invoices) => sql`${t.reminded_on}[${levelOf(t)}]`;

/**
 * Condition of the partial index for invoices that can get a reminder: unpaid, not written off, and not collected
 * automatically by Stripe.
 */
const isUnpaid = (t: Invoices): SQL => sql`${t.status} in ('sent', 'overdue') and not ${t.uncollectible}
  and (${t.stripe_invoice_id} is null or ${t.due_date} is not null)`;

/**
 * Condition for an unpaid invoice whose reminder of a level is due. Levels are never skipped, even if an invoice has
 * been overdue for a long time.
 */
function isAtLevel(t: Invoices, level: number, { days, pause }: ReminderRules, today: string): SQL {
  const after = days[level - 1] ?? null;
  if (after === null) return sql`false`;
  const last = sql`${t.reminded_on}[${literal(level - 1)}]`;
  return sql`(${levelOf(t)} = ${literal(level - 1)} and ${dueOf(t)} <= ${addDays(today, -after)}::date
    and ${level > 1 ? sql`${last} <= ${addDays(today, -pause)}::date` : sql`true`})`;
}

/**
 * Condition for invoices that are due for a reminder. It excludes drafts, paid, cancelled and written-off invoices, and
 * invoices with a pending payment or an undecided dispute. It also excludes invoices that Stripe collects
 * automatically, which have no due date.
 *
 * Without `coalesce`, PostgreSQL would expect that few unpaid invoices have an open amount, and would sort all due
 * invoices instead of reading a page by the index.
 *
 * @param level the level that must be due; null for any level
 */
function isDue(t: Invoices, level: number | null, rules: ReminderRules, today: string): SQL {
  const levels = level === null ? LEVELS.map(Number) : [level];
  return sql`${isUnpaid(t)} and coalesce(${t.amount_due} > 0, false)
    and (${or(...levels.map((one) => isAtLevel(t, one, rules, today)))})
    and not exists (select from ${payments} where ${payments.invoice_id} = ${t.id}
      and (${payments.status} = ${constant('pending')} or exists (select from ${disputes}
        where ${disputes.payment_id} = ${payments.id} and ${disputes.status} not in ${decidedDisputes}
          and ${disputes.provider_gone_at} is null)))`;
}

/**
 * Condition for the invoice that represents a customer in the list. Among the customer's invoices that are due for a
 * reminder, it is the oldest one with the highest level. The subquery reads the few unpaid invoices of one customer.
 * Without `coalesce`, PostgreSQL would expect a single row, and would sort all due invoices instead of reading a page
 * by the index.
 */
const isFirst = (rules: ReminderRules, today: string): SQL =>
  sql`coalesce(${invoices.id} = (select ${other.id} from ${invoices} ${sql.identifier('other')}
    where ${other.customer_id} = ${invoices.customer_id} and ${isDue(other, null, rules, today)}
    order by ${levelOf(other)} desc, ${dueOf(other)}, ${other.id} limit 1), false)`;

/**
 * The list of customers who are due for a reminder on a day, each under the highest level of their due invoices. If
 * neither a level nor a customer is given, the list shows level 1, because no index has an order across all levels.
 */
export function reminderList(rules: ReminderRules, today: string) {
  const list = defineList({
    filters: {
      level: filter(oneOf(LEVELS), (level) => ({ where: isDue(invoices, Number(level), rules, today) })),
      customer: customerFilter(invoices.customer_id),
    },
    orders: { due: dueOf(invoices) },
    sort: 'due',
    page: (db, { where, by: _, ...selection }, at) =>
      readSortedPage(
        db,
        {
          ...{ table: invoices, ...selection, by: dueOf(invoices) },
          where: and(isUnpaid(invoices), where, isFirst(rules, today)),
        },
        // Do not count the rows here, because `countReminders` counts the customers of each level.
        { ...at, isCounted: false },
        (tx, ids) => readReminders(tx, ids, rules, today),
      ),
    columns: [
      ...['customer_id', 'customer_number', 'customer_name', 'level', 'invoice_count', 'amounts'],
      ...['oldest_due', 'days', 'last_reminder'],
    ],
    toRecord: ({ amounts, ...row }) =>
      inColumns({
        ...row,
        amounts: amounts.map(({ amount, currency }) => `${amount} ${currency}`).join(', '),
      }),
  });
  type Given = Parameters<typeof list.read>[1];
  const bounded = (given: Given): Given =>
    given.level === undefined && given.customer === undefined ? { ...given, level: '1' } : given;
  return {
    schema: list.schema,
    read: (db: Database, given: Given, place: ListPlace) => list.read(db, bounded(given), place),
    csv: (db: Database, given: Given) => list.csv(db, bounded(given)),
  };
}

/** A customer due for a reminder, with sums of the due invoices. `id` is the invoice that `isFirst` selects. */
export type Reminder = Awaited<ReturnType<typeof readReminders>>[number];

async function readReminders(tx: Database, ids: number[], rules: ReminderRules, today: string) {
  const level = sql<number>`${levelOf(invoices)} + 1`;
  const found = await tx
    .select({ id: invoices.id, level, customer: snippetColumns })
    .from(invoices)
    .innerJoin(customers, eq(customers.id, invoices.customer_id))
    .where(inArray(invoices.id, ids));
  const sums = await sumDue(
    tx,
    found.map(({ customer }) => customer.id),
    rules,
    today,
  );
  return found.map(({ customer, ...row }) => {
    const own = sums.filter(({ customer_id }) => customer_id === customer.id);
    const oldest_due = own.map(({ oldest }) => oldest).sort()[0] ?? today;
    return {
      ...row,
      customer: toCustomerSnippet(customer),
      invoice_count: own.reduce((sum, { count }) => sum + count, 0),
      amounts: own.map(({ currency, amount }) => ({ currency, amount })),
      oldest_due,
      days: (Date.parse(today) - Date.parse(oldest_due)) / 86_400_000,
      last_reminder:
        own
          .flatMap(({ last }) => last ?? [])
          .sort()
          .at(-1) ?? null,
    };
  });
}

async function sumDue(tx: Database, customerIds: number[], rules: ReminderRules, today: string) {
  const found = await tx
    .select({
      ...pickColumns(invoices, 'customer_id', 'currency'),
      count: sql<number>`count(*)::int`,
      amount: sql<string>`sum(${invoices.amount_due})::text`,
      oldest: sql<string>`min(${dueOf(invoices)})::text`,
      last: sql<string | null>`max(${lastOf(invoices)})::text`,
    })
    .from(invoices)
    .where(and(inArray(invoices.customer_id, customerIds), isDue(invoices, null, rules, today)))
    .groupBy(invoices.customer_id, invoices.currency)
    .orderBy(invoices.currency);
  return found.map((row) => toJsonAmounts(row, 'amount'));
}

/** Maximum number of customers to count per level. */
export const MAX_REMINDERS = 500;

/** Counts the customers due for a reminder by level. `MAX_REMINDERS + 1` means more than `MAX_REMINDERS`. */
export async function countReminders(db: Database, rules: ReminderRules, today: string): Promise<number[]> {
  const counts = LEVELS.map(
    (level) => sql`(select count(*)::int from (select from ${invoices}
      where ${isDue(invoices, Number(level), rules, today)} and ${isFirst(rules, today)}
      limit ${literal(MAX_REMINDERS + 1)}) some_rows)`,
  );
  const [found] = await rows<{ counts: number[] }>(
    db,
    sql`select json_build_array(${sql.join(counts, sql`, `)}) as counts`,
  );
  return found?.counts ?? [];
}

/** Maximum number of invoices in one reminder. If more are due, a later reminder lists the remaining invoices. */
export const MAX_INVOICES = 100;

/** An invoice that is due for a reminder, with the level of the reminder. The amount is decimal text. */
export type DueInvoice = Awaited<ReturnType<typeof listDueInvoices>>[number];

/** Lists a customer's invoices that are due for a reminder, at most 100, the oldest due date first. */
export function listDueInvoices(db: Database, customerId: number, rules: ReminderRules, today: string) {
  return db
    .select({
      ...pickColumns(invoices, 'id', 'number', 'currency', 'amount_due', 'reminded_on', 'stripe_invoice_id'),
      due: sql<string>`${dueOf(invoices)}::text`,
      level: sql<number>`${levelOf(invoices)} + 1`,
      /** Days since the due date, or since the invoice date if the invoice has no due date. */
      days: sql<number>`${today}::date - ${dueOf(invoices)}`,
    })
    .from(invoices)
    .where(and(eq(invoices.customer_id, Math.min(customerId, MAX_ID)), isDue(invoices, null, rules, today)))
    .orderBy(asc(dueOf(invoices)), asc(invoices.id))
    .limit(literal(MAX_INVOICES));
}

const nameOf = ({ id, number }: { id: number; number: string | null }) => number ?? `#${id}`;

/**
 * Records a reminder for the invoices and the customer. Does not send the reminder.
 *
 * @param seen the ids of the invoices in the reminder that staff saw
 * @throws AppError conflict if other invoices are due now, for example because one was paid or a colleague has recorded
 *   a reminder
 */
export function noteReminder(
  db: Database,
  customerId: number,
  seen: number[],
  rules: ReminderRules,
  writer: RecordWriter,
): Promise<void> {
  const today = toCalendarDate(writer.now, writer.timeZone);
  return transact(db, async (tx) => {
    await lockCustomer(tx, customerId);
    const before = await lockInvoices(tx, inArray(invoices.id, seen));
    const due = await listDueInvoices(tx, customerId, rules, today);
    const isSame = due.length === seen.length && due.every(({ id }) => seen.includes(id));
    if (!isSame || due.length === 0) throw new AppError('conflict', 'The due invoices have changed.');
    await changeReminders(tx, before, sql`array_append(${invoices.reminded_on}, ${today}::date)`, {
      ...{ writer, action: 'invoice.remind' },
    });
    const level = Math.max(...due.map((one) => one.level));
    const names = due.map((one) =>
      one.level === level ? nameOf(one) : `${nameOf(one)} (level ${one.level})`,
    );
    const text = `Reminded on ${today} (level ${level}): ${names.join(', ')}`;
    await insertNote(tx, customerId, text.slice(0, MAX_NOTE), writer);
  });
}

/**
 * Removes the record of a customer's last reminder from the invoices that are still unpaid.
 *
 * @param seen the reminder that staff saw
 * @throws AppError conflict if another reminder is the last one now, for example after a double click
 */
export function undoReminder(
  db: Database,
  customerId: number,
  { day, recordedAt }: Pick<LastReminder, 'day' | 'recordedAt'>,
  writer: RecordWriter,
): Promise<void> {
  return transact(db, async (tx) => {
    await lockCustomer(tx, customerId);
    const last = await findLastReminder(tx, customerId);
    if (last?.day !== day || last.recordedAt !== recordedAt) {
      throw new AppError('conflict', 'The last reminder has changed.');
    }
    const ids = last.invoices.map(({ id }) => id);
    const before = await lockInvoices(tx, inArray(invoices.id, ids));
    await changeReminders(tx, before, sql`trim_array(${invoices.reminded_on}, 1)`, {
      ...{ writer, action: 'invoice.undo_reminder' },
    });
    const names = last.invoices.map(nameOf).join(', ');
    await insertNote(tx, customerId, `Not reminded on ${day}: ${names}`.slice(0, MAX_NOTE), writer);
  });
}

/** Locks the customer's row, so that concurrent changes to the customer's reminders wait for each other. */
const lockCustomer = (tx: Database, id: number) =>
  tx
    .select({ id: customers.id })
    .from(customers)
    .where(eq(customers.id, Math.min(id, MAX_ID)))
    .for('update');

const lockInvoices = (tx: Database, where: SQL) =>
  tx.select().from(invoices).where(where).orderBy(invoices.id).for('update');

type StoredInvoice = typeof invoices.$inferSelect;
type Change = { writer: RecordWriter; action: 'invoice.remind' | 'invoice.undo_reminder' };

async function changeReminders(tx: Database, before: StoredInvoice[], days: SQL, { writer, action }: Change) {
  const ids = before.map(({ id }) => id);
  const changed = await tx
    .update(invoices)
    .set({ reminded_on: days })
    .where(inArray(invoices.id, ids))
    .returning();
  const byId = new Map(before.map((row) => [row.id, row]));
  for (const after of changed.toSorted((a, b) => a.id - b.id)) {
    const entry = { actor: writer.actor, action, entity: 'invoice', entity_id: after.id } as const;
    await recordAudit(tx, { ...entry, before: byId.get(after.id) ?? null, after });
  }
}

const IS_REMINDED = sql`${invoices.status} in ('sent', 'overdue') and ${levelOf(invoices)} > 0`;

/**
 * The time at which an invoice's last reminder was recorded. All audit entries of one reminder have the same time,
 * because they were added in one transaction. Null if the audit log has no entry about the reminder.
 */
const RECORDED_AT = sql<string | null>`(select a.created_at::text from ${auditLog} a
  where a.entity = 'invoice' and a.entity_id = invoices.id and a.action = 'invoice.remind'
    and a.after -> 'reminded_on' = to_jsonb(invoices.reminded_on)
  order by a.id desc limit 1)`;

/** The last reminder of a customer. `recordedAt` tells two reminders of one day apart, see `RECORDED_AT`. */
type LastReminder = NonNullable<Awaited<ReturnType<typeof findLastReminder>>>;

/**
 * Returns the date of a customer's last reminder, with its unpaid invoices and their levels. Two reminders of one day
 * are separate. Returns null if no unpaid invoice has a reminder.
 */
export async function findLastReminder(db: Database, customerId: number) {
  const found = await db
    .select({
      ...pickColumns(invoices, 'id', 'number'),
      level: sql<number>`${levelOf(invoices)}`,
      day: sql<string>`${lastOf(invoices)}::text`,
      recordedAt: RECORDED_AT,
    })
    .from(invoices)
    .where(and(eq(invoices.customer_id, Math.min(customerId, MAX_ID)), IS_REMINDED))
    .orderBy(sql`${lastOf(invoices)} desc`, sql`${RECORDED_AT} desc nulls last`, invoices.id)
    .limit(literal(MAX_INVOICES));
  const [first] = found;
  if (!first) return null;
  const its = found.filter((one) => one.day === first.day && one.recordedAt === first.recordedAt);
  const { day, recordedAt } = first;
  return { day, recordedAt, level: Math.max(...its.map(({ level }) => level)), invoices: its };
}

/**
 * Returns the date of the last reminder about the unpaid invoices of these customers, and the highest level among these
 * invoices, keyed by customer id and currency.
 */
export async function readLastReminders(db: Database, customerIds: number[]) {
  if (customerIds.length === 0) return new Map<string, never>();
  const found = await db
    .select({
      ...pickColumns(invoices, 'customer_id', 'currency'),
      last_reminder: sql<string>`max(${lastOf(invoices)})::text`,
      reminder_level: sql<number>`max(${levelOf(invoices)})`,
    })
    .from(invoices)
    .where(and(inArray(invoices.customer_id, customerIds), IS_REMINDED))
    .groupBy(invoices.customer_id, invoices.currency);
  return new Map(found.map(({ customer_id, currency, ...row }) => [`${customer_id} ${currency}`, row]));
}
