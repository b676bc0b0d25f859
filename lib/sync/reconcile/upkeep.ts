import { and, desc, eq, inArray, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { invoices, reconciliationChanges, reconciliationRuns as runs } from '@/db/schema';
import { transact } from '@/db/transaction';
import { bookEntries } from '../../book-entries';
import { checkCounts } from '../../counted-list/check-counts';
import { haveSameDays, toCalendarDate } from '../../dates';
import { clearOver } from '../../oauth/register-client';
import { isPastDueSql } from '../../overdue';
import { literal } from '../../page-query';
import { fetchAccount } from '../../stripe/fetch';
import { tellStaff } from '../../tasks/staff-tasks';
import { clearToolCalls } from '../../tool-calls/tool-calls';
import { toKeptCheckout } from '../decide/subscription/checkout';
import type { SyncDeps } from '../sync-deps';
import { STEP_PAGE, type StripeDeps } from './object';
import type { Run } from './run';

export async function markOverdue(deps: SyncDeps, run: Run): Promise<string | null> {
  const today = toCalendarDate(deps.now(), deps.timeZone);
  const isPastDue = isPastDueSql(invoices.due_date, sql`${today}::date`);
  const changed = await transact(deps.db, async (tx) => {
    const due = tx
      .select({ id: invoices.id })
      .from(invoices)
      .where(and(eq(invoices.status, 'sent'), isNull(invoices.stripe_invoice_id), isPastDue))
      .limit(STEP_PAGE)
      .for('update');
    const changed = await tx
      .update(invoices)
      .set({ status: 'overdue' })
      .where(inArray(invoices.id, due))
      .returning({ id: invoices.id });
    const change = { entity: 'invoice', field: 'status', before: 'sent', after: 'overdue' } as const;
    const entries = changed.map(({ id }) => ({
      ...change,
      run_id: run.id,
      entity_id: id,
      outcome: 'fixed' as const,
    }));
    if (entries.length > 0) await tx.insert(reconciliationChanges).values(entries);
    return changed.length;
  });
  run.counts.changes_count += changed;
  // The changed rows no longer match the condition, so the next page starts from the beginning.
  return changed === STEP_PAGE ? '' : null;
}

const BOOKED_AT_ONCE = 500;

/**
 * Posts missing journal entries of invoices and payments that changed in the run's window. An older release may have
 * written these records without entries.
 */
export async function bookMissed(deps: SyncDeps, run: Run, after: string | null): Promise<string | null> {
  const [kind = '', last = '0'] = (after ?? 'invoices 0').split(' ');
  const table = kind === 'payments' ? sql`payments` : sql`invoices`;
  const since = (run.windowFrom ?? new Date(0)).toISOString();
  const found = await rows<{ id: number }>(
    deps.db,
    sql`select id from ${table} where id > ${Number(last)}::int and updated_at >= ${since}::timestamptz
      order by id limit ${sql.raw(String(BOOKED_AT_ONCE))}`,
  );
  const ids = found.map(({ id }) => id);
  await transact(deps.db, (tx) =>
    bookEntries(tx, { [kind]: ids }, { now: deps.now(), timeZone: deps.timeZone }),
  );
  if (found.length === BOOKED_AT_ONCE) return `${kind} ${ids.at(-1)}`;
  return kind === 'invoices' ? 'payments 0' : null;
}

/** Checks a sample of the stored counts and sums, and logs an error if one is wrong. */
export async function checkLists({ db, log }: SyncDeps): Promise<null> {
  const wrong = await checkCounts(db);
  if (wrong.length > 0) log.error({ lists: wrong }, 'counts of lists are wrong');
  return null;
}

/** Records the state at the end of the last month for the reports. Does nothing if an earlier run recorded it. */
export async function recordMonth({ db, now, timeZone }: SyncDeps): Promise<null> {
  const today = toCalendarDate(now(), timeZone);
  await db.execute(sql`select record_month(
    (date_trunc('month', ${today}::date::timestamp) - interval '1 month')::date, ${timeZone}::text, ${today}::date)`);
  return null;
}

const DROPPED_AT_ONCE = 500;
/** Maximum number of event bodies to drop in one run. The next run continues. */
const MOST = 50_000;
const DAY = 86_400_000;

/** Drops the bodies of old events that have a final outcome. Keeps the fields needed to apply a checkout again. */
export async function dropOldBodies(deps: SyncDeps, _: Run, dropped: string | null): Promise<string | null> {
  const before = new Date(deps.now().getTime() - deps.eventRetentionDays * DAY);
  const isOver = sql`payload <> '' and stripe_created < ${before.toISOString()}::timestamptz
    and outcome in ('processed', 'stale', 'ignored')`;
  const count = await transact(deps.db, (tx) => dropBatch(tx, isOver));
  const total = Number(dropped ?? 0) + count;
  return count < DROPPED_AT_ONCE || total >= MOST ? null : String(total);
}

export async function dropBatch(tx: Database, isOver: SQL): Promise<number> {
  const found = await rows<{ id: string; body: string | null }>(
    tx,
    sql`select id, case when type = 'checkout.session.completed' then payload end as body
      from stripe_events where ${isOver} order by stripe_created limit ${sql.raw(String(DROPPED_AT_ONCE))} for update`,
  );
  const kept = found.map(({ id, body }) => ({ id, checkout: body === null ? null : toKeptCheckout(body) }));
  await tx.execute(sql`update stripe_events e set payload = '', checkout = k.checkout, updated_at = now()
    from jsonb_to_recordset(${JSON.stringify(kept)}::jsonb) as k(id text, checkout jsonb) where e.id = k.id`);
  return found.length;
}

/**
 * Deletes erased customers' documents whose retention period is over. The period begins at the end of the document's
 * year (in Germany section 14b UStG). All other documents are kept.
 */
export async function dropOldDocuments(deps: SyncDeps): Promise<string | null> {
  const year = Number(toCalendarDate(deps.now(), deps.timeZone).slice(0, 4));
  const dropped = await rows<{ id: number }>(
    deps.db,
    sql`delete from invoice_documents where invoice_id in (
        select i.id from invoice_documents d join invoices i on i.id = d.invoice_id
          join customers c on c.id = i.customer_id
        where c.erased_at is not null
          and i.invoice_date < make_date(${year - deps.documentRetentionYears}::int, 1, 1)
        order by i.id limit ${sql.raw(String(DROPPED_AT_ONCE))})
      returning invoice_id as id`,
  );
  // Keep the credit note itself, because the journal and the sums of its invoice depend on it.
  const emptied = await rows<{ id: number }>(
    deps.db,
    sql`update credit_notes set seller = null, buyer = null, pdf = null, xml = null, pdf_sha256 = null, made_at = null
      where id in (
        select n.id from credit_notes n join customers c on c.id = n.customer_id
        where c.erased_at is not null and n.buyer is not null
          and n.date < make_date(${year - deps.documentRetentionYears}::int, 1, 1)
        order by n.id limit ${sql.raw(String(DROPPED_AT_ONCE))})
      returning id`,
  );
  const sales = await rows<{ id: number }>(
    deps.db,
    sql`delete from sales_document_files where sales_document_id in (
        select s.id from sales_document_files f join sales_documents s on s.id = f.sales_document_id
          join customers c on c.id = s.customer_id
        where c.erased_at is not null
          and s.document_date < make_date(${year - deps.documentRetentionYears}::int, 1, 1)
        order by s.id limit ${sql.raw(String(DROPPED_AT_ONCE))})
      returning sales_document_id as id`,
  );
  // Deleted and emptied rows no longer match, so the next page starts from the beginning.
  const most = Math.max(dropped.length, emptied.length, sales.length);
  return most === DROPPED_AT_ONCE ? '' : null;
}

export async function clearAccess(deps: SyncDeps, _: Run, cleared: string | null): Promise<string | null> {
  const now = deps.now();
  const found = await clearToolCalls(deps.db, { now, days: deps.toolCallRetentionDays });
  if (!found.isOver) return String(Number(cleared ?? 0) + found.cleared);
  await clearOver(deps.db, now);
  return null;
}

/**
 * Reports the Stripe account's time zone to staff if its days begin at other times than ours. An invoice from the last
 * evening of a month may then belong to another month at Stripe. If Stripe does not answer, the run continues, because
 * its other steps do not depend on the answer.
 */
export async function compareTimeZone(
  { db, stripe, log, now, timeZone }: StripeDeps,
  run: Run,
): Promise<null> {
  const account = await fetchAccount(stripe);
  if ('reason' in account) {
    log.warn({ run: run.id, reason: account.reason }, 'the time zone of the Stripe account is not known');
    return null;
  }
  if (account.timeZone === null || haveSameDays(account.timeZone, timeZone, now())) return null;
  await db.insert(reconciliationChanges).values({
    run_id: run.id,
    entity: 'account',
    entity_id: null,
    stripe_id: account.id,
    field: 'time_zone',
    before: timeZone,
    after: account.timeZone,
    outcome: 'reported',
  });
  run.counts.changes_count += 1;
  return null;
}

/**
 * Adds a staff task if days begin at another time in this run's time zone than in that of the last finished run. Dates
 * that earlier runs wrote do not change, so the month of the change contains dates in two time zones.
 */
export async function noteTimeZone({ db, now }: SyncDeps, run: Run): Promise<null> {
  const zone = { id: runs.id, time_zone: runs.time_zone };
  const [current] = await db.select(zone).from(runs).where(eq(runs.id, run.id));
  const [last] = await db
    .select(zone)
    .from(runs)
    .where(and(eq(runs.phase, 'done'), isNotNull(runs.time_zone)))
    .orderBy(desc(runs.id)) // A clock that was ahead may have started a run later than the last one.
    .limit(literal(1));
  const [before, after] = [last?.time_zone, current?.time_zone];
  if (!last || !before || !after || haveSameDays(before, after, now())) return null;
  const message = `APP_TIMEZONE was changed from ${before} to ${after} after reconciliation run ${last.id}. Dates that were written before the change stay days in ${before}. Set APP_TIMEZONE back unless the change is intended. If it is, compare the first and the last days of this month in the accounting export with Stripe.`;
  const subject = `after run ${last.id}`;
  await tellStaff(db, { kind: 'time_zone_changed', subject, message, entity: null, entity_id: null });
  return null;
}
