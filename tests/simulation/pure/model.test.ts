import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DatabaseHandle } from '@/db/client';
import { createTestDatabase } from '../../support/database';
import { clear } from '../database-stage';
import { plans } from '../draw-plan';
import { play } from '../play';
import { openPureStage } from './pure-stage';
import { TwinModel } from './twin/twin';

const HISTORIES = 60;
/** A slow machine plays fewer of them. */
const ENOUGH_MS = 30_000;

let handle: DatabaseHandle;
beforeAll(async () => {
  handle = await createTestDatabase();
});
afterAll(() => handle?.close());

test('a model and a database that are told the same hold the same, and refuse the same', async () => {
  const counts = { reads: 0, commits: 0, refusals: 0 };
  const started = Date.now();
  let played = 0;
  for (let seed = 1; seed <= HISTORIES && Date.now() - started < ENOUGH_MS; seed += 1) {
    const twins: TwinModel[] = [];
    const stage = openPureStage(async (scene) => {
      const twin = new TwinModel(scene.seed, scene.now, handle.db);
      await clear(handle.db);
      await twin.load();
      twins.push(twin);
      return twin;
    });
    const [plan] = fc.sample(plans, { seed, numRuns: 1 });
    if (!plan) throw new Error('there is a plan');
    await play(stage, plan, seed);
    await stage.reconcile(undefined, []);
    for (const twin of twins) {
      expect(twin.differences.slice(0, 1), `seed ${seed}`).toEqual([]);
      for (const name of ['reads', 'commits', 'refusals'] as const) counts[name] += twin.counts[name];
    }
    played += 1;
  }
  expect(played).toBeGreaterThan(5);
  expect(counts.reads).toBeGreaterThan(100);
  expect(counts.refusals).toBeGreaterThan(10);
}, 180_000);
