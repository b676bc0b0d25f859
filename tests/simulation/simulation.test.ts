import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase } from '../support/database';
import { checkHistory } from './check-history';
import { openStage } from './database-stage';
import { seedOf } from './seed';
import type { Stage } from './stage';

const CAMPAIGN = 20260315;
const HISTORIES = 300;
/** A slow machine plays fewer of them. */
const ENOUGH_MS = 45_000;

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(await createTestDatabase());
});
afterAll(() => stage?.close());

/** In memory deliveries are told apart by their order alone; on PostgreSQL those at once race for real. */
test('whatever happens to deliveries, our tables end equal to what Stripe has', async () => {
  const started = Date.now();
  let played = 0;
  for (let at = 0; at < HISTORIES && Date.now() - started < ENOUGH_MS; at += 1) {
    const checked = await checkHistory(stage, seedOf(CAMPAIGN, at), 60_000);
    if ('failure' in checked) {
      const { seed, path, error, report } = checked.failure;
      expect.fail(`${error}\n${report}\nAgain: npm run simulate -- --replay=${seed}:${path}`);
    }
    played += 1;
  }
  expect(played).toBeGreaterThan(20);
}, 180_000);
