import { and, asc, gt, isNotNull, isNull, or, sql } from 'drizzle-orm';
import { invoices, reconciliationFailures, subscriptions } from '@/db/schema';
import { guarded } from '../failures';
import type { Run } from '../lease';
import { nextAfter, STEP_PAGE, type StripeDeps } from '../step';
import { retrieveAndApply } from '../sync-object';

/** Retrieves what was decided without Stripe's word, and subscriptions that were only ever named. */
export async function recheck(
  deps: StripeDeps,
  run: Run,
  kind: 'subscription' | 'invoice',
  after: string | null,
): Promise<string | null> {
  const table = kind === 'subscription' ? subscriptions : invoices;
  const column = kind === 'subscription' ? subscriptions.stripe_subscription_id : invoices.stripe_invoice_id;
  const isStub = kind === 'subscription' ? sql`${subscriptions.is_stub}` : undefined;
  const found = await deps.db
    .select({ id: table.id, stripeId: column })
    .from(table)
    .where(
      and(
        isNotNull(column),
        isNull(table.provider_gone_at),
        gt(table.id, Number(after ?? 0)),
        or(isNotNull(table.recheck_at), isStub),
      ),
    )
    .orderBy(asc(table.id))
    .limit(STEP_PAGE);
  for (const { stripeId } of found) {
    if (!stripeId) continue;
    await guarded(deps, run, kind, stripeId, () => retrieveAndApply(deps, run, kind, stripeId));
  }
  return nextAfter(found);
}

export async function retryFailures(
  deps: StripeDeps,
  run: Run,
  after: string | null,
): Promise<string | null> {
  const { id, object: kind, stripe_id, resolved_at } = reconciliationFailures;
  // There is one row for each run in which an object failed.
  const first = sql<number>`min(${id})`.mapWith(id);
  const failed = await deps.db
    .select({ id: first, object: kind, stripeId: stripe_id })
    .from(reconciliationFailures)
    .where(isNull(resolved_at))
    .groupBy(kind, stripe_id)
    .having(gt(first, Number(after ?? 0)))
    .orderBy(first)
    .limit(STEP_PAGE);
  for (const { object, stripeId } of failed) {
    if (object === 'event' || object === 'customer') continue; // the inbox and the link keep those themselves
    await guarded(deps, run, object, stripeId, () => retrieveAndApply(deps, run, object, stripeId));
  }
  return nextAfter(failed);
}
