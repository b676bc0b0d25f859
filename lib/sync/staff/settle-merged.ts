import { asc, eq } from 'drizzle-orm';
import { stripeCustomers } from '@/db/schema';
import { ChangedMeanwhileError } from '@/db/transaction';
import { isSure } from '../../customers/sure-link';
import { moveStripeCustomer } from '../decide/customer/move-customer';
import type { Draft } from '../decide/draft';
import { settleMoved } from '../decide/subscription/settle-moved';
import { commit, isVersionConflict } from '../store/commit';
import { mergeKeys, noKeys } from '../store/keys';
import { read } from '../store/read';
import type { SyncDeps } from '../sync-deps';
import { Inquiry, readAndDecide } from '../sync-loop';
import { bookedOn, settingsOf } from '../synchronize';

/** Items and checkouts may name what the other had. @param deps of the transaction: Stripe is not asked */
export async function settleMerged(deps: SyncDeps, customerId: number): Promise<void> {
  const links = await deps.db
    .select({ id: stripeCustomers.stripe_customer_id })
    .from(stripeCustomers)
    .where(eq(stripeCustomers.customer_id, customerId))
    .orderBy(asc(stripeCustomers.stripe_customer_id));
  for (const { id } of links) await settle(deps, id);
}

async function settle(deps: SyncDeps, id: string): Promise<void> {
  const question = {
    settings: settingsOf(deps),
    keys: mergeKeys(noKeys(), { stripeCustomers: [id], whole: [id] }),
    decide: (draft: Draft) => decide(draft, id),
  };
  const decided = await readAndDecide((keys) => read(deps.db, keys), question, new Inquiry(false));
  if ('wanted' in decided) throw new Error('Stripe was to be asked within a transaction');
  const given = { plan: decided.plan, events: [], runId: null, bookedOn: () => bookedOn(deps) };
  await commit(deps.db, given).catch(orAgain);
}

function decide(draft: Draft, id: string): void {
  draft.concerned.add(id);
  const stored = draft.link(id);
  if (!stored) return;
  const { customer_id: customerId, linked_by: linkedBy } = stored;
  // Who merges the customer that was created for it with another one says who it is.
  if (linkedBy === 'created')
    moveStripeCustomer(draft, stored, { customerId, linkedBy: 'staff', origin: null });
  else if (isSure({ linkedBy })) draft.moved.push(id);
  settleMoved(draft);
}

/** Within a transaction nothing can be read anew after a conflict: all of it begins again. */
function orAgain(error: unknown): never {
  throw isVersionConflict(error) ? new ChangedMeanwhileError() : error;
}
