import { setTimeout as sleep } from 'node:timers/promises';
import Stripe from 'stripe';
import { isDatabaseUnavailable, pgErrorCode } from '@/db/database';
import type { reconciliationRuns } from '@/db/schema';
import { stackOf } from '../../log';
import { stripeErrorCode } from '../../stripe/fetch';
import type { SyncDeps } from '../sync-deps';
import { disputesFrom, invoicesFrom, listed, reconcileCreditNotes, refundsFrom, unseen } from './lists';
import { addPaymentIds, attachPayments, recordMissingPayments } from './missing-payments';
import type { StepPage, StripeDeps } from './object';
import { comparePayouts, listPayouts, readPayoutEntries } from './payouts';
import {
  linkCheckouts,
  probeStored,
  recheck,
  recheckCustomers,
  retryFailedEvents,
  retryFailures,
} from './rechecks';
import {
  acquireRun,
  beat,
  checkpoint,
  countFailures,
  finishRun,
  LeaseLostError,
  type Run,
  type RunRequest,
  releaseRun,
} from './run';
import {
  bookMissed,
  checkLists,
  clearAccess,
  compareTimeZone,
  dropOldBodies,
  dropOldDocuments,
  markOverdue,
  noteTimeZone,
  recordMonth,
} from './upkeep';

export interface ReconcileOptions extends RunRequest {
  /** Time after which the run stops after its current object or page. The next call continues at that page. */
  deadline?: Date;
  signal?: AbortSignal;
  /** Whether the caller knows that the API key belongs to the account of the stored objects. If not, the run checks it. */
  isAccountKnown?: boolean;
  onProgress?: (progress: Progress) => void;
}

/** Progress of a run. `number` is the number of the current step, from 1. */
export type Progress = ReturnType<typeof toProgress>;
export type ReconcileResult = ReturnType<typeof toResult>;

/**
 * Starts a run, or resumes a dead run at its last page, and performs it. If another caller is already performing a run,
 * only returns the id of that run, with the status `running`. Without an API key, steps that need Stripe are skipped.
 */
export async function reconcile(deps: SyncDeps, options: ReconcileOptions): Promise<ReconcileResult> {
  const run = await acquireRun(deps.db, deps.now(), options, deps);
  if ('runningId' in run) return toResult(deps, { id: run.runningId }, 'running');
  return performRun(deps, run, options);
}

export async function performRun(
  given: SyncDeps,
  run: Run,
  options: Omit<ReconcileOptions, keyof RunRequest>,
): Promise<ReconcileResult> {
  const { deadline, signal } = options;
  const isOver = () => signal?.aborted === true || (deadline !== undefined && given.now() >= deadline);
  const deps: SyncDeps = { ...given, isOver, afterQuestion: () => beat(given.db, run, given.now()) };
  if (
    deps.stripe &&
    !options.isAccountKnown &&
    (await probeStored({ ...deps, stripe: deps.stripe })) === 'other'
  ) {
    deps.stripe = null;
    deps.stripeError = 'other_account';
    run.errorCode = 'other_account';
    deps.log.error({ run: run.id }, 'STRIPE_SECRET_KEY is for another account or the wrong mode');
  }
  const [resumedStep = '', resumedCursor = null] = run.cursor?.split('\n') ?? [];
  const resumedAt = STEPS.findIndex((step) => step.name === resumedStep);
  for (const [index, step] of STEPS.slice(Math.max(0, resumedAt)).entries()) {
    try {
      const start = index === 0 ? resumedCursor : null;
      const isDone = await performStep(deps, run, step, start, options);
      if (!isDone) return toResult(given, run, 'stopped');
      if (step.name === LAST_LIST && deps.stripe && !run.stripeSkipped && hasReadAll(run)) {
        await checkpoint(deps.db, run, deps.now(), { lists_completed: true });
      }
    } catch (error) {
      if (error instanceof LeaseLostError) return toResult(given, run, 'running');
      if (isDenied(error)) run.deniedCode ??= errorCodeOf(error);
      else run.errorCode ??= errorCodeOf(error);
      deps.log.error(
        { run: run.id, step: step.name, code: errorCodeOf(error), stack: stackOf(error) },
        'reconciliation step failed',
      );
      // Without the database, the run cannot be ended or released. Its lease expires, and a later call resumes it.
      if (isDatabaseUnavailable(error)) throw error;
    }
  }
  run.errorCode ??= run.deniedCode;
  run.counts.failures_count = await countFailures(deps.db, run);
  const status = run.errorCode
    ? 'failed'
    : run.counts.failures_count > 0
      ? 'completed_with_errors'
      : 'completed';
  const isFinished = await finishRun(deps.db, run, deps.now(), status);
  return toResult(given, run, isFinished ? status : 'running');
}

/**
 * Performs one step.
 *
 * @returns false if the deadline or the signal stopped the step before its end
 */
async function performStep(
  deps: SyncDeps,
  run: Run,
  step: Step,
  start: string | null,
  { onProgress }: Pick<ReconcileOptions, 'onProgress'>,
): Promise<boolean> {
  const { stripe } = deps;
  if (step.needs === 'stripe' && (!stripe || run.errorCode !== null)) return true;
  let cursor = start === '' ? null : start;
  do {
    onProgress?.(toProgress(run, step));
    await checkpoint(deps.db, run, deps.now(), {
      phase: step.phase,
      cursor: `${step.name}\n${cursor ?? ''}`,
    });
    if (deps.isOver?.()) {
      await releaseRun(deps.db, run, deps.now());
      return false;
    }
    if (step.needs === 'database') cursor = await step.page(deps, run, cursor);
    else if (stripe) cursor = await readPatiently({ ...deps, stripe }, run, step, cursor);
  } while (cursor !== null);
  return true;
}

/** Pauses in milliseconds before the repetitions of a page that Stripe refused because of its rate limit. */
const PAUSES_MS = [1000, 2000, 4000, 8000];

/**
 * Performs one page of a step. Stripe's client does not repeat a request after a rate limit, and other programs with
 * the same account may use up the limit at any moment, so the page is repeated.
 */
async function readPatiently(
  deps: StripeDeps,
  run: Run,
  { name, page }: { name: string; page: StepPage<StripeDeps> },
  cursor: string | null,
): Promise<string | null> {
  for (const ms of PAUSES_MS) {
    try {
      return await page(deps, run, cursor);
    } catch (error) {
      if (!(error instanceof Stripe.errors.StripeRateLimitError)) throw error;
      if (deps.isOver?.()) return cursor ?? '';
      deps.log.warn({ run: run.id, step: name, ms }, 'Stripe refused a page because of its rate limit');
      await (deps.pause ?? sleep)(ms);
      await beat(deps.db, run, deps.now());
    }
  }
  return page(deps, run, cursor);
}

function toProgress({ counts }: Run, step: Step) {
  return {
    step: step.name,
    number: STEPS.indexOf(step) + 1,
    steps: STEPS.length,
    checked: counts.objects_checked,
    changes: counts.changes_count,
  };
}

const hasReadAll = ({ errorCode, deniedCode }: Run) => errorCode === null && deniedCode === null;

/** Returns whether Stripe refused a list because the key is restricted. The other lists are still read. */
const isDenied = (error: unknown) => error instanceof Stripe.errors.StripePermissionError;

function errorCodeOf(error: unknown): string {
  return pgErrorCode(error) ?? stripeErrorCode(error);
}

/**
 * `running` means that another process has the lease. `stopped` means that the deadline or the signal ended this call,
 * and the next call continues the run.
 */
type Status = 'completed' | 'completed_with_errors' | 'failed' | 'running' | 'stopped';

function toResult(deps: SyncDeps, run: Run | { id: number }, status: Status) {
  const counts = 'counts' in run ? run.counts : { objects_checked: 0, changes_count: 0, failures_count: 0 };
  return {
    runId: run.id,
    status,
    checked: counts.objects_checked,
    changes: counts.changes_count,
    failures: counts.failures_count,
    stripeSkipped: deps.stripe === null || ('stripeSkipped' in run && run.stripeSkipped),
    alreadyRunning: status === 'running',
  };
}

type Phase = (typeof reconciliationRuns.$inferSelect)['phase'];
type Step = { name: string; phase: Phase } & (
  | { needs: 'stripe'; page: StepPage<StripeDeps> }
  | { needs: 'database'; page: StepPage<SyncDeps> }
);

/** Returns the creation time from which a step lists objects. Null for all of history. */
const windowFrom = (run: Run) => run.windowFrom;

/** A run's steps, in order. After the first complete run, a long history costs few requests to Stripe. */
export const STEPS: Step[] = [
  { name: 'failed events', phase: 'inbox', needs: 'database', page: retryFailedEvents },
  {
    name: 'live subscriptions',
    phase: 'subscriptions',
    needs: 'stripe',
    page: listed('subscription', null),
  },
  {
    name: 'recent subscriptions',
    phase: 'subscriptions',
    needs: 'stripe',
    page: listed('subscription', 'all', windowFrom),
  },
  { name: 'unseen subscriptions', phase: 'subscriptions', needs: 'stripe', page: unseen('subscription') },
  { name: 'open invoices', phase: 'invoices', needs: 'stripe', page: listed('invoice', 'open') },
  { name: 'draft invoices', phase: 'invoices', needs: 'stripe', page: listed('invoice', 'draft') },
  {
    name: 'uncollectible invoices',
    phase: 'invoices',
    needs: 'stripe',
    page: listed('invoice', 'uncollectible'),
  },
  {
    name: 'recent invoices',
    phase: 'invoices',
    needs: 'stripe',
    page: listed('invoice', null, invoicesFrom),
  },
  { name: 'unseen invoices', phase: 'invoices', needs: 'stripe', page: unseen('invoice') },
  { name: 'credit notes', phase: 'invoices', needs: 'stripe', page: reconcileCreditNotes },
  { name: 'Stripe customers to recheck', phase: 'rechecks', needs: 'stripe', page: recheckCustomers },
  { name: 'subscriptions to recheck', phase: 'rechecks', needs: 'stripe', page: recheck('subscription') },
  { name: 'invoices to recheck', phase: 'rechecks', needs: 'stripe', page: recheck('invoice') },
  { name: 'earlier failures', phase: 'rechecks', needs: 'stripe', page: retryFailures },
  { name: 'missing payments', phase: 'payments', needs: 'database', page: recordMissingPayments },
  { name: 'ids of payments', phase: 'payments', needs: 'stripe', page: addPaymentIds },
  // Checkouts come after the customer rechecks, because this step asks Stripe only about the Stripe customers that are
  // linked to the customer of a sold subscription.
  { name: 'checkouts', phase: 'payments', needs: 'stripe', page: linkCheckouts },
  { name: 'subscriptions of checkouts', phase: 'payments', needs: 'stripe', page: recheck('subscription') },
  // Refunds come after payments, so that the refunded payment is stored before its refund.
  { name: 'refunds', phase: 'money_back', needs: 'stripe', page: listed('refund', null, refundsFrom) },
  { name: 'unseen refunds', phase: 'money_back', needs: 'stripe', page: unseen('refund') },
  { name: 'disputes', phase: 'money_back', needs: 'stripe', page: listed('dispute', null, disputesFrom) },
  { name: 'unseen disputes', phase: 'money_back', needs: 'stripe', page: unseen('dispute') },
  { name: 'payments of what came back', phase: 'money_back', needs: 'database', page: attachPayments },
  // Payouts come after the payments, refunds and disputes with which they are compared.
  { name: 'payouts', phase: 'money_back', needs: 'stripe', page: listPayouts },
  { name: 'transactions of payouts', phase: 'money_back', needs: 'stripe', page: readPayoutEntries },
  { name: 'differences of payouts', phase: 'money_back', needs: 'database', page: comparePayouts },
  { name: 'time zone of the account', phase: 'money_back', needs: 'stripe', page: compareTimeZone },
  { name: 'time zone of the dates', phase: 'overdue', needs: 'database', page: noteTimeZone },
  { name: 'overdue invoices', phase: 'overdue', needs: 'database', page: markOverdue },
  { name: 'missed entries', phase: 'overdue', needs: 'database', page: bookMissed },
  { name: 'counts of lists', phase: 'overdue', needs: 'database', page: checkLists },
  { name: 'state of the last month', phase: 'overdue', needs: 'database', page: recordMonth },
  { name: 'bodies of old events', phase: 'overdue', needs: 'database', page: dropOldBodies },
  { name: 'old documents', phase: 'overdue', needs: 'database', page: dropOldDocuments },
  { name: 'old tool calls', phase: 'overdue', needs: 'database', page: clearAccess },
];

/** The step after which a run has read all of Stripe's lists except those of payouts. */
export const LAST_LIST = 'unseen disputes';
