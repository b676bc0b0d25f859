import { expect, test } from 'vitest';
import { checkHistory } from '../check-history';
import { seedOf } from '../seed';
import { openPureStage } from './pure-stage';

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
