import type { Subject } from '@/lib/sync/reconcile/failures';
import { deadBefore, LeaseLostError } from '@/lib/sync/reconcile/lease';
import type { Model } from './model';

const HEARTBEAT_MS = 15_000;
const STALE_MS = 6 * 3_600_000;
const WINDOW_MARGIN_MS = 3 * 86_400_000;

/** A run as it is stored. */
export interface ModelRun {
  id: number;
  status: 'running' | 'completed' | 'completed_with_errors' | 'failed';
  startedAt: Date;
  heartbeatAt: Date;
  windowFrom: Date | null;
  listsCompleted: boolean;
  /** Whether Stripe's part of it has failed. */
  hasFailed: boolean;
  /** The step under way. */
  cursor: string | null;
  seen: Set<string>;
}

export interface RunFailure {
  run: number;
  object: Subject;
  stripeId: string;
  resolved: boolean;
}

/** Starts a run, or takes up one whose process died. @returns null while another is alive */
export function acquireModelRun(model: Model): { row: ModelRun; heartbeatAt: Date } | null {
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

/** The lease of a run: whoever took it over has set another heartbeat. */
export class Lease {
  constructor(
    private readonly model: Model,
    readonly row: ModelRun,
    private heartbeatAt: Date,
  ) {}

  /** @throws LeaseLostError */
  checkpoint(values: Partial<ModelRun> = {}): void {
    if (!this.isHeld()) throw new LeaseLostError('taken over');
    this.heartbeatAt = this.model.now();
    Object.assign(this.row, { heartbeatAt: this.heartbeatAt, ...values });
  }

  /** @returns false where it was taken over: whoever did finishes it */
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

export function failModelObject({ failures }: Model, run: number, object: Subject, stripeId: string): void {
  const isKnown = failures.some(
    (one) => one.run === run && one.object === object && one.stripeId === stripeId,
  );
  if (!isKnown) failures.push({ run, object, stripeId, resolved: false });
}

export function resolveModelFailures(
  { failures }: Model,
  object: Subject,
  isSettled: (stripeId: string) => boolean,
): void {
  for (const one of failures) if (one.object === object && isSettled(one.stripeId)) one.resolved = true;
}
