import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { invoices, payments, stripeEvents } from '@/db/schema';
import { createStripeClient } from '@/lib/stripe/client';
import { toProviderEvent } from '@/lib/stripe/to-event';
import * as act from '@/lib/stripe-local/actions';
import { type Chance, seededChance } from '@/lib/stripe-local/chance';
import type { WorldEvent } from '@/lib/stripe-local/model';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { createWorld, epochNow, type World } from '@/lib/stripe-local/world';
import type { EventOutcome } from '@/lib/sync/inbox/delivery';
import { handleEvent } from '@/lib/sync/inbox/handle-event';
import { failEvent } from '@/lib/sync/inbox/inbox';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
import { type TestRuntime, testRuntime } from '../support/runtime';

const KEY = 'sk_test_one';
const VERSIONS = ['2020-08-27', '2023-10-16', '2026-10-28.endive'];
const TOLD = ['invoice.finalized', 'invoice.payment_failed', 'invoice.paid', 'invoice.payment_succeeded'];
const DELIVERIES = 1000;
const AT_ONCE = 20;
const DAY = 86_400;

const base = useDatabase();
let runtime: TestRuntime;
let world: World;
let stripeLocal: StripeLocal;

beforeAll(async () => {
  runtime = testRuntime(base.db);
  world = createWorld({ now: runtime.now, chance: seededChance(29) });
  stripeLocal = await startStripeLocal({ world, secretKey: KEY });
  runtime.stripe = createStripeClient(KEY, stripeLocal.url, 10_000);
});
afterAll(() => stripeLocal?.close());

const later = (seconds: number) => runtime.setNow(new Date(runtime.now().getTime() + seconds * 1000));

/**
 * The life of an invoice, up to that Stripe collects it: payments fail again and again, and between them it
 * becomes due at another day or a part of it is paid; often within one second.
 */
function liveThrough(chance: Chance, attempts: number): { id: string; told: WorldEvent[] } {
  const draw = (below: number) => Math.floor(chance.draw() * below);
  const customer = act.createCustomer(world, { email: `one-${attempts}@example.com` }).object.id;
  const begun = world.history.length;
  const lines = [{ amount: 1_000_000 }];
  const { id } = act.createInvoice(world, { customer, lines, tax: 190_000 }).object;
  act.finalizeInvoice(world, id);
  for (let i = 0; i < attempts; i += 1) {
    later(draw(3)); // a third of all that happens does so in the second of what was before
    const kind = draw(3);
    if (kind === 0) act.updateInvoice(world, id, { dueDate: epochNow(world) + (1 + draw(60)) * DAY });
    if (kind === 1) act.payInvoicePart(world, id, 1 + draw(1000));
    act.failInvoicePayment(world, id);
  }
  act.updateInvoice(world, id, { dueDate: epochNow(world) + 30 * DAY, metadata: { last: 'yes' } });
  act.payInvoice(world, id); // in the second in which a payment failed
  const told = world.history.slice(begun).filter(({ type }) => TOLD.includes(type));
  later(60);
  return { id, told };
}

/** Each event at least once, all of them so often in a random order. */
function shuffle(events: WorldEvent[], deliveries: number, chance: Chance): WorldEvent[] {
  const repeated = Array.from({ length: deliveries - events.length }, () => {
    const again = events[Math.floor(chance.draw() * events.length)];
    return again ? [again] : [];
  });
  const drawn = [...events, ...repeated.flat()].map((event) => ({ event, at: chance.draw() }));
  return drawn.sort((a, b) => a.at - b.at).map(({ event }) => event);
}

function toDelivery(happened: WorldEvent) {
  const version = VERSIONS[happened.id.charCodeAt(happened.id.length - 1) % VERSIONS.length] ?? '';
  const payload = JSON.stringify(renderEvent(happened, version));
  const event = toProviderEvent(JSON.parse(payload));
  if (!event) throw new Error('the world renders events');
  return { event, payload };
}

async function deliver(happened: WorldEvent, withKey: boolean): Promise<EventOutcome> {
  const { event, payload } = toDelivery(happened);
  const deps = syncDeps(runtime);
  return handleEvent(withKey ? deps : { ...deps, stripe: null }, event, payload);
}

/** @returns how often each outcome came about */
async function deliverAll(events: WorldEvent[], withKey: boolean) {
  const outcomes: Partial<Record<EventOutcome, number>> = {};
  const waiting = [...events];
  const work = async () => {
    for (let event = waiting.shift(); event; event = waiting.shift()) {
      const outcome = await deliver(event, withKey);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return outcomes;
}

test.each([
  { withKey: true, attempts: 250, seed: 1 },
  { withKey: false, attempts: 900, seed: 2 },
])(
  '1,000 deliveries of one invoice’s events in random order, $attempts payments failed, with an API key: $withKey',
  async ({ withKey, attempts, seed }) => {
    const chance = seededChance(seed);
    const { id, told } = liveThrough(chance, attempts);
    expect(new Set(told.map(({ created }) => created)).size).toBeLessThan(told.length);
    const truth = world.invoices.get(id);
    const outcomes = await deliverAll(shuffle(told, DELIVERIES, chance), withKey);

    const { processed = 0, stale = 0, duplicate = 0, ...others } = outcomes;
    expect(others).toEqual({});
    expect(processed + stale).toBe(told.length);
    expect(duplicate).toBe(DELIVERIES - told.length);
    const stored = await base.db.select().from(stripeEvents).where(eq(stripeEvents.object_id, id));
    expect(stored.map((event) => event.id).sort()).toEqual(told.map((event) => event.id).sort());
    expect(stored.every(({ outcome }) => outcome === 'processed' || outcome === 'stale')).toBe(true);

    const found = await base.db.select().from(invoices).where(eq(invoices.stripe_invoice_id, id));
    const failures = told.filter(({ type }) => type === 'invoice.payment_failed');
    const date = (epoch = 0) => new Date(epoch * 1000);
    expect(found).toMatchObject([
      {
        status: 'paid',
        number: truth?.number,
        due_date: date(truth?.dueDate ?? 0)
          .toISOString()
          .slice(0, 10),
        total: '11900.000',
        amount_paid: '11900.000',
        amount_due: '0.000',
        paid_at: date(truth?.paidAt ?? 0),
        payment_failed_at: date(Math.min(...failures.map(({ created }) => created))),
        uncollectible: false,
      },
    ]);
    const made = await base.db.select().from(payments).where(eq(payments.payment_reference, id));
    expect(made).toMatchObject([{ amount: '11900.000', status: 'completed', source: 'stripe' }]);
  },
);

describe('20 deliveries of one event at once are one and its copies', () => {
  /** Two events of one second that tell different states. */
  function tie(): [WorldEvent, WorldEvent] {
    later(10);
    const customer = act.createCustomer(world).object.id;
    const { id } = act.createInvoice(world, { customer, lines: [{ amount: 5000 }] }).object;
    const begun = world.history.length;
    act.finalizeInvoice(world, id);
    act.updateInvoice(world, id, { dueDate: epochNow(world) + DAY });
    act.failInvoicePayment(world, id);
    const [finalized, failed] = world.history.slice(begun).filter(({ type }) => TOLD.includes(type));
    if (!finalized || !failed) throw new Error('two events of one second');
    return [finalized, failed];
  }

  async function takeInOnce(event: WorldEvent, attempts: number) {
    const outcomes = await deliverAll(Array(AT_ONCE).fill(event), false);
    expect(outcomes).toEqual({ processed: 1, duplicate: AT_ONCE - 1 });
    const [stored] = await base.db.select().from(stripeEvents).where(eq(stripeEvents.id, event.id));
    expect(stored).toMatchObject({ outcome: 'processed', error_code: null, attempts });
    const fields = stored?.changes.map(({ field }) => field).filter((field) => field !== 'due_date');
    expect(fields?.sort()).toEqual(['payment_failed_at', 'status']);
  }

  test('where the payloads of its second decide', async () => {
    for (let round = 0; round < 5; round += 1) {
      const [finalized, failed] = tie();
      await deliver(finalized, false);
      await takeInOnce(failed, 1);
    }
  });

  test('where it had failed before', async () => {
    for (let round = 0; round < 5; round += 1) {
      const [finalized, failed] = tie();
      await deliver(finalized, false);
      const { event, payload } = toDelivery(failed);
      await failEvent(base.db, event, payload, '55P03');
      await takeInOnce(failed, 2);
    }
  });
});
