import { type SQL, sql } from 'drizzle-orm';
import { rows } from '@/db/database';
import { decidedDisputes, reconciliationSeen } from '@/db/schema';
import { isEmpty, keysOf, uniteKeys } from '../../store/snapshot';
import {
  isCursorGone,
  type ListedKind,
  listObjects,
  listProviderCreditNotes,
  type ProviderCreditNote,
} from '../../stripe/fetch';
import { type Answers, Draft, type WantedKind } from '../decide/draft';
import { applyCreditNote } from '../decide/invoice';
import { applyObject, keysOfProvided, type Provided } from '../decide/object';
import { toPlan } from '../decide/plan';
import type { SyncDeps } from '../sync-deps';
import { settingsOf, storeOf } from '../synchronize';
import {
  applyListed,
  guarded,
  inRun,
  retrieveEach,
  retrieveGuarded,
  STEP_PAGE,
  type StepPage,
  type StripeDeps,
} from './object';
import type { Run } from './run';

/**
 * Returns a step that reads one of Stripe's lists page by page and applies its objects. If the cursor's object no
 * longer exists at Stripe, the step returns an empty cursor, which starts the list again.
 *
 * @param from function that returns the earliest creation time of the objects to list; null for all of history
 */
export const listed =
  (
    kind: ListedKind,
    status: string | null,
    from: (run: Run, deps: SyncDeps) => Date | null | Promise<Date | null> = () => null,
  ): StepPage<StripeDeps> =>
  async (deps, run, after) => {
    const { stripe, now } = deps;
    const createdFrom = await from(run, deps);
    const page = await fromStart(after, (cursor) =>
      listObjects(stripe, now, kind, { status, createdFrom, after: cursor }),
    );
    if (!page) return '';
    for (const { id, error } of page.refused) {
      await guarded(deps, run, kind, id, () => Promise.reject(error));
    }
    const unmet = (await findUnmet(deps, run, page.objects)).map((value) => ({ kind, value }) as Provided);
    const done = await findInSync(deps, unmet, page.asOf);
    const seen: { id: string }[] = [];
    for (const object of unmet) {
      if (done.has(object)) run.counts.objects_checked += 1;
      else {
        await guarded(deps, run, kind, object.value.id, () => applyListed(deps, run, object, page.asOf));
      }
      seen.push(object.value);
      if (deps.isOver?.()) break;
    }
    await markSeen(deps, run, seen);
    // If the run must stop within the page, the next call reads the page again and skips the objects seen.
    return seen.length < unmet.length ? (after ?? '') : page.next;
  };

/**
 * Answers for decisions that must not ask Stripe. For customers, the answer is `unavailable`. All other questions stay
 * unanswered, so decisions that depend on them are incomplete.
 */
const ANSWERS = ((kind: WantedKind) =>
  kind === 'customer' ? { state: 'unavailable', reason: 'no_api_key' } : undefined) as Answers;

export async function findInSync(deps: SyncDeps, objects: Provided[], asOf: Date): Promise<Set<Provided>> {
  const store = storeOf(deps);
  const settings = settingsOf(deps);
  let keys = uniteKeys(objects.map(keysOfProvided));
  for (let reads = 1; ; reads += 1) {
    const snapshot = await store.read(keys);
    const drafts = objects.map((object) => {
      const draft = new Draft(snapshot, settings, ANSWERS);
      applyObject(draft, object, { origin: 'listed', asOf });
      return draft;
    });
    const isDone = drafts.every(({ isMissing }) => !isMissing) || reads === MOST_READS;
    if (isDone) return new Set(objects.filter((_, i) => changesNothing(drafts[i])));
    keys = uniteKeys([keys, ...drafts.map(({ missing }) => missing)]);
  }
}

const MOST_READS = 3;

const changesNothing = (draft: Draft | undefined) =>
  draft !== undefined && !draft.isIncomplete && !draft.unreported && isEmpty(toPlan(draft));

async function fromStart<T>(
  after: string | null,
  read: (after: string | null) => Promise<T>,
): Promise<T | null> {
  try {
    return await read(after === '' ? null : after);
  } catch (error) {
    if (after && isCursorGone(error)) return null;
    throw error;
  }
}

/** Returns a step that retrieves the objects of open rows that did not appear in any list of this run. */
export const unseen =
  (kind: ListedKind): StepPage<StripeDeps> =>
  async (deps, run, after) => {
    const [table, column, open] = OPEN[kind];
    const found = await rows<{ id: number; stripe_id: string }>(
      deps.db,
      sql`select t.id, t.${column} as stripe_id
      from ${table} t
      where t.id > ${Number(after ?? 0)}::int and t.${column} is not null and t.provider_gone_at is null and ${open}
        and not exists (
          select from reconciliation_seen s where s.run_id = ${run.id}::int and s.stripe_id = t.${column})
      order by t.id limit ${sql.raw(String(STEP_PAGE))}`,
    );
    return retrieveEach(deps, run, kind, found);
  };

/**
 * Returns the objects that this run has not processed yet. Looks up each id separately, because PostgreSQL's statistics
 * may still describe an empty table, and a join would then scan the whole table.
 */
async function findUnmet<T extends { id: string }>({ db }: SyncDeps, run: Run, objects: T[]): Promise<T[]> {
  const ids = sql.param(objects.map(({ id }) => id));
  const met = await rows<{ id: string }>(
    db,
    sql`select id from unnest(${ids}::text[]) as id, lateral (
        select from reconciliation_seen s where s.run_id = ${run.id}::int and s.stripe_id = id limit 1) as seen`,
  );
  const known = new Set(met.map(({ id }) => id));
  return objects.filter(({ id }) => !known.has(id));
}

/** Marks objects as seen after they were processed. If a run dies within a page, the whole page is repeated. */
async function markSeen({ db }: SyncDeps, run: Run, objects: { id: string }[]): Promise<void> {
  if (objects.length === 0) return;
  const seen = objects.map(({ id }) => ({ run_id: run.id, stripe_id: id }));
  await db.insert(reconciliationSeen).values(seen).onConflictDoNothing();
}

/** For each kind: its table, the column with Stripe's ids, and the condition for open rows. */
const OPEN: Record<ListedKind, [SQL, SQL, SQL]> = {
  subscription: [sql`subscriptions`, sql`stripe_subscription_id`, sql`t.status <> 'cancelled'`],
  invoice: [sql`invoices`, sql`stripe_invoice_id`, sql`t.status in ('draft', 'sent', 'overdue')`],
  refund: [sql`refunds`, sql`stripe_refund_id`, sql`t.status = 'pending'`],
  dispute: [sql`disputes`, sql`stripe_dispute_id`, sql`t.status not in ${decidedDisputes}`],
};

const DAY_MS = 86_400_000;

/**
 * Number of days before the run's window for which refunds are listed too. A refund can fail 30 days after its creation
 * (docs.stripe.com/refunds#failed-refunds).
 */
const REVISED_DAYS = 32;

/**
 * Number of days before the run's window for which disputes are listed too. Most disputes are decided within three
 * months, and a bank may reverse its decision later. `unseen` retrieves each older open dispute separately.
 */
const DISPUTE_DAYS = 120;

/**
 * Maximum number of invoices whose lines are retrieved one invoice at a time. For more invoices, listing all invoices
 * takes fewer requests.
 */
const FEW_INVOICES = 200;

/**
 * Returns the time from which invoices are listed. Null means all of history, for example because the lines of many
 * invoices are not stored yet after an upgrade.
 */
export async function invoicesFrom({ windowFrom }: Run, { db }: SyncDeps): Promise<Date | null> {
  if (!windowFrom) return null;
  const [many] = await rows<{ id: number }>(
    db,
    sql`select id from invoices
      where stripe_invoice_id is not null and not lines_complete and provider_gone_at is null
      limit 1 offset ${sql.raw(String(FEW_INVOICES))}`,
  );
  return many ? null : windowFrom;
}

/** Returns the time from which refunds are listed, early enough to see late failures. Null for all of history. */
export function refundsFrom({ windowFrom }: Run): Date | null {
  return windowFrom && new Date(windowFrom.getTime() - REVISED_DAYS * DAY_MS);
}

/** Returns the time from which disputes are listed, early enough to see late decisions. Null for all of history. */
export function disputesFrom({ windowFrom }: Run): Date | null {
  return windowFrom && new Date(windowFrom.getTime() - DISPUTE_DAYS * DAY_MS);
}

/**
 * Retrieves the invoices whose stored state may not include a listed credit note yet. Then stores credit notes that are
 * new or newly void.
 */
export const reconcileCreditNotes: StepPage<StripeDeps> = async (deps, run, after) => {
  const request = {
    status: null,
    createdFrom: await creditNotesFrom(run, deps),
    after: after === '' ? null : after,
  };
  const { notes, refused, next } = await listProviderCreditNotes(deps.stripe, request, deps.afterQuestion);
  run.counts.objects_checked += notes.length;
  for (const { id, error } of refused) deps.log.warn({ id, reason: error.message }, 'credit note not stored');
  const behind = await rows<{ id: string }>(
    deps.db,
    sql`select distinct n.id from unnest(
        ${sql.param(notes.map(({ invoice }) => invoice))}::text[],
        ${sql.param(notes.map(({ changedAt }) => changedAt.toISOString()))}::text[]) as n(id, changed_at)
      left join invoices i on i.stripe_invoice_id = n.id
      where i.id is null or i.provider_gone_at is null and coalesce(i.provider_as_of <= n.changed_at::timestamptz, true)
      order by n.id`,
  );
  for (const { id } of behind) await retrieveGuarded(deps, run, 'invoice', id);
  await storeCreditNotes(deps, run, notes);
  return next;
};

/**
 * Returns the time from which credit notes are listed. If the credited amount of an invoice differs from its stored
 * credit notes, for example after an upgrade, or because Stripe voided an old credit note, that is at most the day before
 * the oldest such invoice was issued or stored. The same holds if an earlier version stored a credit note without the
 * amount that it added to the customer's balance. Null means all of history.
 */
async function creditNotesFrom({ windowFrom }: Run, { db }: SyncDeps): Promise<Date | null> {
  if (!windowFrom) return null;
  const [oldest] = await rows<{ day: string | null }>(
    db,
    sql`with stored as (select invoice_id, sum(total) as total, bool_and(to_balance is not null) as is_whole
        from credit_notes where stripe_credit_note_id is not null and voided_at is null group by invoice_id)
      select min(least(i.invoice_date, i.created_at::date))::text as day
      from (select id from invoices where stripe_invoice_id is not null and amount_credited > 0
        union select invoice_id from stored) as known(id)
      join invoices i on i.id = known.id left join stored on stored.invoice_id = i.id
      where i.provider_gone_at is null
        and (i.amount_credited <> coalesce(stored.total, 0) or not stored.is_whole)`,
  );
  if (!oldest?.day) return windowFrom;
  // An invoice may be dated later than its credit notes. A day begins at most 14 hours before the same day in UTC.
  return new Date(Math.min(windowFrom.getTime(), Date.parse(oldest.day) - DAY_MS));
}

async function storeCreditNotes(deps: SyncDeps, run: Run, notes: ProviderCreditNote[]): Promise<void> {
  const known = await rows<{ id: string; is_void: boolean; is_whole: boolean }>(
    deps.db,
    sql`select stripe_credit_note_id as id, voided_at is not null as is_void, to_balance is not null as is_whole
      from credit_notes where stripe_credit_note_id = any(${sql.param(notes.map(({ id }) => id))}::text[])`,
  );
  const isStored = ({ id, voidedAt }: ProviderCreditNote) =>
    known.some((one) => one.id === id && (one.is_void || (one.is_whole && voidedAt === null)));
  const changed = notes.filter((note) => !isStored(note));
  if (changed.length === 0) return;
  await inRun(deps, run, {
    stripeCustomerId: null,
    keys: keysOf({ invoices: changed.map(({ invoice }) => invoice) }),
    decide: (draft) => {
      for (const note of changed) applyCreditNote(draft, note);
    },
  });
}
