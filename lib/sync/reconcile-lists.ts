import { and, eq, inArray, sql } from 'drizzle-orm';
import { rows } from '@/db/database';
import { reconciliationSeen } from '@/db/schema';
import {
  isCursorGone,
  type ListRequest,
  listProviderInvoices,
  listProviderSubscriptions,
} from '../stripe/list';
import type { ProviderInvoice } from '../stripe/provider';
import { heldInvoices, needsLookup } from './held-invoices';
import { heldSubscriptions } from './held-subscriptions';
import type { Run } from './run';
import { nextAfter, STEP_PAGE, type StripeDeps } from './step';
import type { SyncDeps } from './sync-deps';
import { applyProvided, guarded, type Kind, retrieveAndApply } from './sync-object';

type Filter = Pick<ListRequest, 'status' | 'createdFrom'>;

/**
 * Goes through one page of Stripe's subscriptions; those that we hold just so are passed over.
 *
 * @returns where the next page begins; null at the end; empty where the list must begin again
 */
export async function reconcileSubscriptionPage(
  deps: StripeDeps,
  run: Run,
  filter: Filter,
  after: string | null,
): Promise<string | null> {
  const page = await fromStart(after, (cursor) =>
    listProviderSubscriptions(deps.stripe, deps.now, { ...filter, after: cursor }),
  );
  if (!page) return '';
  const met = await unmet(deps, run, page.objects);
  const held = await heldSubscriptions(deps, met);
  const source = { origin: 'listed', asOf: page.asOf } as const;
  for (const value of met) {
    if (held.has(value.id)) run.counts.objects_checked += 1;
    else
      await guarded(deps, run, 'subscription', value.id, () =>
        applyProvided(deps, run, { kind: 'subscription', value }, source),
      );
  }
  await markSeen(deps, run, met);
  return page.next;
}

/** Goes through one page of Stripe's invoices; those that we hold just so cost one query for all of them. */
export async function reconcileInvoicePage(
  deps: StripeDeps,
  run: Run,
  filter: Filter,
  after: string | null,
): Promise<string | null> {
  const page = await fromStart(after, (cursor) =>
    listProviderInvoices(deps.stripe, deps.now, { ...filter, after: cursor }),
  );
  if (!page) return '';
  const met = await unmet(deps, run, page.objects);
  const held = await heldInvoices(deps, met);
  for (const value of met) {
    if (held.has(value.id)) run.counts.objects_checked += 1;
    else await guarded(deps, run, 'invoice', value.id, () => reconcileInvoice(deps, run, value, page.asOf));
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

/** The objects of a page that no earlier one of this run had. */
async function unmet<T extends { id: string }>({ db }: SyncDeps, run: Run, objects: T[]): Promise<T[]> {
  if (objects.length === 0) return [];
  const met = await db
    .select({ id: reconciliationSeen.stripe_id })
    .from(reconciliationSeen)
    .where(
      and(
        eq(reconciliationSeen.run_id, run.id),
        inArray(
          reconciliationSeen.stripe_id,
          objects.map(({ id }) => id),
        ),
      ),
    );
  const ids = new Set(met.map(({ id }) => id));
  return objects.filter(({ id }) => !ids.has(id));
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
