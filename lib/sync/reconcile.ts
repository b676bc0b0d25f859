import { isDatabaseUnavailable, pgErrorCode } from '@/db/database';
import type { reconciliationRuns } from '@/db/schema';
import { stripeErrorCode } from '../stripe/fetch';
import { reconcileInvoicePage, reconcileSubscriptionPage, reconcileUnseen } from './reconcile-lists';
import {
  findCheckouts,
  markOverdue,
  recheck,
  recordMissingPayments,
  retryFailedEvents,
} from './reconcile-local';
import {
  acquireRun,
  checkpoint,
  countFailures,
  finishRun,
  LeaseLostError,
  type Run,
  type RunRequest,
  releaseRun,
} from './run';
import type { SyncDeps } from './sync-deps';

type StripeDeps = SyncDeps & { stripe: NonNullable<SyncDeps['stripe']> };
type Phase = (typeof reconciliationRuns.$inferSelect)['phase'];
/** Does one page. @returns where the next one begins; null when the step is done */
type Page<Deps> = (deps: Deps, run: Run, cursor: string | null) => Promise<string | null>;
type Step = { name: string; phase: Phase } & (
  | { needs: 'stripe'; page: Page<StripeDeps> }
  | { needs: 'database'; page: Page<SyncDeps> }
);

export interface ReconcileOptions extends RunRequest {
  /** Stop cleanly at the next page after this instant; the next call goes on from there. */
  deadline?: Date;
}

export interface ReconcileResult {
  runId: number;
  /** `running`: somebody else's; `stopped`: the deadline came, the run goes on with the next call. */
  status: 'completed' | 'completed_with_errors' | 'failed' | 'running' | 'stopped';
  checked: number;
  changes: number;
  failures: number;
  stripeSkipped: boolean;
  alreadyRunning: boolean;
}

const subscriptionList =
  (status: string | null): Page<StripeDeps> =>
  (deps, run, cursor) =>
    reconcileSubscriptionPage(deps, run, { status, createdFrom: status ? run.windowFrom : null }, cursor);

const invoiceList =
  (status: string | null): Page<StripeDeps> =>
  (deps, run, cursor) =>
    reconcileInvoicePage(deps, run, { status, createdFrom: status ? null : run.windowFrom }, cursor);

// What is open at Stripe, what was created lately, what we hold open and saw in neither: the cost grows
// with these, not with history.
const STEPS: Step[] = [
  { name: 'failed events', phase: 'inbox', needs: 'database', page: retryFailedEvents },
  { name: 'live subscriptions', phase: 'subscriptions', needs: 'stripe', page: subscriptionList(null) },
  { name: 'recent subscriptions', phase: 'subscriptions', needs: 'stripe', page: subscriptionList('all') },
  {
    name: 'unseen subscriptions',
    phase: 'subscriptions',
    needs: 'stripe',
    page: (deps, run, cursor) => reconcileUnseen(deps, run, 'subscription', cursor),
  },
  { name: 'checkouts', phase: 'subscriptions', needs: 'stripe', page: findCheckouts },
  { name: 'open invoices', phase: 'invoices', needs: 'stripe', page: invoiceList('open') },
  { name: 'draft invoices', phase: 'invoices', needs: 'stripe', page: invoiceList('draft') },
  { name: 'uncollectible invoices', phase: 'invoices', needs: 'stripe', page: invoiceList('uncollectible') },
  { name: 'recent invoices', phase: 'invoices', needs: 'stripe', page: invoiceList(null) },
  {
    name: 'unseen invoices',
    phase: 'invoices',
    needs: 'stripe',
    page: (deps, run, cursor) => reconcileUnseen(deps, run, 'invoice', cursor),
  },
  {
    name: 'subscriptions to recheck',
    phase: 'rechecks',
    needs: 'stripe',
    page: (deps, run, cursor) => recheck(deps, run, 'subscription', cursor),
  },
  {
    name: 'invoices to recheck',
    phase: 'rechecks',
    needs: 'stripe',
    page: (deps, run, cursor) => recheck(deps, run, 'invoice', cursor),
  },
  { name: 'missing payments', phase: 'payments', needs: 'database', page: recordMissingPayments },
  { name: 'overdue invoices', phase: 'overdue', needs: 'database', page: markOverdue },
];

/**
 * Compares what Stripe has with what we hold and repairs it, logging each changed field. One run at a
 * time, whoever starts it; a run whose process died goes on from its last page. Without an API key only
 * our own rows are looked at.
 */
export async function reconcile(deps: SyncDeps, options: ReconcileOptions): Promise<ReconcileResult> {
  const run = await acquireRun(deps.db, deps.now(), options, deps.stripe !== null);
  if ('runningId' in run) return toResult(deps, { id: run.runningId }, 'running');
  return performRun(deps, run, options.deadline);
}

/** Takes an acquired run to its end, or to the deadline. */
export async function performRun(deps: SyncDeps, run: Run, deadline?: Date): Promise<ReconcileResult> {
  const [resumedStep = '', resumedCursor = null] = run.cursor?.split('\n') ?? [];
  const first = Math.max(
    0,
    STEPS.findIndex((step) => step.name === resumedStep),
  );
  let errorCode: string | null = null;
  for (const [index, step] of STEPS.slice(first).entries()) {
    try {
      const start = index === 0 ? resumedCursor : null;
      const isDone = await performStep(deps, run, step, start, errorCode !== null, deadline);
      if (!isDone) return toResult(deps, run, 'stopped');
    } catch (error) {
      if (error instanceof LeaseLostError) return toResult(deps, run, 'running');
      errorCode ??= errorCodeOf(error);
      deps.log.error(
        { run: run.id, step: step.name, code: errorCodeOf(error) },
        'reconciliation step failed',
      );
      if (isDatabaseUnavailable(error)) throw error; // nothing can be noted: the lease runs out by itself
    }
  }
  run.counts.failures_count = await countFailures(deps.db, run);
  const status = errorCode ? 'failed' : run.counts.failures_count > 0 ? 'completed_with_errors' : 'completed';
  await finishRun(deps.db, run, deps.now(), { status, error_code: errorCode });
  return toResult(deps, run, status);
}

/** @returns false when the deadline came first */
async function performStep(
  deps: SyncDeps,
  run: Run,
  step: Step,
  start: string | null,
  hasFailed: boolean,
  deadline?: Date,
): Promise<boolean> {
  const { stripe } = deps;
  if (step.needs === 'stripe' && (!stripe || hasFailed)) return true;
  let cursor = start === '' ? null : start;
  do {
    await checkpoint(deps.db, run, deps.now(), {
      phase: step.phase,
      cursor: `${step.name}\n${cursor ?? ''}`,
    });
    if (deadline && deps.now() >= deadline) {
      await releaseRun(deps.db, run);
      return false;
    }
    if (step.needs === 'database') cursor = await step.page(deps, run, cursor);
    else if (stripe) cursor = await step.page({ ...deps, stripe }, run, cursor);
  } while (cursor !== null);
  if (step.name === LAST_LIST) await checkpoint(deps.db, run, deps.now(), { lists_completed: true });
  return true;
}

const LAST_LIST = 'unseen invoices';

function errorCodeOf(error: unknown): string {
  return pgErrorCode(error) ?? stripeErrorCode(error);
}

function toResult(
  deps: SyncDeps,
  run: Run | { id: number },
  status: ReconcileResult['status'],
): ReconcileResult {
  const counts = 'counts' in run ? run.counts : { objects_checked: 0, changes_count: 0, failures_count: 0 };
  return {
    runId: run.id,
    status,
    checked: counts.objects_checked,
    changes: counts.changes_count,
    failures: counts.failures_count,
    stripeSkipped: deps.stripe === null,
    alreadyRunning: status === 'running',
  };
}
