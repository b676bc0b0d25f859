import { and, eq, isNull, type SQL } from 'drizzle-orm';
import Stripe from 'stripe';
import { isDatabaseUnavailable, pgErrorCode } from '@/db/database';
import { reconciliationFailures } from '@/db/schema';
import { stackOf } from '../../log';
import { keysOf } from '../../store/snapshot';
import { type ListedKind, stripeErrorCode } from '../../stripe/fetch';
import { applyObject, applyRetrieved, keysOfProvided, type Provided } from '../decide/object';
import type { SyncDeps } from '../sync-deps';
import { NotReportedError, synchronize, type Work } from '../synchronize';
import { beat, LeaseLostError, type Run } from './run';

/** Decides and commits one unit of work, and adds the number of its changes to the run's counts. */
export async function inRun<T>(
  deps: SyncDeps,
  run: Run,
  work: Pick<Work<T>, 'stripeCustomerId' | 'keys' | 'decide'>,
): Promise<T> {
  const { result, changes, warnings } = await synchronize(deps, { ...work, runId: run.id });
  if (warnings.length > 0) deps.log.warn({ run: run.id, warnings }, 'reconciliation left questions');
  run.counts.changes_count += changes.length;
  return result;
}

/** Applies an object from one of Stripe's lists, and marks its recorded failures as resolved. */
export async function applyListed(deps: SyncDeps, run: Run, object: Provided, asOf: Date): Promise<void> {
  await inRun(deps, run, {
    stripeCustomerId: 'customer' in object.value ? (object.value.customer?.stripeCustomerId ?? null) : null,
    keys: keysOfProvided(object),
    decide: (draft) => applyObject(draft, object, { origin: 'listed', asOf }),
  });
  await resolveFailure(deps, object.kind, object.value.id);
}

/** Asks Stripe for one object by its id and applies the answer. Records a failure if Stripe does not answer. */
export async function retrieveAndApply(
  deps: StripeDeps,
  run: Run,
  kind: ListedKind,
  id: string,
): Promise<void> {
  const reason = await inRun(deps, run, {
    stripeCustomerId: null,
    keys: keysOf({ [`${kind}s`]: [id] }),
    decide: (draft) => applyRetrieved(draft, kind, id),
  });
  if (reason === undefined) await resolveFailure(deps, kind, id);
  else await recordFailure(deps, run, kind, id, reason);
}

export type Subject = (typeof reconciliationFailures.$inferSelect)['object'];

/** Processes one object. If this fails, stores the failure for a later retry, and lets the run continue. */
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

/** Retrieves and applies one object. Like `guarded`, stores a failure for a later retry and lets the run continue. */
export function retrieveGuarded(deps: StripeDeps, run: Run, kind: ListedKind, id: string): Promise<void> {
  return guarded(deps, run, kind, id, () => retrieveAndApply(deps, run, kind, id));
}

/**
 * Retrieves and applies the objects of a page of rows.
 *
 * @returns the cursor of the next page, or of the next row if the run must stop; null if the page was the last one
 */
export async function retrieveEach(
  deps: StripeDeps,
  run: Run,
  kind: ListedKind,
  page: { id: number; stripe_id: string | null }[],
): Promise<string | null> {
  for (const { id, stripe_id } of page) {
    if (stripe_id) await retrieveGuarded(deps, run, kind, stripe_id);
    if (deps.isOver?.()) return String(id);
  }
  return nextAfter(page);
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

export async function resolveFailures({ db, now }: SyncDeps, object: Subject, isSettled: SQL): Promise<void> {
  await db
    .update(reconciliationFailures)
    .set({ resolved_at: now() })
    .where(
      and(eq(reconciliationFailures.object, object), isNull(reconciliationFailures.resolved_at), isSettled),
    );
}

/** Returns a short code without personal data: an SQLSTATE, Stripe's error code, or the name of the error. */
export function failureCode(error: unknown): string {
  if (error instanceof Stripe.errors.StripeError) return stripeErrorCode(error);
  if (error instanceof NotReportedError) return error.reason;
  return pgErrorCode(error) ?? (error instanceof Error ? error.name : 'unknown');
}

export type StripeDeps = SyncDeps & { stripe: NonNullable<SyncDeps['stripe']> };

/** Performs one page of a step. @returns the cursor of the next page; null when the step is done */
export type StepPage<Deps> = (deps: Deps, run: Run, after: string | null) => Promise<string | null>;

export const STEP_PAGE = 100;

/** Returns the cursor after a page. Returns null if the page was the last one. */
export function nextAfter(page: { id: number | string }[]): string | null {
  return page.length === STEP_PAGE ? String(page.at(-1)?.id) : null;
}
