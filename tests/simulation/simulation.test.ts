import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededChance } from '@/lib/chance';
import { createWorld } from '@/lib/stripe-local/world';
import { useDatabase } from '../support/database';
import * as act from '../support/stripe-actions';
import { renderEvent } from '../support/stripe-versions';
import { typed } from '../support/sync';
import { checkHistories } from './check-history';
import { openStage } from './database-stage';
import type { Stage } from './stage';

const CAMPAIGN = 20260315;
// simulation.long.test.ts and `npm run simulate` run more histories.
const HISTORIES = 6;

const base = useDatabase();
let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ db: base.db, close: async () => {} });
});
afterAll(() => stage?.close());

test('simulated histories in a database end with the rows that Stripe’s data implies', async () => {
  await checkHistories(stage, CAMPAIGN, HISTORIES, '');
});

test('a simulated delivery has a valid signature even if the clock advances by a month while it is received', async () => {
  let at = new Date('2026-03-15T22:00:00Z');
  const now = () => at;
  const world = createWorld({ now, chance: seededChance(1) });
  const { events } = act.createCustomer(world);
  await stage.begin({ world, seed: 1, hasKey: false, timeZone: 'UTC', linkByEmail: false, now });
  const rendered = renderEvent(typed(events, 'customer.created'), '2026-10-28.endive');
  const delivery = { rendered, body: JSON.stringify(rendered), crash: undefined, isOwnProcess: false };
  const received = stage.receive(delivery, []);
  at = new Date('2026-04-15T22:00:00Z');
  expect((await received).status).toBe(200);
});
