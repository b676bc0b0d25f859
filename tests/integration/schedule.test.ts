import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Database } from '@/db/database';
import { reconciliationRuns } from '@/db/schema';
import { createLogger } from '@/lib/log';
import { startSchedule } from '@/lib/sync/schedule';
import { useDatabase } from '../support/database';

const HOUR = 3_600_000;
const log = createLogger('silent');
const reconcile = vi.fn(async () => {});

afterEach(() => {
  reconcile.mockReset();
});

describe('the start of the daily schedule', () => {
  const base = useDatabase();
  const now = new Date('2026-03-15T12:00:00Z');

  afterEach(async () => {
    await base.db.delete(reconciliationRuns);
  });

  const start = async (...runsHoursAgo: number[]) => {
    for (const hours of runsHoursAgo) {
      const at = new Date(now.getTime() - hours * HOUR);
      await base.db
        .insert(reconciliationRuns)
        .values({ trigger: 'schedule', status: 'completed', started_at: at, heartbeat_at: at });
    }
    (await startSchedule({ db: base.db, log, now: () => now, timeZone: null }, reconcile)).stop();
  };

  test.each([
    [[], 1],
    [[100, 24.9], 0],
    [[100, 25.1], 1],
  ])('runs were %j h ago: caught up %d times', async (runs, times) => {
    await start(...runs);
    expect(reconcile).toHaveBeenCalledTimes(times);
  });
});

describe('the daily schedule', () => {
  let stop = () => {};

  beforeEach(() => {
    // Local time on purpose: 03:40 is that of the server's clock.
    vi.useFakeTimers({ now: new Date(2026, 2, 15, 12) });
  });

  afterEach(() => {
    stop();
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  // Drivers do not stand false timers.
  const start = async ({ recent, timeZone = null }: { recent: boolean; timeZone?: string | null }) => {
    const db = { execute: async () => [{ recent }] } as unknown as Database;
    stop = (await startSchedule({ db, log, now: () => new Date(), timeZone }, reconcile)).stop;
  };

  test('runs at 03:40 of every day, and at no other time', async () => {
    await start({ recent: true });
    await vi.advanceTimersByTimeAsync(15.6 * HOUR);
    expect(reconcile).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(0.1 * HOUR);
    expect(reconcile).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(48 * HOUR);
    expect(reconcile).toHaveBeenCalledTimes(3);
  });

  test.each([
    ['UTC', '2026-03-15T03:40:00Z'],
    ['Asia/Kolkata', '2026-03-14T22:10:00Z'],
    ['America/New_York', '2026-03-15T07:40:00Z'],
  ])('in %s it runs at %s', async (timeZone, at) => {
    vi.setSystemTime(Date.parse(at) - 60_000);
    await start({ recent: true, timeZone });
    await vi.advanceTimersByTimeAsync(59_000);
    expect(reconcile).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(reconcile).toHaveBeenCalledTimes(1);
  });

  test('a failure is logged without its message, and the next night comes', async () => {
    const error = vi.spyOn(log, 'error');
    reconcile.mockRejectedValueOnce(new Error('customer ada@example.com'));
    await start({ recent: false });
    await vi.advanceTimersByTimeAsync(24 * HOUR);
    expect(reconcile).toHaveBeenCalledTimes(2);
    expect(error).toHaveBeenCalledTimes(1);
    expect(JSON.stringify(error.mock.calls)).not.toContain('ada@example.com');
  });

  test('stopped, it runs no more', async () => {
    await start({ recent: true });
    stop();
    await vi.advanceTimersByTimeAsync(48 * HOUR);
    expect(reconcile).not.toHaveBeenCalled();
  });
});
