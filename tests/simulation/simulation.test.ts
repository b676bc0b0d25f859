import { afterAll, beforeAll, expect, test } from 'vitest';
import * as act from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import type { WorldEvent } from '@/lib/stripe-local/model';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { createWorld } from '@/lib/stripe-local/world';
import { createTestDatabase } from '../support/database';
import { checkHistory, seedOf } from './check-history';
import { openStage } from './database-stage';
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

test('a delivery that is being read while the clock moves on by days is signed as of then', async () => {
  let at = new Date('2026-03-15T22:00:00Z');
  const now = () => at;
  const world = createWorld({ now, chance: seededChance(1) });
  const { events } = act.createCustomer(world);
  await stage.begin({ world, seed: 1, hasKey: false, timeZone: 'UTC', linkByEmail: false, now });
  const rendered = renderEvent(events[0] as WorldEvent, '2026-10-28.endive');
  const delivery = { rendered, body: JSON.stringify(rendered), crash: undefined, isOwnProcess: false };
  const received = stage.receive(delivery, []);
  at = new Date('2026-04-15T22:00:00Z');
  expect((await received).status).toBe(200);
});
