import { and, asc, gt, isNotNull } from 'drizzle-orm';
import { stripeCustomers } from '@/db/schema';
import { recheckLink } from './link-customer';
import type { Run } from './run';
import { nextAfter, STEP_PAGE, type StripeDeps } from './step';
import { guarded, inRun, recordFailure, resolveFailure } from './sync-object';

/** Asks Stripe who those are of whom it could not be asked when they were linked. */
export async function recheckCustomers(
  deps: StripeDeps,
  run: Run,
  after: string | null,
): Promise<string | null> {
  const found = await deps.db
    .select({ id: stripeCustomers.stripe_customer_id })
    .from(stripeCustomers)
    .where(and(isNotNull(stripeCustomers.recheck_at), gt(stripeCustomers.stripe_customer_id, after ?? '')))
    .orderBy(asc(stripeCustomers.stripe_customer_id))
    .limit(STEP_PAGE);
  for (const { id } of found) await guarded(deps, run, 'customer', id, () => recheckCustomer(deps, run, id));
  return nextAfter(found);
}

async function recheckCustomer(deps: StripeDeps, run: Run, id: string): Promise<void> {
  const failure = await inRun(deps, run, id, async (ctx) => {
    const reason = await recheckLink(ctx, id);
    if (!reason) await resolveFailure({ ...deps, db: ctx.tx }, 'customer', id);
    return reason;
  });
  if (failure) await recordFailure(deps, run, 'customer', id, failure);
}
