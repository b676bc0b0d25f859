import { sql } from 'drizzle-orm';
import { rows } from '@/db/database';
import { listProviderCheckouts } from '../stripe/list';
import { applyCheckout } from './apply-checkout';
import type { Run } from './run';
import { nextAfter, STEP_PAGE, type StripeDeps } from './step';
import { guarded, inRun } from './sync-object';

/** Looks for the completed checkouts of subscriptions that are not linked to Stripe yet. */
export async function findCheckouts(
  deps: StripeDeps,
  run: Run,
  after: string | null,
): Promise<string | null> {
  const unlinked = await rows<{ id: number; stripe_customer_id: string }>(
    deps.db,
    sql`select s.id, c.stripe_customer_id from subscriptions s join stripe_customers c using (customer_id)
      where s.stripe_subscription_id is null and s.status <> 'cancelled' and s.id > ${Number(after ?? 0)}::int
      order by s.id limit ${sql.raw(String(STEP_PAGE))}`,
  );
  for (const { id, stripe_customer_id } of unlinked) {
    await guarded(deps, run, 'subscription', `checkout of ${id}`, async () => {
      const found = await listProviderCheckouts(deps.stripe, stripe_customer_id);
      for (const checkout of found.filter(({ reference }) => reference === String(id))) {
        await inRun(deps, run, stripe_customer_id, async (ctx) => {
          await applyCheckout(ctx, checkout);
        });
      }
    });
  }
  return nextAfter(unlinked);
}
