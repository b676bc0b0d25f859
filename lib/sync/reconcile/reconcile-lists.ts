import { sql } from 'drizzle-orm';
import { rows } from '@/db/database';
import { reconciliationSeen } from '@/db/schema';
import {
  isCursorGone,
  type ListRequest,
  listProviderInvoices,
  listProviderSubscriptions,
  type ProviderPage,
} from '../../stripe/list';
import { type Answers, Draft, type WantedKind } from '../decide/draft';
import { isEmpty, toPlan } from '../decide/plan';
import { mergeKeys, noKeys } from '../store/keys';
import { databaseStore } from '../store/store';
import type { SyncDeps } from '../sync-deps';
import {
  applyListed,
  decideListed,
  guarded,
  type Kind,
  keysOfProvided,
  type Provided,
  retrieveAndApply,
} from '../sync-object';
import type { Run } from './run';
import { nextAfter, STEP_PAGE, type StripeDeps } from './step';

type Read = (deps: StripeDeps, request: ListRequest) => Promise<ProviderPage<Provided['value']>>;

const READ: Record<Kind, Read> = {
  subscription: ({ stripe, now }, request) => listProviderSubscriptions(stripe, now, request),
  invoice: ({ stripe, now }, request) => listProviderInvoices(stripe, now, request),
};

type ReconcilePage = (
  deps: StripeDeps,
  run: Run,
  filter: Pick<ListRequest, 'status' | 'createdFrom'>,
  after: string | null,
) => Promise<string | null>;

/**
 * Goes through one page of Stripe's subscriptions; those that are stored just so are passed over.
 *
 * @returns where the next page begins; null at the end; empty where the list must begin again
 */
export const reconcileSubscriptionPage: ReconcilePage = (...page) => reconcilePage('subscription', ...page);

/** The same for invoices. */
export const reconcileInvoicePage: ReconcilePage = (...page) => reconcilePage('invoice', ...page);

async function reconcilePage(
  kind: Kind,
  ...[deps, run, filter, after]: Parameters<ReconcilePage>
): Promise<string | null> {
  const page = await fromStart(after, (cursor) => READ[kind](deps, { ...filter, after: cursor }));
  if (!page) return '';
  for (const { id, error } of page.refused) {
    await guarded(deps, run, kind, id, () => Promise.reject(error));
  }
  const met = (await unmet(deps, run, page.objects)).map((value) => ({ kind, value }) as Provided);
  const done = await findInSync(deps, met, page.asOf);
  for (const object of met) {
    if (done.has(object)) run.counts.objects_checked += 1;
    else {
      await guarded(deps, run, kind, object.value.id, () => applyListed(deps, run, object, page.asOf));
    }
  }
  await markSeen(
    deps,
    run,
    met.map(({ value }) => value),
  );
  return page.next;
}

/** Who somebody is was asked when it was reported; a list that tells it again is no reason to ask. */
const ANSWERS = ((kind: WantedKind) =>
  kind === 'customer' ? { state: 'unavailable', reason: 'no_api_key' } : undefined) as Answers;

/** Which of a page's objects change nothing: all of them are read at once, and each is decided on. */
export async function findInSync(deps: SyncDeps, objects: Provided[], asOf: Date): Promise<Set<Provided>> {
  const { timeZone, linkByEmail } = deps;
  const store = deps.store ?? databaseStore(deps.db);
  const settings = { now: deps.now(), timeZone, linkByEmail };
  let keys = objects.map(keysOfProvided).reduce(mergeKeys, noKeys());
  for (let reads = 1; ; reads += 1) {
    const snapshot = await store.read(keys);
    const drafts = objects.map((object) => {
      const draft = new Draft(snapshot, settings, ANSWERS);
      decideListed(draft, object, asOf);
      return draft;
    });
    const more = drafts.map(({ missing }) => missing).reduce(mergeKeys, keys);
    const isDone = drafts.every(({ isMissing }) => !isMissing) || reads === MOST_READS;
    if (isDone) return new Set(objects.filter((_, i) => changesNothing(drafts[i])));
    keys = more;
  }
}

const MOST_READS = 3;

const changesNothing = (draft: Draft | undefined) =>
  draft !== undefined && !draft.isIncomplete && !draft.unreported && isEmpty(toPlan(draft));

/** Retrieves those of ours that no list showed. @returns the last id looked at; null at the end */
export async function reconcileUnseen(
  deps: StripeDeps,
  run: Run,
  kind: Kind,
  after: string | null,
): Promise<string | null> {
  const found = await unseen(deps, run, kind, Number(after ?? 0));
  for (const row of found) {
    await guarded(deps, run, kind, row.stripe_id, () => retrieveAndApply(deps, run, kind, row.stripe_id));
  }
  return nextAfter(found);
}

/** Null where the page's cursor is gone, so that the list begins again. */
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

/**
 * The objects of a page that no earlier one of this run had. Each id is looked up by itself: the table was
 * empty when PostgreSQL last counted it, so that it would rather read all of the run's.
 */
async function unmet<T extends { id: string }>({ db }: SyncDeps, run: Run, objects: T[]): Promise<T[]> {
  const ids = sql.param(objects.map(({ id }) => id));
  const met = await rows<{ id: string }>(
    db,
    sql`select id from unnest(${ids}::text[]) as id, lateral (
        select from reconciliation_seen s where s.run_id = ${run.id}::int and s.stripe_id = id limit 1) as seen`,
  );
  const known = new Set(met.map(({ id }) => id));
  return objects.filter(({ id }) => !known.has(id));
}

/** Only once they are done: a run that dies within a page goes through all of it again. */
async function markSeen({ db }: SyncDeps, run: Run, objects: { id: string }[]): Promise<void> {
  if (objects.length === 0) return;
  const seen = objects.map(({ id }) => ({ run_id: run.id, stripe_id: id }));
  await db.insert(reconciliationSeen).values(seen).onConflictDoNothing();
}

async function unseen({ db }: SyncDeps, run: Run, kind: Kind, after: number) {
  const [table, column, open] =
    kind === 'subscription'
      ? [sql`subscriptions`, sql`stripe_subscription_id`, sql`t.status <> 'cancelled'`]
      : [sql`invoices`, sql`stripe_invoice_id`, sql`t.status in ('draft', 'sent', 'overdue')`];
  return rows<{ id: number; stripe_id: string }>(
    db,
    sql`select t.id, t.${column} as stripe_id
      from ${table} t
      where t.id > ${after}::int and t.${column} is not null and t.provider_gone_at is null and ${open}
        and not exists (
          select from reconciliation_seen s where s.run_id = ${run.id}::int and s.stripe_id = t.${column})
      order by t.id limit ${sql.raw(String(STEP_PAGE))}`,
  );
}
