import { and, asc, eq, gt, isNotNull, lte } from 'drizzle-orm';
import { stripeCustomers } from '@/db/schema';
import { fetchObject } from '../stripe/fetch';
import { linkCustomer } from './link-customer';
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
    .select({ id: stripeCustomers.stripe_customer_id, markedAt: stripeCustomers.recheck_at })
    .from(stripeCustomers)
    .where(and(isNotNull(stripeCustomers.recheck_at), gt(stripeCustomers.stripe_customer_id, after ?? '')))
    .orderBy(asc(stripeCustomers.stripe_customer_id))
    .limit(STEP_PAGE);
  for (const { id, markedAt } of found) {
    if (markedAt) await guarded(deps, run, 'customer', id, () => recheckCustomer(deps, run, id, markedAt));
  }
  return nextAfter(found);
}

/** @param markedAt of the mark that this answers: a later one, set while Stripe was asked, stays */
async function recheckCustomer(deps: StripeDeps, run: Run, id: string, markedAt: Date): Promise<void> {
  const fetched = await fetchObject(deps.stripe, deps.now, 'customer', id);
  if (fetched.state === 'unavailable') return recordFailure(deps, run, 'customer', id, fetched.reason);
  await inRun(deps, run, id, async (ctx) => {
    if (fetched.state === 'found') await linkCustomer(ctx, fetched.object);
    await ctx.tx
      .update(stripeCustomers)
      .set({ recheck_at: null, recheck_numbers: [] })
      .where(and(eq(stripeCustomers.stripe_customer_id, id), lte(stripeCustomers.recheck_at, markedAt)));
  });
  await resolveFailure(deps, 'customer', id);
}
