import Stripe from 'stripe';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createCustomer, updateCustomer } from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { createWorld } from '@/lib/stripe-local/world';

describe('faults of the local Stripe', () => {
  const world = createWorld({ now: () => new Date('2026-03-15T12:00:00Z'), chance: seededChance(3) });
  const { id } = createCustomer(world, { name: 'Ada' }).object;
  let local: StripeLocal;
  const client = (maxNetworkRetries: number, timeout = 5000) =>
    new Stripe('sk_test_x', {
      host: '127.0.0.1',
      port: local.port,
      protocol: 'http',
      telemetry: false,
      maxNetworkRetries,
      timeout,
    });
  const attempts = async (work: () => Promise<unknown>) => {
    const before = local.requestCount();
    const outcome = await work().then(
      () => 'ok',
      (error: Error) => error.constructor.name,
    );
    return { outcome, attempts: local.requestCount() - before };
  };

  beforeAll(async () => {
    local = await startStripeLocal({ world, secretKey: 'sk_test_x' });
  });
  afterAll(() => local.close());
  beforeEach(() => local.faults.clear());

  test.each([500, 503, 409] as const)('the SDK gets over one %i', async (status) => {
    local.faults.add({ fault: { kind: 'status', status }, times: 1 });
    expect(await attempts(() => client(1).customers.retrieve(id))).toEqual({ outcome: 'ok', attempts: 2 });
  });

  test('a 429 is tried again only where Stripe says so', async () => {
    local.faults.add({ fault: { kind: 'status', status: 429 }, times: 1 });
    expect(await attempts(() => client(1).customers.retrieve(id))).toEqual({
      outcome: 'StripeRateLimitError',
      attempts: 1,
    });
    local.faults.add({ fault: { kind: 'status', status: 429, shouldRetry: true, retryAfter: 1 }, times: 1 });
    expect(await attempts(() => client(1).customers.retrieve(id))).toEqual({ outcome: 'ok', attempts: 2 });
    local.faults.add({ fault: { kind: 'status', status: 500, shouldRetry: false }, times: 1 });
    expect(await attempts(() => client(1).customers.retrieve(id))).toEqual({
      outcome: 'StripeAPIError',
      attempts: 1,
    });
  });

  test('resets, silence and garbage', async () => {
    local.faults.add({ fault: { kind: 'reset' }, times: 1 });
    expect(await attempts(() => client(1).customers.retrieve(id))).toEqual({ outcome: 'ok', attempts: 2 });
    local.faults.add({ fault: { kind: 'timeout' }, times: 1 });
    expect(await attempts(() => client(0, 100).customers.retrieve(id))).toEqual({
      outcome: 'StripeConnectionError',
      attempts: 1,
    });
    local.faults.add({ fault: { kind: 'garbage' }, times: 1 });
    expect(await attempts(() => client(0).customers.retrieve(id))).toEqual({
      outcome: 'StripeAPIError',
      attempts: 1,
    });
  });

  test('a late answer tells what was true when it was asked', async () => {
    local.faults.add({ fault: { kind: 'latency', ms: 60 }, times: 1 });
    const asked = client(0).customers.retrieve(id);
    await new Promise((done) => setTimeout(done, 30));
    updateCustomer(world, id, { name: 'Eve' });
    expect(await asked).toMatchObject({ name: 'Ada' });
    expect(await client(0).customers.retrieve(id)).toMatchObject({ name: 'Eve' });
  });

  test('an answer can be held until something else has happened', async () => {
    let release = () => {};
    let reached = () => {};
    const gate = new Promise<void>((done) => {
      release = done;
    });
    const held = new Promise<void>((done) => {
      reached = done;
    });
    local.faults.add({
      fault: {
        kind: 'hold',
        until: () => {
          reached();
          return gate;
        },
      },
      times: 1,
    });
    const asked = client(0).customers.retrieve(id);
    await held;
    updateCustomer(world, id, { name: 'Zoe' });
    release();
    expect(await asked).toMatchObject({ name: 'Eve' });
  });

  test('rules by request number and by request', async () => {
    const next = local.requestCount();
    local.faults.add({ fault: { kind: 'status', status: 500 }, when: [next + 1] });
    local.faults.add({
      fault: { kind: 'status', status: 503 },
      when: ({ path, query }) => path === '/v1/events' && query.limit === '7',
    });
    const work = [
      () => client(0).customers.retrieve(id),
      () => client(0).customers.retrieve(id),
      () => client(0).events.list({ limit: 7 }),
      () => client(0).events.list({ limit: 8 }),
    ];
    const outcomes: string[] = [];
    for (const one of work) outcomes.push((await attempts(one)).outcome);
    expect(outcomes).toEqual(['ok', 'StripeAPIError', 'StripeAPIError', 'ok']);
    expect(local.requests.at(-1)).toEqual({
      index: next + 3,
      method: 'GET',
      path: '/v1/events',
      query: { limit: '8' },
    });
  });
});
