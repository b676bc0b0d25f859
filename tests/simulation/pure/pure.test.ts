import { expect, test } from 'vitest';
import { LEASE_MS } from '@/lib/sync/reconcile/run';
import { useDatabase } from '../../support/database';
import { checkHistories, checkHistory, seedOf } from '../check-history';
import { Model } from './model';
import { acquireModelRun, Lease } from './night';
import { openPureStage } from './pure-stage';
import { checkTwins } from './twin';

const CAMPAIGN = 20260401;
// pure.long.test.ts and `npm run simulate` run more histories.
const HISTORIES = 60;
const TWINS = 4;

const base = useDatabase();

test('simulated histories in memory end with the rows that Stripe’s data implies', async () => {
  await checkHistories(openPureStage(), CAMPAIGN, HISTORIES, '--pure ');
});

test('simulated histories lead to the same rows in memory and in a database', async () => {
  await checkTwins(base.db, TWINS);
});

test('a process that checks histories in memory still runs callbacks of its event loop', async () => {
  const stage = openPureStage();
  let isTold = false;
  setImmediate(() => {
    isTold = true;
  });
  await checkHistory(stage, seedOf(CAMPAIGN, 0), 0);
  await checkHistory(stage, seedOf(CAMPAIGN, 1), 0);
  expect(isTold).toBe(true);
});

test('a simulated reconciliation that lost its lease cannot finish the run', () => {
  let now = new Date('2026-03-15T00:00:00Z');
  const model = new Model(1, () => now);
  const take = () => {
    const taken = acquireModelRun(model);
    if (!taken) throw new Error('another process has the run');
    return new Lease(model, taken.row, taken.heartbeatAt);
  };
  const first = take();
  now = new Date(now.getTime() + 2 * LEASE_MS);
  const second = take();
  expect(first.finish('completed')).toBe(false);
  expect(second.finish('failed')).toBe(true);
  expect(model.runs.map(({ status }) => status)).toEqual(['failed']);
});
