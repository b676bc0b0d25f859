import { isDatabaseUnavailable } from '@/db/database';
import { failureCode } from '@/lib/sync/reconcile/failure-code';
import type { Subject } from '@/lib/sync/reconcile/failures';
import { LeaseLostError, type Run } from '@/lib/sync/reconcile/lease';
import { LAST_LIST, STEPS } from '@/lib/sync/reconcile/steps';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import type { Ran } from '../stage';
import type { Model } from './model';
import { NIGHT_STEPS } from './night-steps';
import type { ModelProcess } from './process';
import { acquireModelRun, failModelObject, Lease } from './runs';

/** A run under way over the model: what it decides with, and where it notes how far it is. */
export class Night {
  readonly work: Run;

  constructor(
    readonly model: Model,
    readonly process: ModelProcess,
    readonly deps: SyncDeps,
    readonly lease: Lease,
  ) {
    const { id, windowFrom, cursor } = lease.row;
    const counts = { objects_checked: 0, changes_count: 0, failures_count: 0 };
    this.work = {
      id,
      windowFrom,
      cursor,
      counts,
      errorCode: null,
      deniedCode: null,
      heartbeatAt: lease.row.heartbeatAt,
    };
  }

  /** As `guarded`: one object's trouble stops nothing else. */
  async guarded(object: Subject, id: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof LeaseLostError || isDatabaseUnavailable(error)) throw error;
      failureCode(error);
      await this.fail(object, id);
    }
    this.lease.beat();
  }

  fail(object: Subject, id: string): Promise<void> {
    return this.process.stating(() => failModelObject(this.model, this.work.id, object, id));
  }
}

/** What `reconcile` does, with the steps that it has. */
export async function reconcileModel(
  model: Model,
  process: ModelProcess,
  deps: SyncDeps,
): Promise<NonNullable<Ran['result']>> {
  const acquired = await process.stating(() => acquireModelRun(model));
  if (!acquired) return { status: 'running', changes: 0 };
  const lease = new Lease(model, acquired.row, acquired.heartbeatAt);
  const night = new Night(model, process, deps, lease);
  const first = STEPS.findIndex(({ name }) => name === acquired.row.cursor);
  let { hasFailed } = acquired.row;
  const changes = () => night.work.counts.changes_count;
  for (const step of STEPS.slice(Math.max(0, first))) {
    if (step.needs === 'stripe' && (!deps.stripe || hasFailed)) continue;
    try {
      await process.stating(() => lease.checkpoint({ cursor: step.name, hasFailed }));
      const work = NIGHT_STEPS[step.name];
      if (!work) throw new Error(`the model has no step for ${step.name}`);
      await work(night);
      if (step.name === LAST_LIST) await process.stating(() => lease.checkpoint({ listsCompleted: true }));
    } catch (error) {
      if (error instanceof LeaseLostError) return { status: 'running', changes: changes() };
      if (isDatabaseUnavailable(error) || isOurs(error)) throw error;
      hasFailed = true;
    }
  }
  const isOpen = model.failures.some(({ run, resolved }) => run === night.work.id && !resolved);
  const status = hasFailed ? 'failed' : isOpen ? 'completed_with_errors' : 'completed';
  const isFinished = await process.stating(() => lease.finish(status));
  return { status: isFinished ? status : 'running', changes: changes() };
}

/** A mistake of a program, which no step of a run may hide. */
const isOurs = (error: unknown) => error instanceof TypeError || error instanceof ReferenceError;
