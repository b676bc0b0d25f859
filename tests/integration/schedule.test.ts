import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Database } from '@/db/database';
import { reconciliationRuns } from '@/db/schema';
import { createLogger } from '@/lib/log';
import { reconcile as performReconciliation } from '@/lib/sync/reconcile/reconcile';
import { startSchedule } from '@/lib/sync/reconcile/schedule';
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

describe('a run whose process died', () => {
  const base = useDatabase();
  const now = () => new Date('2026-03-15T12:00:00Z');
  const runs = () => base.db.select().from(reconciliationRuns);

  afterEach(async () => {
    await base.db.delete(reconciliationRuns);
  });

  /** One that began so many minutes ago and showed no life since. */
  const leave = (minutesAgo: number) => {
    const at = new Date(now().getTime() - minutesAgo * 60_000);
    return base.db
      .insert(reconciliationRuns)
      .values({ trigger: 'schedule', started_at: at, heartbeat_at: at });
  };
  const deps = () => ({ db: base.db, log, now, timeZone: null });
  const really = () =>
    performReconciliation(
      {
        ...deps(),
        stripe: null,
        timeZone: 'UTC',
        mode: null,
        linkByEmail: false,
        eventRetentionDays: 180,
        toolCallRetentionDays: 90,
      },
      { trigger: 'schedule', startedBy: null },
    );

  test('is taken up at the next start', async () => {
    await leave(5);
    const started = vi.fn(really);
    (await startSchedule(deps(), started)).stop();
    expect(await started.mock.results[0]?.value).toMatchObject({ status: 'completed' });
    expect(await runs()).toMatchObject([{ status: 'completed', trigger: 'schedule' }]);
  });

  test('is left alone while it shows life', async () => {
    await leave(2);
    (await startSchedule(deps(), reconcile)).stop();
    expect(reconcile).not.toHaveBeenCalled();
  });

  test('is ended and followed by another where it began too long ago', async () => {
    await leave(7 * 60);
    const started = vi.fn(really);
    (await startSchedule(deps(), started)).stop();
    await started.mock.results[0]?.value;
    const found = await runs();
    expect(found.map(({ status, error_code }) => [status, error_code]).sort()).toEqual([
      ['completed', null],
      ['failed', 'abandoned'],
    ]);
  });

  test('is taken up by one of two servers that look at once', async () => {
    await leave(5);
    const started = [vi.fn(really), vi.fn(really)];
    const servers = await Promise.all(started.map((one) => startSchedule(deps(), one)));
    for (const { stop } of servers) stop();
    const ends = await Promise.all(started.map((one) => one.mock.results[0]?.value));
    const took = ends.filter((end) => end?.alreadyRunning === false);
    expect(took).toHaveLength(1);
    expect(await runs()).toHaveLength(1);
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
  const start = async (found: { recent: boolean; dead?: boolean; timeZone?: string | null }) => {
    const { timeZone = null } = found;
    const db = { execute: async () => [found] } as unknown as Database;
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

  test('looks for a run that died every two minutes, also after a look that failed', async () => {
    const found = { recent: true, dead: false };
    await start(found);
    await vi.advanceTimersByTimeAsync(0.2 * HOUR);
    expect(reconcile).not.toHaveBeenCalled();
    reconcile.mockRejectedValueOnce(new Error('the database is away'));
    found.dead = true;
    await vi.advanceTimersByTimeAsync(240_000);
    expect(reconcile).toHaveBeenCalledTimes(2);
    found.dead = false;
    await vi.advanceTimersByTimeAsync(0.2 * HOUR);
    expect(reconcile).toHaveBeenCalledTimes(2);
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
