import { sql } from 'drizzle-orm';
import { rows } from '@/db/database';
import { reconciliationSeen } from '@/db/schema';
import {
  isCursorGone,
  type ListRequest,
  listProviderInvoices,
  listProviderSubscriptions,
  type ProviderPage,
} from '../stripe/list';
import type { ProviderInvoice, ProviderSubscription } from '../stripe/provider';
import { heldInvoices, needsLookup } from './held-invoices';
import { heldSubscriptions } from './held-subscriptions';
import type { Run } from './run';
import { nextAfter, STEP_PAGE, type StripeDeps } from './step';
import type { SyncDeps } from './sync-deps';
import { applyProvided, guarded, type Kind, retrieveAndApply } from './sync-object';

interface List<T extends { id: string }> {
  kind: Kind;
  read(deps: StripeDeps, request: ListRequest): Promise<ProviderPage<T>>;
  /** Which of a page's objects we hold just as they are. */
  held(deps: SyncDeps, objects: T[], asOf: Date): Promise<Set<string>>;
  reconcile(deps: StripeDeps, run: Run, value: T, asOf: Date): Promise<void>;
}

const subscriptionList: List<ProviderSubscription> = {
  kind: 'subscription',
  read: ({ stripe, now }, request) => listProviderSubscriptions(stripe, now, request),
  held: heldSubscriptions,
  reconcile: (deps, run, value, asOf) =>
    applyProvided(deps, run, { kind: 'subscription', value }, { origin: 'listed', asOf }),
};

const invoiceList: List<ProviderInvoice> = {
  kind: 'invoice',
  read: ({ stripe, now }, request) => listProviderInvoices(stripe, now, request),
  held: heldInvoices,
  reconcile: reconcileInvoice,
};

type ReconcilePage = (
  deps: StripeDeps,
  run: Run,
  filter: Pick<ListRequest, 'status' | 'createdFrom'>,
  after: string | null,
) => Promise<string | null>;

/**
 * Goes through one page of Stripe's subscriptions; those that we hold just so are passed over.
 *
 * @returns where the next page begins; null at the end; empty where the list must begin again
 */
export const reconcileSubscriptionPage: ReconcilePage = (...page) => reconcilePage(subscriptionList, ...page);

/** The same for invoices. */
export const reconcileInvoicePage: ReconcilePage = (...page) => reconcilePage(invoiceList, ...page);

async function reconcilePage<T extends { id: string }>(
  list: List<T>,
  ...[deps, run, filter, after]: Parameters<ReconcilePage>
): Promise<string | null> {
  const page = await fromStart(after, (cursor) => list.read(deps, { ...filter, after: cursor }));
  if (!page) return '';
  for (const { id, error } of page.refused) {
    await guarded(deps, run, list.kind, id, () => Promise.reject(error));
  }
  const met = await unmet(deps, run, page.objects);
  const held = await list.held(deps, met, page.asOf);
  for (const value of met) {
    if (held.has(value.id)) run.counts.objects_checked += 1;
    else await guarded(deps, run, list.kind, value.id, () => list.reconcile(deps, run, value, page.asOf));
  }
  await markSeen(deps, run, met);
  return page.next;
}

/** Retrieves those of ours that no list showed. @returns the last id looked at; null at the end */
export async function reconcileUnseen(
  deps: StripeDeps,
  run: Run,
  kind: Kind,
  after: string | null,
): Promise<string | null> {
  const found = await unseen(deps, run, kind, Number(after ?? 0));
  for (const row of found) {
    await guarded(deps, run, kind, row.stripe_id, () =>
      retrieveAndApply(deps, run, kind, row.stripe_id, row.as_of ? new Date(row.as_of) : null),
    );
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

async function reconcileInvoice(
  deps: StripeDeps,
  run: Run,
  value: ProviderInvoice,
  asOf: Date,
): Promise<void> {
  const held = await needsLookup(deps, value);
  if (held) await retrieveAndApply(deps, run, 'invoice', value.id, held.provider_as_of);
  else await applyProvided(deps, run, { kind: 'invoice', value }, { origin: 'listed', asOf });
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
  return rows<{ id: number; stripe_id: string; as_of: string | null }>(
    db,
    sql`select t.id, t.${column} as stripe_id, t.provider_as_of::text as as_of
      from ${table} t
      where t.id > ${after}::int and t.${column} is not null and t.provider_gone_at is null and ${open}
        and not exists (
          select from reconciliation_seen s where s.run_id = ${run.id}::int and s.stripe_id = t.${column})
      order by t.id limit ${sql.raw(String(STEP_PAGE))}`,
  );
}
