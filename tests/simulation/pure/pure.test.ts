import { expect, test } from 'vitest';
import { useDatabase } from '../../support/database';
import { checkHistories, checkHistory, seedOf } from '../check-history';
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
