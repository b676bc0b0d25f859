import { and, asc, eq, gt, isNull, notExists, sql } from 'drizzle-orm';
import { reconciliationFailures, stripeEvents } from '@/db/schema';
import { replayEvent } from '../../inbox/handle-event';
import type { SyncDeps } from '../../sync-deps';
import { guarded, resolveFailures } from '../failures';
import type { Run } from '../lease';
import { nextAfter, STEP_PAGE } from '../step';

// A literal, so that the partial indexes over it are used.
const hasFailed = sql`${stripeEvents.outcome} = 'failed'`;

export async function retryFailedEvents(
  deps: SyncDeps,
  run: Run,
  after: string | null,
): Promise<string | null> {
  const { mode } = deps;
  const isOfKeys = mode === null ? undefined : eq(stripeEvents.livemode, mode === 'live');
  const failed = await deps.db
    .select({ id: stripeEvents.id })
    .from(stripeEvents)
    .where(and(hasFailed, isOfKeys, isNull(stripeEvents.failure_reason), gt(stripeEvents.id, after ?? '')))
    .orderBy(asc(stripeEvents.id))
    .limit(STEP_PAGE);
  for (const { id } of failed) {
    await guarded(deps, run, 'event', id, async () => {
      await replayEvent(deps, id);
    });
  }
  const next = nextAfter(failed);
  if (next !== null) return next;
  const stillFails = deps.db
    .select({ one: sql`1` })
    .from(stripeEvents)
    .where(and(eq(stripeEvents.id, reconciliationFailures.stripe_id), hasFailed));
  await resolveFailures(deps, 'event', notExists(stillFails)); // a delivery or staff may have taken it, too
  return null;
}
