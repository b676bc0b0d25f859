import { expect, test } from 'vitest';
import { useDatabase } from '../../support/database';
import { runCampaign } from '../campaign';
import { checkHistories } from '../check-history';
import { openPureStage } from './pure-stage';
import { checkTwins } from './twin';

const base = useDatabase();

test('400 simulated histories in memory end with the rows that Stripe’s data implies', async () => {
  await checkHistories(openPureStage(), 20260401, 400, '--pure ');
}, 120_000);

test('40 simulated histories lead to the same rows in memory and in a database', async () => {
  await checkTwins(base.db, 40);
}, 300_000);

test('a simulation campaign plays the same histories whether or not it records the blocks that they reach', async () => {
  const options = { runs: 30, seed: 20260402, server: null, isPure: true, shrinkFor: 0 };
  const counted = await runCampaign({ ...options, isCounted: true }, () => {});
  expect(counted).toMatchObject({ failure: null, totals: { histories: 30 } });
  expect(counted.unreached.length).toBeGreaterThan(0);
  const plain = await runCampaign({ ...options, isCounted: false }, () => {});
  expect(plain.unreached).toEqual([]);
  expect({ ...plain.totals, seconds: 0 }).toEqual({ ...counted.totals, seconds: 0 });
});
