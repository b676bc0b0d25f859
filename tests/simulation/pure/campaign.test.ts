import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { runCampaign } from '../campaign';
import { noTotals } from '../totals';

const SEED = 20260402;
const STATE = `.data/simulation/pure-${SEED}.json`;

afterAll(() => rmSync(STATE, { force: true }));

test('workers play the same histories once all is reached and nothing is counted any more', async () => {
  const options = { runs: 30, seed: SEED, server: null, isPure: true, shrinkFor: 0 };
  const counted = await runCampaign({ ...options, resume: false }, () => {});
  expect(counted).toMatchObject({ failure: null, totals: { histories: 30 } });
  expect(counted.unreached.length).toBeGreaterThan(0);

  const state = JSON.parse(readFileSync(STATE, 'utf8')) as object;
  writeFileSync(STATE, JSON.stringify({ ...state, next: [0, 1], totals: noTotals(), unreached: [] }));
  const bundled = await runCampaign({ ...options, resume: true }, () => {});
  expect(bundled.unreached).toEqual([]);
  expect({ ...bundled.totals, seconds: 0 }).toEqual({ ...counted.totals, seconds: 0 });
});
