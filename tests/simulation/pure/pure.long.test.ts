import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { useDatabase } from '../../support/database';
import { runCampaign } from '../campaign';
import { checkHistories, noTotals } from '../check-history';
import { openPureStage } from './pure-stage';
import { checkTwins } from './twin';

const SEED = 20260402;
const STATE = `.data/simulation/pure-${SEED}.json`;

const base = useDatabase();
afterAll(() => rmSync(STATE, { force: true }));

test('400 simulated histories in memory end with the rows that Stripe’s data implies', async () => {
  await checkHistories(openPureStage(), 20260401, 400, '--pure ');
}, 120_000);

test('40 simulated histories lead to the same rows in memory and in a database', async () => {
  await checkTwins(base.db, 40);
}, 300_000);

test('a resumed simulation campaign without coverage gives the same totals as one that records coverage', async () => {
  const options = { runs: 30, seed: SEED, server: null, isPure: true, isCounted: true, shrinkFor: 0 };
  const counted = await runCampaign({ ...options, resume: false }, () => {});
  expect(counted).toMatchObject({ failure: null, totals: { histories: 30 } });
  expect(counted.unreached.length).toBeGreaterThan(0);

  const state = JSON.parse(readFileSync(STATE, 'utf8')) as object;
  writeFileSync(STATE, JSON.stringify({ ...state, next: [0, 1], totals: noTotals(), unreached: [] }));
  const bundled = await runCampaign({ ...options, resume: true }, () => {});
  expect(bundled.unreached).toEqual([]);
  expect({ ...bundled.totals, seconds: 0 }).toEqual({ ...counted.totals, seconds: 0 });
});
