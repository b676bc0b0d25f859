import Stripe from 'stripe';
import { isDatabaseUnavailable, pgErrorCode } from '@/db/database';
import { stackOf } from '../../log';
import { stripeErrorCode } from '../../stripe/fetch';
import type { SyncDeps } from '../sync-deps';
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
import { LAST_LIST, STEPS, type Step } from './steps';

export interface ReconcileOptions extends RunRequest {
  /** Stop cleanly at the next page after this instant; the next call goes on from there. */
  deadline?: Date;
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
}

/** `number` is that of the step under way, from 1. */
export interface Progress {
  step: string;
  number: number;
  steps: number;
  checked: number;
  changes: number;
}

export interface ReconcileResult {
  runId: number;
  /** `running`: another process runs it; `stopped`: it was told to stop, and the next call continues it. */
  status: 'completed' | 'completed_with_errors' | 'failed' | 'running' | 'stopped';
  checked: number;
  changes: number;
  failures: number;
  stripeSkipped: boolean;
  alreadyRunning: boolean;
}

/** One at a time; a dead run resumes at its last page. Without an API key only our own rows are checked. */
export async function reconcile(deps: SyncDeps, options: ReconcileOptions): Promise<ReconcileResult> {
  const run = await acquireRun(deps.db, deps.now(), options, deps.stripe !== null);
  if ('runningId' in run) return toResult(deps, { id: run.runningId }, 'running');
  return performRun(deps, run, options);
}

export async function performRun(
  deps: SyncDeps,
  run: Run,
  options: Omit<ReconcileOptions, keyof RunRequest>,
): Promise<ReconcileResult> {
  const [resumedStep = '', resumedCursor = null] = run.cursor?.split('\n') ?? [];
  const resumedAt = STEPS.findIndex((step) => step.name === resumedStep);
  for (const [index, step] of STEPS.slice(Math.max(0, resumedAt)).entries()) {
    try {
      const start = index === 0 ? resumedCursor : null;
      const isDone = await performStep(deps, run, step, start, options);
      if (!isDone) return toResult(deps, run, 'stopped');
      if (step.name === LAST_LIST && deps.stripe && hasReadAll(run)) {
        await checkpoint(deps.db, run, deps.now(), { lists_completed: true });
      }
    } catch (error) {
      if (error instanceof LeaseLostError) return toResult(deps, run, 'running');
      if (isDenied(error)) run.deniedCode ??= errorCodeOf(error);
      else run.errorCode ??= errorCodeOf(error);
      deps.log.error(
        { run: run.id, step: step.name, code: errorCodeOf(error), stack: stackOf(error) },
        'reconciliation step failed',
      );
      if (isDatabaseUnavailable(error)) throw error; // nothing can be noted: the lease runs out by itself
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
  return toResult(deps, run, isFinished ? status : 'running');
}

/** @returns false where it was told to stop first */
async function performStep(
  deps: SyncDeps,
  run: Run,
  step: Step,
  start: string | null,
  { deadline, signal, onProgress }: Omit<ReconcileOptions, keyof RunRequest>,
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
    if (signal?.aborted || (deadline && deps.now() >= deadline)) {
      await releaseRun(deps.db, run);
      return false;
    }
    if (step.needs === 'database') cursor = await step.page(deps, run, cursor);
    else if (stripe) cursor = await step.page({ ...deps, stripe }, run, cursor);
  } while (cursor !== null);
  return true;
}

function toProgress({ counts }: Run, step: Step): Progress {
  return {
    step: step.name,
    number: STEPS.indexOf(step) + 1,
    steps: STEPS.length,
    checked: counts.objects_checked,
    changes: counts.changes_count,
  };
}

const hasReadAll = ({ errorCode, deniedCode }: Run) => errorCode === null && deniedCode === null;

/** A restricted key that may not read one of the lists: the others are read all the same. */
const isDenied = (error: unknown) => error instanceof Stripe.errors.StripePermissionError;

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
