import { and, asc, eq, gt, inArray, isNotNull, isNull, sql } from 'drizzle-orm';
import { invoices, reconciliationFailures, subscriptions } from '@/db/schema';
import type { Run } from './run';
import { nextAfter, STEP_PAGE, type StripeDeps } from './step';
import { guarded, type Kind, retrieveAndApply } from './sync-object';

/** Retrieves what was decided without Stripe's word, and what failed in an earlier run. */
export async function recheck(
  deps: StripeDeps,
  run: Run,
  kind: Kind,
  after: string | null,
): Promise<string | null> {
  const table = kind === 'subscription' ? subscriptions : invoices;
  const column = kind === 'subscription' ? subscriptions.stripe_subscription_id : invoices.stripe_invoice_id;
  const failed = deps.db
    .select({ id: reconciliationFailures.stripe_id })
    .from(reconciliationFailures)
    .where(and(eq(reconciliationFailures.object, kind), isNull(reconciliationFailures.resolved_at)));
  const found = await deps.db
    .select({ id: table.id, stripeId: column, asOf: table.provider_as_of })
    .from(table)
    .where(
      and(
        isNotNull(column),
        gt(table.id, Number(after ?? 0)),
        sql`(${table.recheck_at} is not null or ${inArray(column, failed)})`,
      ),
    )
    .orderBy(asc(table.id))
    .limit(STEP_PAGE);
  for (const { stripeId, asOf } of found) {
    if (!stripeId) continue;
    await guarded(deps, run, kind, stripeId, () => retrieveAndApply(deps, run, kind, stripeId, asOf));
  }
  return nextAfter(found);
}
