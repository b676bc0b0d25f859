import { type SQL, sql } from 'drizzle-orm';
import { rows } from '@/db/database';
import { decidedDisputes, reconciliationSeen } from '@/db/schema';
import type { Ordered } from '../../decide/order';
import type { SyncDeps } from '../../sync-deps';
import { guarded } from '../failures';
import type { Run } from '../lease';
import { nextAfter, STEP_PAGE, type StripeDeps } from '../step';
import { retrieveAndApply } from '../sync-object';

/** @returns the last id looked at; null at the end */
export async function reconcileUnseen(
  deps: StripeDeps,
  run: Run,
  kind: Ordered,
  after: string | null,
): Promise<string | null> {
  const found = await unseen(deps, run, kind, Number(after ?? 0));
  for (const row of found) {
    await guarded(deps, run, kind, row.stripe_id, () => retrieveAndApply(deps, run, kind, row.stripe_id));
  }
  return nextAfter(found);
}

/** Looks up each id by itself: PostgreSQL last counted the table when it was empty, and would read it all. */
export async function unmet<T extends { id: string }>(
  { db }: SyncDeps,
  run: Run,
  objects: T[],
): Promise<T[]> {
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
export async function markSeen({ db }: SyncDeps, run: Run, objects: { id: string }[]): Promise<void> {
  if (objects.length === 0) return;
  const seen = objects.map(({ id }) => ({ run_id: run.id, stripe_id: id }));
  await db.insert(reconciliationSeen).values(seen).onConflictDoNothing();
}

/** The table of each kind, its column of Stripe's ids, and which of its rows are open. */
const OPEN: Record<Ordered, [SQL, SQL, SQL]> = {
  subscription: [sql`subscriptions`, sql`stripe_subscription_id`, sql`t.status <> 'cancelled'`],
  invoice: [sql`invoices`, sql`stripe_invoice_id`, sql`t.status in ('draft', 'sent', 'overdue')`],
  refund: [sql`refunds`, sql`stripe_refund_id`, sql`t.status = 'pending'`],
  dispute: [sql`disputes`, sql`stripe_dispute_id`, sql`t.status not in ${decidedDisputes}`],
};

async function unseen({ db }: SyncDeps, run: Run, kind: Ordered, after: number) {
  const [table, column, open] = OPEN[kind];
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
