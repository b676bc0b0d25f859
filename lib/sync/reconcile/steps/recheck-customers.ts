import { and, asc, eq, gt, isNotNull, notExists, sql } from 'drizzle-orm';
import { reconciliationFailures, stripeCustomers } from '@/db/schema';
import { recheckLink } from '../../decide/customer/link-customer';
import { settleMoved } from '../../decide/subscription/settle-moved';
import { mergeKeys, noKeys } from '../../store/keys';
import { guarded, recordFailure, resolveFailures } from '../failures';
import type { Run } from '../lease';
import { nextAfter, STEP_PAGE, type StripeDeps } from '../step';
import { inRun } from '../sync-object';

const { stripe_customer_id: id, recheck_at } = stripeCustomers;

export async function recheckCustomers(
  deps: StripeDeps,
  run: Run,
  after: string | null,
): Promise<string | null> {
  const found = await deps.db
    .select({ id })
    .from(stripeCustomers)
    .where(and(isNotNull(recheck_at), gt(id, after ?? '')))
    .orderBy(asc(id))
    .limit(STEP_PAGE);
  for (const { id } of found) await guarded(deps, run, 'customer', id, () => recheckCustomer(deps, run, id));
  const next = nextAfter(found);
  if (next !== null) return next;
  const stillFails = deps.db
    .select({ one: sql`1` })
    .from(stripeCustomers)
    .where(and(eq(id, reconciliationFailures.stripe_id), isNotNull(recheck_at)));
  await resolveFailures(deps, 'customer', notExists(stillFails)); // it may be settled though the run was refused
  return null;
}

async function recheckCustomer(deps: StripeDeps, run: Run, id: string): Promise<void> {
  const failure = await inRun(deps, run, {
    stripeCustomerId: id,
    keys: mergeKeys(noKeys(), { stripeCustomers: [id] }),
    decide: (draft) => {
      const failure = recheckLink(draft, id);
      settleMoved(draft);
      return failure;
    },
  });
  if (failure) await recordFailure(deps, run, 'customer', id, failure);
}
