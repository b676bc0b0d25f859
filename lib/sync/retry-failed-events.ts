import { and, asc, gt, sql } from 'drizzle-orm';
import { stripeEvents } from '@/db/schema';
import { replayEvent } from './handle-event';
import type { Run } from './run';
import { nextAfter, STEP_PAGE } from './step';
import type { SyncDeps } from './sync-deps';
import { guarded } from './sync-object';

/** Takes up events that could not be applied when they came. */
export async function retryFailedEvents(
  deps: SyncDeps,
  run: Run,
  after: string | null,
): Promise<string | null> {
  const failed = await deps.db
    .select({ id: stripeEvents.id })
    .from(stripeEvents)
    // A literal, so that its partial index is used.
    .where(and(sql`${stripeEvents.outcome} = 'failed'`, gt(stripeEvents.id, after ?? '')))
    .orderBy(asc(stripeEvents.id))
    .limit(STEP_PAGE);
  for (const { id } of failed) {
    await guarded(deps, run, 'event', id, async () => {
      await replayEvent(deps, id);
    });
  }
  return nextAfter(failed);
}
