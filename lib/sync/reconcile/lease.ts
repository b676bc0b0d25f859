import { and, eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { reconciliationRuns } from '@/db/schema';

export type StoredRun = typeof reconciliationRuns.$inferSelect;

/** A run is dead after this long without a sign of life; an object takes up to five requests of 3 x 10 s. */
export const LEASE_MS = 180_000;
export const deadBefore = (now: Date): Date => new Date(now.getTime() - LEASE_MS);
const HEARTBEAT_MS = 15_000;
export interface Run {
  id: number;
  windowFrom: Date | null;
  /** Step and position within it, to be resumed there. */
  cursor: string | null;
  counts: { objects_checked: number; changes_count: number; failures_count: number };
  /** Why it has failed, though steps that need no Stripe go on; null: it has not. */
  errorCode: string | null;
  /** Why Stripe denied one of the lists; null: it denied none. */
  deniedCode: string | null;
  heartbeatAt: Date;
}

export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

/** @throws LeaseLostError */
export async function checkpoint(
  db: Database,
  run: Run,
  now: Date,
  position: Partial<Pick<StoredRun, 'phase' | 'cursor' | 'lists_completed'>> = {},
): Promise<void> {
  const moved = await moveHeartbeat(db, run.id, run.heartbeatAt, {
    heartbeat_at: now,
    error_code: run.errorCode,
    denied_code: run.deniedCode,
    ...run.counts,
    ...position,
  });
  if (!moved) throw new LeaseLostError(`run ${run.id} was taken over`);
  run.heartbeatAt = now;
}

export async function beat(db: Database, run: Run, now: Date): Promise<void> {
  if (now.getTime() - run.heartbeatAt.getTime() >= HEARTBEAT_MS) await checkpoint(db, run, now);
}

/** Releases the lease, so that the next call continues from the checkpoint at once. */
export async function releaseRun(db: Database, run: Run): Promise<void> {
  await checkpoint(db, run, new Date(0));
}

/** Writes only while the lease is ours: the heartbeat is the one that we set. */
export async function moveHeartbeat(db: Database, id: number, lease: Date, values: Partial<StoredRun>) {
  const [row] = await db
    .update(reconciliationRuns)
    .set(values)
    .where(
      and(
        eq(reconciliationRuns.id, id),
        eq(reconciliationRuns.status, 'running'),
        eq(reconciliationRuns.heartbeat_at, lease),
      ),
    )
    .returning();
  return row;
}
