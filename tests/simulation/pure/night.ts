import { isDatabaseUnavailable } from '@/db/database';
import type { ProviderPayoutEntry, toPayout } from '@/lib/stripe/payouts';
import { failureCode, type Subject } from '@/lib/sync/reconcile/object';
import { LAST_LIST, STEPS } from '@/lib/sync/reconcile/reconcile';
import { deadBefore, LeaseLostError, type Run } from '@/lib/sync/reconcile/run';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import type { Ran } from '../stage';
import type { Model, ModelProcess } from './model';
import { NIGHT_STEPS } from './night-steps';
import type { ModelRows } from './tables';

const HEARTBEAT_MS = 15_000;
const STALE_MS = 6 * 3_600_000;
const WINDOW_MARGIN_MS = 3 * 86_400_000;

/** Runs the steps of `reconcile` on the model. */
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
      // A dead process ends the run, and a TypeError or ReferenceError is a bug. Other errors only fail the step.
      if (isDatabaseUnavailable(error) || error instanceof TypeError || error instanceof ReferenceError)
        throw error;
      hasFailed = true;
    }
  }
  const isOpen = model.failures.some(({ run, resolved }) => run === night.work.id && !resolved);
  const status = hasFailed ? 'failed' : isOpen ? 'completed_with_errors' : 'completed';
  const isFinished = await process.stating(() => lease.finish(status));
  return { status: isFinished ? status : 'running', changes: changes() };
}

/** A reconciliation on the model that is in progress. */
export class Night {
  readonly work: Run;

  constructor(
    readonly model: Model,
    readonly process: ModelProcess,
    readonly deps: SyncDeps,
    readonly lease: Lease,
  ) {
    const { id, windowFrom, cursor, heartbeatAt } = lease.row;
    const counts = { objects_checked: 0, changes_count: 0, failures_count: 0 };
    const none = { stripeSkipped: false, errorCode: null, deniedCode: null };
    this.work = { ...none, id, windowFrom, cursor, counts, heartbeatAt };
  }

  /** Runs one statement that reads rows. */
  select<T>(read: (rows: ModelRows) => T): Promise<T> {
    return this.process.stating(() => read(this.model.tables.rows));
  }

  /** Does the work for each object. If an object fails, records the failure and continues, as `guarded` does. */
  async each(object: Subject, ids: string[], work: (id: string) => Promise<void>): Promise<void> {
    for (const id of ids) {
      try {
        await work(id);
      } catch (error) {
        if (error instanceof LeaseLostError || isDatabaseUnavailable(error)) throw error;
        failureCode(error);
        await this.fail(object, id);
      }
      this.lease.beat();
    }
  }

  fail(object: Subject, stripeId: string): Promise<void> {
    const { failures } = this.model;
    const run = this.work.id;
    return this.process.stating(() => {
      const isKnown = failures.some(
        (one) => one.run === run && one.object === object && one.stripeId === stripeId,
      );
      if (!isKnown) failures.push({ run, object, stripeId, resolved: false });
    });
  }

  resolve(object: Subject, isSettled: (stripeId: string) => boolean): Promise<void> {
    return this.process.stating(() => {
      for (const one of this.model.failures)
        if (one.object === object && isSettled(one.stripeId)) one.resolved = true;
    });
  }
}

export interface ModelRun {
  id: number;
  status: 'running' | 'completed' | 'completed_with_errors' | 'failed';
  startedAt: Date;
  heartbeatAt: Date;
  windowFrom: Date | null;
  listsCompleted: boolean;
  /** Whether a step has failed. The run then skips all later steps that ask Stripe. */
  hasFailed: boolean;
  cursor: string | null;
  seen: Set<string>;
}

export interface RunFailure {
  run: number;
  object: Subject;
  stripeId: string;
  resolved: boolean;
}

/** A payout at Stripe with its entries, which are null until they are read. */
export type ModelPayout = NonNullable<ReturnType<typeof toPayout>> & {
  entries: (ProviderPayoutEntry & { invoiceId: string | null })[] | null;
  /** Kinds of the differences that the last comparison found. */
  differences: string[];
};

/** Continues a run of the last six hours whose process died, or starts one. @returns null while another run is alive */
function acquireModelRun(model: Model): { row: ModelRun; heartbeatAt: Date } | null {
  const now = model.now();
  const running = model.runs.find(({ status }) => status === 'running');
  if (!running) return held(startRun(model, now), now);
  if (running.heartbeatAt >= deadBefore(now)) return null;
  if (running.startedAt.getTime() >= now.getTime() - STALE_MS) return held(running, now);
  running.status = 'failed';
  return held(startRun(model, now), now);
}

function held(row: ModelRun, now: Date) {
  row.heartbeatAt = now;
  return { row, heartbeatAt: now };
}

function startRun({ runs }: Model, startedAt: Date): ModelRun {
  const last = runs.findLast(({ listsCompleted }) => listsCompleted);
  const row: ModelRun = {
    id: runs.length + 1,
    status: 'running',
    startedAt,
    heartbeatAt: startedAt,
    windowFrom: last ? new Date(last.startedAt.getTime() - WINDOW_MARGIN_MS) : null,
    listsCompleted: false,
    hasFailed: false,
    cursor: null,
    seen: new Set(),
  };
  runs.push(row);
  return row;
}

/** The lease of a run. It is lost if the run has ended, or if another process took it over and set a heartbeat. */
class Lease {
  constructor(
    private readonly model: Model,
    readonly row: ModelRun,
    private heartbeatAt: Date,
  ) {}

  /** Saves values and renews the lease. @throws LeaseLostError if the lease is lost */
  checkpoint(values: Partial<ModelRun> = {}): void {
    if (!this.isHeld()) throw new LeaseLostError('taken over');
    this.heartbeatAt = this.model.now();
    Object.assign(this.row, { heartbeatAt: this.heartbeatAt, ...values });
  }

  /** Ends the run. @returns false if another process took over the run, and will end it */
  finish(status: ModelRun['status']): boolean {
    if (!this.isHeld()) return false;
    this.checkpoint({ status, cursor: null, seen: new Set() });
    return true;
  }

  beat(): void {
    if (this.model.now().getTime() - this.heartbeatAt.getTime() >= HEARTBEAT_MS) this.checkpoint();
  }

  private isHeld(): boolean {
    return this.row.status === 'running' && this.row.heartbeatAt === this.heartbeatAt;
  }
}
