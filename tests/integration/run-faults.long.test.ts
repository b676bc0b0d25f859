import { expect, test, vi } from 'vitest';
import { onPostgres } from '../support/database';
import { useRunScene } from '../support/run-scene';

vi.setConfig({ testTimeout: 600_000 });

/**
 * Distances between the tested statements and between the tested requests. Testing every statement and every request
 * of a run would take an hour, so most tests skip some of them.
 */
const STRIDE = 27;
const REQUEST_STRIDE = 4;

const scene = useRunScene();

test('a reconciliation run killed at or right after any checkpoint leads to the same rows when continued', async () => {
  const checkpoints = [...scene.passed().keys()].filter(scene.isCheckpoint);
  expect(checkpoints.length).toBeGreaterThan(20);
  for (const at of checkpoints) {
    await scene.playDeath(at);
    await scene.playDeath(at + 1);
  }
});

test('a reconciliation run killed at a statement between checkpoints leads to the same rows when continued', async () => {
  const { isCheckpoint } = scene;
  const others = [...scene.passed().keys()].filter((at) => !isCheckpoint(at) && !isCheckpoint(at - 1));
  for (let i = 0; i < others.length; i += STRIDE) await scene.playDeath(others[i] ?? 0);
});

test.each(['XX000', '53100', '40001'])(
  'the next reconciliation run completes a run in which the database refused a statement with the SQLSTATE %s',
  async (how) => {
    const passed = scene.passed();
    const offset = Number.parseInt(how, 36) % STRIDE;
    for (let at = offset; at < passed.length; at += 4 * STRIDE) {
      // The entry `committed` marks a commit and is not a statement, so refuse the statement before it.
      await scene.playRefusal(passed[at] === 'committed' ? at - 1 : at, how);
    }
  },
);

// These tests vary only the answers of Stripe. The database decides nothing in them, so they do not run on PostgreSQL.
if (!onPostgres()) {
  test.each([
    // A page is read again after this status, so that only single objects can fail.
    ['429', { kind: 'status', status: 429 }, []],
    ['500', { kind: 'status', status: 500 }, ['failed']],
    ['a timeout', { kind: 'timeout' }, ['failed']],
    ['a closed connection', { kind: 'reset' }, ['failed']],
    ['text that is not JSON', { kind: 'garbage' }, ['failed']],
    ['an empty JSON object', { kind: 'garbage', body: '{}' }, ['failed']],
  ] as const)(
    'the next reconciliation run completes a run in which one request got %s',
    async (_, fault, failed) => {
      const ends = new Set<string>();
      for (let call = 0; call < scene.requests().length; call += REQUEST_STRIDE) {
        ends.add(await scene.playStripe(fault, call));
      }
      expect([...ends].sort()).toEqual(['completed', 'completed_with_errors', ...failed]);
    },
  );

  test('a reconciliation run completes if the Stripe SDK retries a request after a single 500', async () => {
    for (let call = 0; call < scene.requests().length; call += STRIDE) {
      expect(await scene.playStripe({ kind: 'status', status: 500 }, call, 2)).toBe('completed');
    }
  });

  test.each([404, 400, 500] as const)(
    'a reconciliation run in which Stripe answers %d for one object reconciles all other objects',
    async (status) => {
      const calls = scene.callsForOne();
      const kinds = new Set(calls.map(({ path }) => path.replace(/^(\/v1\/\w+\/)\w+_\w+$/, '$1id')));
      expect([...kinds].sort()).toEqual([
        ...['/v1/checkout/sessions', '/v1/customers/id', '/v1/invoice_payments', '/v1/invoices/id'],
        ...['/v1/subscription_items', '/v1/subscriptions/id'],
      ]);
      const ends = new Set<string>();
      for (const call of calls) ends.add(await scene.playRefused(status, call));
      expect(ends).toContain('completed_with_errors');
    },
  );
}
