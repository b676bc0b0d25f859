import { and, eq, isNull, type SQL } from 'drizzle-orm';
import { isDatabaseUnavailable } from '@/db/database';
import { reconciliationFailures } from '@/db/schema';
import { stackOf } from '../../log';
import type { SyncDeps } from '../sync-deps';
import { failureCode } from './failure-code';
import { beat, LeaseLostError, type Run } from './lease';

export type Subject = (typeof reconciliationFailures.$inferSelect)['object'];

/** One object's trouble is recorded, kept for the next run by its id, and stops nothing else. */
export async function guarded(
  deps: SyncDeps,
  run: Run,
  object: Subject,
  id: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    run.counts.objects_checked += 1;
    await work();
  } catch (error) {
    if (error instanceof LeaseLostError || isDatabaseUnavailable(error)) throw error;
    deps.log.error({ run: run.id, object, id, stack: stackOf(error) }, 'object not reconciled');
    await recordFailure(deps, run, object, id, failureCode(error));
  }
  await beat(deps.db, run, deps.now());
}

export async function recordFailure(
  { db, log }: SyncDeps,
  run: Run,
  object: Subject,
  stripe_id: string,
  error_code: string,
): Promise<void> {
  log.warn({ run: run.id, object, stripe_id, error_code }, 'object not reconciled');
  await db
    .insert(reconciliationFailures)
    .values({ run_id: run.id, object, stripe_id, error_code })
    .onConflictDoUpdate({
      target: [
        reconciliationFailures.run_id,
        reconciliationFailures.object,
        reconciliationFailures.stripe_id,
      ],
      set: { error_code },
    });
}

export function resolveFailure(deps: SyncDeps, object: Subject, stripe_id: string): Promise<void> {
  return resolveFailures(deps, object, eq(reconciliationFailures.stripe_id, stripe_id));
}

export async function resolveFailures({ db, now }: SyncDeps, object: Subject, isSettled: SQL): Promise<void> {
  await db
    .update(reconciliationFailures)
    .set({ resolved_at: now() })
    .where(
      and(eq(reconciliationFailures.object, object), isNull(reconciliationFailures.resolved_at), isSettled),
    );
}
