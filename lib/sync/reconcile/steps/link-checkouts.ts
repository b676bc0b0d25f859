import { sql } from 'drizzle-orm';
import { rows } from '@/db/database';
import { listProviderCheckouts } from '../../../stripe/list';
import { applyCheckout } from '../../decide/checkout/checkout';
import { keysOfCheckout } from '../../decide/keys';
import { settleMoved } from '../../decide/subscription/settle-moved';
import { mergeKeys, noKeys } from '../../store/keys';
import { guarded } from '../failures';
import type { Run } from '../lease';
import { nextAfter, STEP_PAGE, type StripeDeps } from '../step';
import { inRun } from '../sync-object';

export async function linkCheckouts(
  deps: StripeDeps,
  run: Run,
  after: string | null,
): Promise<string | null> {
  const unlinked = await rows<{ id: number; stripe_customers: string[] }>(
    deps.db,
    sql`select s.id, array_agg(c.stripe_customer_id order by c.stripe_customer_id) as stripe_customers
      from subscriptions s join stripe_customers c using (customer_id)
      where s.stripe_subscription_id is null and s.status <> 'cancelled' and s.id > ${Number(after ?? 0)}::int
      group by s.id order by s.id limit ${sql.raw(String(STEP_PAGE))}`,
  );
  for (const { id, stripe_customers } of unlinked) {
    for (const customer of stripe_customers) {
      await guarded(deps, run, 'customer', customer, () => linkCheckout(deps, run, id, customer));
    }
  }
  return nextAfter(unlinked);
}

/** One that Stripe does not know is asked about again by the next run, since it is still not linked. */
async function linkCheckout(deps: StripeDeps, run: Run, id: number, customer: string): Promise<void> {
  const found = await listProviderCheckouts(deps.stripe, customer);
  for (const checkout of found.filter(({ reference }) => reference === id)) {
    await inRun(deps, run, {
      stripeCustomerId: customer,
      keys: mergeKeys(noKeys(), keysOfCheckout(checkout)),
      decide: (draft) => {
        applyCheckout(draft, checkout);
        settleMoved(draft);
      },
    });
  }
}
