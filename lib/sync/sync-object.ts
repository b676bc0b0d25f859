import { and, eq, isNull, type SQL } from 'drizzle-orm';
import { isDatabaseUnavailable, lockKey } from '@/db/database';
import { type FieldChange, reconciliationChanges, reconciliationFailures } from '@/db/schema';
import { transact } from '@/db/transaction';
import { latest } from '../dates';
import { stackOf } from '../log';
import { fetchObject } from '../stripe/fetch';
import type { ProviderInvoice, ProviderSubscription } from '../stripe/provider';
import { applyInvoice } from './apply-invoice';
import { applySubscription } from './apply-subscription';
import { flushWrites, newContext, type Source, type SyncContext } from './context';
import { failureCode } from './failure-code';
import { withLookups } from './lookups';
import { markGone } from './mark-gone';
import { beat, LeaseLostError, type Run } from './run';
import { settleMoved } from './settle-moved';
import type { StripeDeps } from './step';
import type { SyncDeps } from './sync-deps';

export type Kind = 'subscription' | 'invoice';
/** What a run may fail to bring into step. */
type Subject = Kind | 'customer' | 'event';

/** Runs sync work of the daily job in one transaction and logs each changed field to the run. */
export async function inRun<T>(
  deps: SyncDeps,
  run: Run,
  key: string | null,
  work: (ctx: SyncContext) => Promise<T>,
): Promise<T> {
  const { changes, result } = await withLookups(deps, (lookups) =>
    transact(deps.db, async (tx) => {
      if (key) await lockKey(tx, key);
      const ctx = newContext(tx, deps, lookups);
      const result = await work(ctx);
      await settleMoved(ctx);
      await flushWrites(ctx);
      if (ctx.warnings.length > 0) {
        deps.log.warn({ run: run.id, warnings: [...new Set(ctx.warnings)] }, 'reconciliation left questions');
      }
      await logChanges(ctx, run);
      return { changes: ctx.changes.length, result };
    }),
  );
  run.counts.changes_count += changes;
  return result;
}

/** Brings our row into step with an object that Stripe gave us. */
export async function applyProvided(
  deps: SyncDeps,
  run: Run,
  object: { kind: 'subscription'; value: ProviderSubscription } | { kind: 'invoice'; value: ProviderInvoice },
  source: Source,
): Promise<void> {
  const key = object.value.customer?.stripeCustomerId ?? object.value.id;
  await inRun(deps, run, key, async (ctx) => {
    if (object.kind === 'subscription') await applySubscription(ctx, object.value, source);
    else await applyInvoice(ctx, object.value, source);
  });
  await resolveFailure(deps, object.kind, object.value.id);
}

/**
 * Retrieves an object by its id and applies it; one that is gone is marked so.
 *
 * @param heldAsOf of our row, read before: the fetch begins after it
 */
export async function retrieveAndApply(
  deps: StripeDeps,
  run: Run,
  kind: Kind,
  id: string,
  heldAsOf: Date | null,
): Promise<void> {
  const fetched = await fetchObject(deps.stripe, deps.now, kind, id);
  if (fetched.state === 'unavailable') return recordFailure(deps, run, kind, id, fetched.reason);
  if (fetched.state === 'gone') {
    await inRun(deps, run, null, (ctx) => markGone(ctx, kind, id));
    return resolveFailure(deps, kind, id);
  }
  const asOf = heldAsOf ? latest(fetched.asOf, heldAsOf) : fetched.asOf;
  const object = { kind, value: fetched.object } as Parameters<typeof applyProvided>[2];
  await applyProvided(deps, run, object, { origin: 'fetched', asOf });
}

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

function resolveFailure(deps: SyncDeps, object: Subject, stripe_id: string): Promise<void> {
  return resolveFailures(deps, object, eq(reconciliationFailures.stripe_id, stripe_id));
}

/** @param isSettled which of the failures are none any more */
export async function resolveFailures({ db, now }: SyncDeps, object: Subject, isSettled: SQL): Promise<void> {
  await db
    .update(reconciliationFailures)
    .set({ resolved_at: now() })
    .where(
      and(eq(reconciliationFailures.object, object), isNull(reconciliationFailures.resolved_at), isSettled),
    );
}

async function logChanges(ctx: SyncContext, run: Run): Promise<void> {
  const entries: FieldChange[] = ctx.changes;
  if (entries.length === 0) return;
  await ctx.tx.insert(reconciliationChanges).values(entries.map((entry) => ({ ...entry, run_id: run.id })));
}
