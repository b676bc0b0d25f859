import { expect, test } from 'vitest';
import { LEASE_MS } from '@/lib/sync/reconcile/lease';
import { checkHistory } from '../check-history';
import { seedOf } from '../seed';
import { Model } from './model';
import { openPureStage } from './pure-stage';
import { acquireModelRun, Lease } from './runs';

const CAMPAIGN = 20260401;
const HISTORIES = 400;

test('over a model of the database, too, tables end equal to what Stripe has', async () => {
  const stage = openPureStage();
  for (let at = 0; at < HISTORIES; at += 1) {
    const checked = await checkHistory(stage, seedOf(CAMPAIGN, at), 20_000);
    if ('failure' in checked) {
      const { seed, path, error, report } = checked.failure;
      expect.fail(`${error}\n${report}\nAgain: npm run simulate -- --pure --replay=${seed}:${path}`);
    }
  }
}, 120_000);

test('a process that plays histories hears between them that it is to stop', async () => {
  const stage = openPureStage();
  let isTold = false;
  setImmediate(() => {
    isTold = true;
  });
  await checkHistory(stage, seedOf(CAMPAIGN, 0), 0);
  await checkHistory(stage, seedOf(CAMPAIGN, 1), 0);
  expect(isTold).toBe(true);
});

test('a run that was taken for dead leaves its end to whoever took it over', () => {
  let now = new Date('2026-03-15T00:00:00Z');
  const model = new Model(1, () => now);
  const take = () => {
    const taken = acquireModelRun(model);
    if (!taken) throw new Error('somebody has it');
    return new Lease(model, taken.row, taken.heartbeatAt);
  };
  const first = take();
  now = new Date(now.getTime() + 2 * LEASE_MS);
  const second = take();
  expect(first.finish('completed')).toBe(false);
  expect(second.finish('failed')).toBe(true);
  expect(model.runs.map(({ status }) => status)).toEqual(['failed']);
});
