import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { payments, stripeEvents } from '@/db/schema';
import { type Chance, seededChance } from '@/lib/chance';
import { toProviderEvent } from '@/lib/stripe/event';
import type { WorldEvent } from '@/lib/stripe-local/model';
import { epochNow } from '@/lib/stripe-local/world';
import { type EventOutcome, failEvent } from '@/lib/sync/inbox/handle-event';
import * as act from '../support/stripe-actions';
import { renderEvent } from '../support/stripe-versions';
import { DAY, typed, useSync } from '../support/sync';

const VERSIONS = ['2020-08-27', '2023-10-16', '2026-10-28.endive'];
const TOLD = ['invoice.finalized', 'invoice.payment_failed', 'invoice.paid', 'invoice.payment_succeeded'];
const DELIVERIES = 1000;
const AT_ONCE = 20;

const sync = useSync({ withKey: true });
beforeEach(() => {
  sync.later(10);
  sync.runtime.env.linkByEmail = false;
});

const newCustomer = (input: Parameters<typeof act.createCustomer>[1] = {}) =>
  act.createCustomer(sync.world, input).object.id;
const paymentsOf = (id: string) => sync.db.select().from(payments).where(eq(payments.payment_reference, id));

/** Finalizes an invoice of 10.00 EUR. Its event is not delivered. */
function finalize(customer: string) {
  const { id } = act.createInvoice(sync.world, { customer, lines: [{ amount: 1000 }] }).object;
  return { id, event: typed(act.finalizeInvoice(sync.world, id).events, 'invoice.finalized') };
}

test('an event with an e-mail address containing a Turkish İ is processed', async () => {
  sync.runtime.env.linkByEmail = true;
  const customer = newCustomer({ email: 'İnfo@example.com' });
  for (const _ of [1, 2]) {
    sync.later(10);
    expect(await sync.take(finalize(customer).event)).toBe('processed');
  }
});

describe('many concurrent deliveries of one invoice', () => {
  /**
   * Simulates an invoice until it is paid. Payments fail repeatedly. In between, the due date changes or a
   * part is paid, often within the same second.
   */
  function liveThrough(chance: Chance, attempts: number): { id: string; told: WorldEvent[] } {
    const { world } = sync;
    const draw = (below: number) => Math.floor(chance.draw() * below);
    const customer = newCustomer({ email: `one-${attempts}@example.com` });
    const begun = world.history.length;
    const lines = [{ amount: 1_000_000 }];
    const { id } = act.createInvoice(world, { customer, lines, tax: 190_000 }).object;
    act.finalizeInvoice(world, id);
    for (let i = 0; i < attempts; i += 1) {
      sync.later(draw(3)); // A third of the events share the second of the previous event.
      const kind = draw(3);
      if (kind === 0) act.updateInvoice(world, id, { dueDate: epochNow(world) + (1 + draw(60)) * DAY });
      if (kind === 1) act.payInvoicePart(world, id, 1 + draw(1000));
      act.failInvoicePayment(world, id);
    }
    act.updateInvoice(world, id, { dueDate: epochNow(world) + 30 * DAY, metadata: { last: 'yes' } });
    act.payInvoice(world, id); // in the same second as the last failed payment
    const told = world.history.slice(begun).filter(({ type }) => TOLD.includes(type));
    sync.later(60);
    return { id, told };
  }

  /** Returns the events in random order, with random repetitions up to the number of deliveries. */
  function shuffle(events: WorldEvent[], deliveries: number, chance: Chance): WorldEvent[] {
    const repeated = Array.from({ length: deliveries - events.length }, () => {
      const again = events[Math.floor(chance.draw() * events.length)];
      return again ? [again] : [];
    });
    const drawn = [...events, ...repeated.flat()].map((event) => ({ event, at: chance.draw() }));
    return drawn.sort((a, b) => a.at - b.at).map(({ event }) => event);
  }

  const versionOf = ({ id }: WorldEvent) => VERSIONS[id.charCodeAt(id.length - 1) % VERSIONS.length];

  /** Delivers the events with 20 workers, and returns the number of deliveries by outcome. */
  async function deliverAll(events: WorldEvent[], withKey: boolean) {
    const outcomes: Partial<Record<EventOutcome, number>> = {};
    const waiting = [...events];
    const work = async () => {
      for (let event = waiting.shift(); event; event = waiting.shift()) {
        const outcome = await sync.take(event, { withKey, version: versionOf(event) });
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
    '1,000 shuffled deliveries leave one payment and the latest state (API key: $withKey)',
    async ({ withKey, attempts, seed }) => {
      const chance = seededChance(seed);
      const { id, told } = liveThrough(chance, attempts);
      expect(new Set(told.map(({ created }) => created)).size).toBeLessThan(told.length);
      const truth = sync.world.invoices.get(id);
      const outcomes = await deliverAll(shuffle(told, DELIVERIES, chance), withKey);

      const { processed = 0, stale = 0, duplicate = 0, ...others } = outcomes;
      expect(others).toEqual({});
      expect([processed + stale, duplicate]).toEqual([told.length, DELIVERIES - told.length]);
      const stored = await sync.db.select().from(stripeEvents).where(eq(stripeEvents.object_id, id));
      expect(stored.map((event) => event.id).sort()).toEqual(told.map((event) => event.id).sort());
      expect(stored.every(({ outcome }) => outcome === 'processed' || outcome === 'stale')).toBe(true);

      const failures = told.filter(({ type }) => type === 'invoice.payment_failed');
      const date = (epoch?: number | null) => new Date((epoch ?? 0) * 1000);
      expect(await sync.invoiceOf(id)).toMatchObject({
        status: 'paid',
        number: truth?.number,
        due_date: date(truth?.dueDate).toISOString().slice(0, 10),
        total: '11900.000',
        amount_paid: '11900.000',
        amount_due: '0.000',
        paid_at: date(truth?.paidAt),
        payment_failed_at: date(Math.min(...failures.map(({ created }) => created))),
        uncollectible: false,
      });
      const made = { amount: '11900.000', status: 'completed', source: 'stripe' };
      expect(await paymentsOf(id)).toMatchObject([made]);
    },
  );

  test.each([
    ['that shares its second with the stored state', async () => {}, 1],
    [
      'that failed before',
      async (failed: WorldEvent) => {
        const payload = JSON.stringify(renderEvent(failed, VERSIONS[2] ?? ''));
        const event = toProviderEvent(JSON.parse(payload));
        if (event) await failEvent(sync.db, event, payload, '55P03');
      },
      2,
    ],
  ])('20 concurrent deliveries of an event %s are processed once', async (_, prepare, attempts) => {
    for (let round = 0; round < 5; round += 1) {
      sync.later(10);
      const { id, event: finalized } = finalize(newCustomer());
      act.updateInvoice(sync.world, id, { dueDate: epochNow(sync.world) + DAY });
      const failed = typed(act.failInvoicePayment(sync.world, id).events, 'invoice.payment_failed');
      await sync.take(finalized, { withKey: false });
      await prepare(failed);
      const outcomes = await deliverAll(Array(AT_ONCE).fill(failed), false);
      expect(outcomes).toEqual({ processed: 1, duplicate: AT_ONCE - 1 });
      const stored = await sync.eventOf(failed.id);
      expect(stored).toMatchObject({ outcome: 'processed', error_code: null, attempts });
      const fields = stored?.changes.map(({ field }) => field).filter((field) => field !== 'due_date');
      expect(fields?.sort()).toEqual(['payment_failed_at', 'status']);
    }
  });
});
