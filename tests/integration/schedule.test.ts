import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Database } from '@/db/database';
import { reconciliationRuns } from '@/db/schema';
import { createLogger } from '@/lib/log';
import { reconcile as performReconciliation } from '@/lib/sync/reconcile/reconcile';
import { startSchedule } from '@/lib/sync/reconcile/start';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
import { testRuntime } from '../support/runtime';

const HOUR = 3_600_000;
const log = createLogger('silent');
const reconcile = vi.fn(async () => {});
afterEach(() => void reconcile.mockReset());

describe('the start of the daily schedule', () => {
  const base = useDatabase();
  const now = () => new Date('2026-03-15T12:00:00Z');
  const leave = (minutesAgo: number, status: 'running' | 'completed' = 'running') => {
    const at = new Date(now().getTime() - minutesAgo * 60_000);
    const run = { trigger: 'schedule' as const, status, started_at: at, heartbeat_at: at };
    return base.db.insert(reconciliationRuns).values(run);
  };
  const deps = () => ({ db: base.db, log, now, timeZone: null });
  const start = async (perform: () => Promise<unknown>) => (await startSchedule(deps(), perform)).stop();
  const really = () => {
    const runtime = { ...testRuntime(base.db), now };
    return performReconciliation(syncDeps(runtime), { trigger: 'schedule', startedBy: null });
  };

  afterEach(() => base.db.delete(reconciliationRuns));

  test.each([
    [[], 1],
    [[100, 24.9], 0],
    [[100, 25.1], 1],
    [[100, -700], 1],
  ])(
    'with completed runs of the ages %j in hours, negative before the clock was set back, a starting server starts %d catch-up runs',
    async (hours, times) => {
      for (const one of hours) await leave(one * 60, 'completed');
      await start(reconcile);
      expect(reconcile).toHaveBeenCalledTimes(times);
    },
  );

  test('a reconciliation run with a recent heartbeat is not taken over by a starting server', async () => {
    await leave(2);
    await start(reconcile);
    expect(reconcile).not.toHaveBeenCalled();
  });

  test.each([
    ['running', 50],
    ['completed', 70],
  ] as const)(
    'a starting server leaves a reconciliation run %s whose last heartbeat is %d minutes ahead of the clock',
    async (status, minutes) => {
      await leave(-minutes);
      const perform = vi.fn(really);
      await start(perform);
      expect(await perform.mock.results[0]?.value).toMatchObject({ status });
      expect(await base.db.$count(reconciliationRuns)).toBe(1);
    },
  );

  test('only one of two starting servers continues a reconciliation run whose process died', async () => {
    await leave(5);
    const started = [vi.fn(really), vi.fn(really)];
    for (const { stop } of await Promise.all(started.map((one) => startSchedule(deps(), one)))) stop();
    const ends = await Promise.all(started.map((one) => one.mock.results[0]?.value));
    expect(ends.filter((end) => end?.alreadyRunning === false)).toHaveLength(1);
    expect(await base.db.$count(reconciliationRuns)).toBe(1);
  });
});

describe('the daily schedule', () => {
  let stop = () => {};

  // Use a local time. If no time zone is set, the schedule’s 03:40 is in the time zone of the machine.
  beforeEach(() => void vi.useFakeTimers({ now: new Date(2026, 2, 15, 12) }));
  afterEach(() => {
    stop();
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  // Database drivers do not work with fake timers, so the database is a stub. Where possible, the tests advance the
  // timers without `await`, because each asynchronous tick takes real time.
  const start = async (found: { recent: boolean; dead?: boolean; timeZone?: string | null }) => {
    const { timeZone = null } = found;
    const db = { execute: async () => [found] } as unknown as Database;
    stop = (await startSchedule({ db, log, now: () => new Date(), timeZone }, reconcile)).stop;
  };

  test('the daily schedule runs every day at 03:40', async () => {
    await start({ recent: true });
    vi.advanceTimersByTime(15.6 * HOUR);
    expect(reconcile).not.toHaveBeenCalled();
    vi.advanceTimersByTime(0.1 * HOUR);
    expect(reconcile).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(24 * HOUR);
    expect(reconcile).toHaveBeenCalledTimes(2);
  });

  test.each([
    ['UTC', '2026-03-15T03:40:00Z'],
    ['Asia/Kolkata', '2026-03-14T22:10:00Z'],
    ['America/New_York', '2026-03-15T07:40:00Z'],
  ])('the daily schedule in the time zone %s runs at %s', async (timeZone, at) => {
    vi.setSystemTime(Date.parse(at) - 60_000);
    await start({ recent: true, timeZone });
    await vi.advanceTimersByTimeAsync(59_000);
    expect(reconcile).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(reconcile).toHaveBeenCalledTimes(1);
  });

  test.each([
    ['continues a run whose process died', { recent: true, dead: true }],
    ['catches up on a run that it could not start at 03:40', { recent: false, dead: false }],
  ])('the daily schedule %s, and tries again after an error', async (_, unwell) => {
    const well = { recent: true, dead: false };
    const found = { ...well };
    await start(found);
    await vi.advanceTimersByTimeAsync(0.2 * HOUR);
    expect(reconcile).not.toHaveBeenCalled();
    reconcile.mockRejectedValueOnce(new Error('the database is away'));
    Object.assign(found, unwell);
    await vi.advanceTimersByTimeAsync(240_000);
    expect(reconcile).toHaveBeenCalledTimes(2);
    Object.assign(found, well);
    await vi.advanceTimersByTimeAsync(0.2 * HOUR);
    expect(reconcile).toHaveBeenCalledTimes(2);
  });

  test('a failed scheduled run is logged without its error message, and does not end the schedule', async () => {
    const error = vi.spyOn(log, 'error');
    const found = { recent: false };
    reconcile.mockImplementationOnce(async () => {
      found.recent = true;
      throw new Error('customer ada@example.com');
    });
    await start(found);
    vi.advanceTimersByTime(24 * HOUR);
    await vi.advanceTimersByTimeAsync(0);
    expect(reconcile).toHaveBeenCalledTimes(2);
    expect(error).toHaveBeenCalledTimes(1);
    expect(JSON.stringify(error.mock.calls)).not.toContain('ada@example.com');
  });

  test('a stopped schedule starts no reconciliation run', async () => {
    await start({ recent: true });
    stop();
    vi.advanceTimersByTime(24 * HOUR);
    expect(reconcile).not.toHaveBeenCalled();
  });
});
