import { and, asc, eq, gt, isNull, notExists, sql } from 'drizzle-orm';
import { reconciliationFailures, stripeEvents } from '@/db/schema';
import { replayEvent } from './handle-event';
import type { Run } from './run';
import { nextAfter, STEP_PAGE } from './step';
import type { SyncDeps } from './sync-deps';
import { guarded } from './sync-object';

// A literal, so that the partial indexes over it are used.
const hasFailed = sql`${stripeEvents.outcome} = 'failed'`;

/** Takes up events that could not be applied when they came. */
export async function retryFailedEvents(
  deps: SyncDeps,
  run: Run,
  after: string | null,
): Promise<string | null> {
  const failed = await deps.db
    .select({ id: stripeEvents.id })
    .from(stripeEvents)
    .where(and(hasFailed, gt(stripeEvents.id, after ?? '')))
    .orderBy(asc(stripeEvents.id))
    .limit(STEP_PAGE);
  for (const { id } of failed) {
    await guarded(deps, run, 'event', id, async () => {
      await replayEvent(deps, id);
    });
  }
  const next = nextAfter(failed);
  if (next === null) await resolveFailures(deps);
  return next;
}

/** Of events that were taken since, by this run, a delivery or staff. */
async function resolveFailures({ db, now }: SyncDeps): Promise<void> {
  const stillFails = db
    .select({ one: sql`1` })
    .from(stripeEvents)
    .where(and(eq(stripeEvents.id, reconciliationFailures.stripe_id), hasFailed));
  await db
    .update(reconciliationFailures)
    .set({ resolved_at: now() })
    .where(
      and(
        eq(reconciliationFailures.object, 'event'),
        isNull(reconciliationFailures.resolved_at),
        notExists(stillFails),
      ),
    );
}
