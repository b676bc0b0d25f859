import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@/db/database';
import { deadBefore, LEASE_MS } from './lease';
import { getRun } from './run-queries';

const POLL_MS = 1000;

/**
 * @param onWait told once how many seconds that takes at most, where it takes any
 * @returns false where the run goes on by itself, or the signal came first
 */
export async function untilOver(
  { db, now }: { db: Database; now(): Date },
  runId: number,
  signal: AbortSignal,
  onWait: (seconds: number) => void,
): Promise<boolean> {
  const first = await getRun(db, runId);
  const isOver = ({ status, heartbeat_at }: typeof first) =>
    status !== 'running' || heartbeat_at < deadBefore(now());
  if (isOver(first)) return true;
  onWait(Math.ceil((first.heartbeat_at.getTime() + LEASE_MS - now().getTime()) / 1000));
  while (!signal.aborted) {
    await sleep(POLL_MS);
    const run = await getRun(db, runId);
    if (isOver(run)) return true;
    if (run.heartbeat_at.getTime() !== first.heartbeat_at.getTime()) return false;
  }
  return false;
}
