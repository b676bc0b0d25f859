import { and, eq, isNull, type SQL } from 'drizzle-orm';
import { isDatabaseUnavailable } from '@/db/database';
import { reconciliationFailures } from '@/db/schema';
import { stackOf } from '../log';
import type { ProviderInvoice, ProviderSubscription } from '../stripe/provider';
import type { Draft } from './decide/draft';
import { applyInvoice } from './decide/invoice/invoice';
import { keysOfInvoice, keysOfSubscription } from './decide/keys';
import { applyRetrieved } from './decide/retrieved';
import { settleMoved } from './decide/subscription/settle-moved';
import { applySubscription } from './decide/subscription/subscription';
import { failureCode } from './reconcile/failure-code';
import { beat, LeaseLostError, type Run } from './reconcile/run';
import type { StripeDeps } from './reconcile/step';
import { type Keys, mergeKeys, noKeys } from './store/keys';
import type { SyncDeps } from './sync-deps';
import { synchronize, type Work } from './synchronize';

export type Kind = 'subscription' | 'invoice';
/** What a run may fail to bring into step. */
export type Subject = Kind | 'customer' | 'event';

/** One step of sync for the daily job: what it changes is logged to the run. */
export async function inRun<T>(
  deps: SyncDeps,
  run: Run,
  work: Pick<Work<T>, 'stripeCustomerId' | 'keys' | 'decide'>,
): Promise<T> {
  const { result, changes, warnings } = await synchronize(deps, { ...work, runId: run.id });
  if (warnings.length > 0) deps.log.warn({ run: run.id, warnings }, 'reconciliation left questions');
  run.counts.changes_count += changes;
  return result;
}

export type Provided =
  | { kind: 'subscription'; value: ProviderSubscription }
  | { kind: 'invoice'; value: ProviderInvoice };

export const keysOfProvided = ({ kind, value }: Provided): Keys =>
  mergeKeys(noKeys(), kind === 'subscription' ? keysOfSubscription(value) : keysOfInvoice(value));

/** Brings our row into step with an object of a list. */
export function decideListed(draft: Draft, { kind, value }: Provided, asOf: Date): void {
  const source = { origin: 'listed' as const, asOf };
  if (kind === 'subscription') applySubscription(draft, value, source);
  else applyInvoice(draft, value, source);
  settleMoved(draft);
}

export async function applyListed(deps: SyncDeps, run: Run, object: Provided, asOf: Date): Promise<void> {
  await inRun(deps, run, {
    stripeCustomerId: object.value.customer?.stripeCustomerId ?? null,
    keys: keysOfProvided(object),
    decide: (draft) => decideListed(draft, object, asOf),
  });
  await resolveFailure(deps, object.kind, object.value.id);
}

/** Retrieves an object by its id and applies it; one that is gone is marked so. */
export async function retrieveAndApply(deps: StripeDeps, run: Run, kind: Kind, id: string): Promise<void> {
  const reason = await inRun(deps, run, {
    stripeCustomerId: null,
    keys: mergeKeys(noKeys(), kind === 'subscription' ? { subscriptions: [id] } : { invoices: [id] }),
    decide: (draft) => applyRetrieved(draft, kind, id),
  });
  if (reason === undefined) await resolveFailure(deps, kind, id);
  else await recordFailure(deps, run, kind, id, reason);
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
