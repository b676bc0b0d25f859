import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eq, isNotNull } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { invoices, stripeEvents, subscriptions } from '@/db/schema';
import { seedDatabase } from '@/db/seed';
import { seededChance } from '@/lib/chance';
import { storeDeliveries } from '@/lib/cli/demo/local-stripe';
import { fillFromDatabase } from '@/lib/stripe-local/fill-from-database';
import { EVENT_TYPES, triggerEvent } from '@/lib/stripe-local/happenings';
import { loadWorld, saveWorld } from '@/lib/stripe-local/persist';
import { createWorld, type World } from '@/lib/stripe-local/world';
import { replayEvent } from '@/lib/sync/inbox/handle-event';
import { readRows, useDatabase } from '../support/database';
import {
  createSold,
  createStripeCustomer,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';
import { temporaryFolder } from '../support/run-command';
import * as act from '../support/stripe-actions';
import { useSync } from '../support/sync';

const NOW = new Date('2026-03-15T08:00:00Z');
const parent = temporaryFolder();

describe.each(['Pacific/Auckland', 'America/Los_Angeles'])(
  'an account filled from sample data in %s',
  (timeZone) => {
    const sync = useSync({ env: { APP_TIMEZONE: timeZone }, now: NOW });
    beforeAll(async () => {
      await seedDatabase(sync.db, { today: '2026-03-15', timeZone });
      await fillFromDatabase(sync.world, sync.db, { timeZone });
    });

    test('a reconciliation run changes nothing after a local Stripe was filled from the database', async () => {
      const managed = [
        await sync.db.$count(invoices, isNotNull(invoices.stripe_invoice_id)),
        await sync.db.$count(subscriptions, isNotNull(subscriptions.stripe_subscription_id)),
      ];
      expect(managed).toEqual([sync.world.invoices.size, sync.world.subscriptions.size]);
      expect(managed[0]).toBeGreaterThan(100);
      const first = await sync.run();
      expect([first.status, await sync.changesOf(first)]).toEqual(['completed', []]);
    });

    test('of the two failed events of the demo, the missed payment can be replayed, and the unstorable event fails again', async () => {
      await storeDeliveries(sync.db, sync.world);
      const events = await sync.db.select().from(stripeEvents);
      expect(events.filter(({ payload }) => !payload.includes('"object":"invoice"'))).toEqual([]);
      const [missed, unstorable] = ['TimeoutError', 'UnstorableError'].map((code) =>
        events.find(({ error_code }) => error_code === code),
      );
      expect(events.filter(({ outcome }) => outcome !== 'processed')).toHaveLength(2);
      const readMissed = () =>
        readRows(sync.db, invoices, eq(invoices.stripe_invoice_id, missed?.object_id ?? ''));
      expect(await readMissed()).toMatchObject([{ status: expect.stringMatching(/sent|overdue/) }]);
      expect(await replayEvent(sync.deps(), missed?.id ?? '')).toBe('processed');
      expect(await readMissed()).toMatchObject([{ status: 'paid' }]);
      await expect(replayEvent(sync.deps(), unstorable?.id ?? '')).rejects.toThrow(/more than twelve digits/);
      expect(await sync.run()).toMatchObject({ status: 'completed', failures: 0 });
    });

    // Run in one time zone only, because reconciling all sample data twice takes seconds.
    if (timeZone === 'Pacific/Auckland') {
      test('a reconciliation run finds the silent changes in a filled local Stripe', async () => {
        prepareReturns(sync.world);
        for (const type of EVENT_TYPES) {
          triggerEvent(type, { world: sync.world, customer: null, invoiceNumber: null });
        }
        expect(await sync.bringInSync()).not.toEqual([]);
      });
    }

    test('a local Stripe is the same after saving and loading', async () => {
      const folder = mkdtempSync(join(parent, 'world-'));
      const [file, again] = [join(folder, 'stripe-local.json'), join(folder, 'again.json')];
      await saveWorld(sync.world, file);
      expect(readdirSync(folder)).toEqual(['stripe-local.json']);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const loaded = await loadWorld(file, { now: sync.now });
      if (!loaded) throw new Error('nothing was loaded');
      await saveWorld(loaded, again);
      expect(readFileSync(again, 'utf8')).toBe(readFileSync(file, 'utf8'));
      expect(act.createCustomer(loaded)).toEqual(act.createCustomer(sync.world));
    });
  },
);

/** Creates the objects that some events need: a pending refund, inquiries, and a credit note on an open invoice. */
function prepareReturns(world: World) {
  const invoices = [...world.invoices.values()];
  const [refunded, ...disputed] = invoices.filter(({ charge }) => charge !== null);
  const open = invoices.find(({ status }) => status === 'open');
  if (!refunded || !open) throw new Error('the seed has no such invoices');
  act.refundPayment(world, { invoice: refunded.id, amount: 1, status: 'pending' });
  for (const { id } of disputed.slice(0, 2)) act.openDispute(world, { invoice: id, inquiry: true });
  act.createCreditNote(world, { invoice: open.id, amount: 1 });
}

describe('an account filled from a few rows', () => {
  const base = useDatabase();

  test('an incomplete subscription becomes an open checkout session in a filled local Stripe', async () => {
    const terms = { price: '29.70', billing_interval: 'quarter' } as const;
    const { sold, service } = await createSold(base.db, terms);
    const { id, customer_id, service_number } = service;
    await createStripeCustomer(base.db, { stripe_customer_id: 'cus_waiting', customer_id });
    const world = createWorld({ now: () => NOW, chance: seededChance(5) });
    await fillFromDatabase(world, base.db, { timeZone: 'UTC' });
    const [session] = [...world.checkoutSessions.where('customer', 'cus_waiting')];
    const metadata = { customer_service_id: String(id), service_number };
    const lineItems = [{ unitAmount: 2970, interval: 'month', intervalCount: 3, metadata }];
    expect(session).toMatchObject({ status: 'open', clientReferenceId: String(sold.id), lineItems });
  });

  test('a subscription item that is billed every two weeks stays so in a filled local Stripe', async () => {
    const { customer_id } = await createStripeCustomer(base.db, {});
    const { id, stripe_subscription_id } = await createSubscription(base.db, { customer_id });
    const price = { amount: '5', currency: 'eur', interval: 'week', interval_count: 2 };
    await createSubscriptionItem(base.db, { subscription_id: id, current_period_end: NOW, ...price });
    const world = createWorld({ now: () => NOW, chance: seededChance(5) });
    await fillFromDatabase(world, base.db, { timeZone: 'UTC' });
    const end = NOW.getTime() / 1000;
    const item = { interval: 'week', intervalCount: 2, currentPeriodStart: end - 14 * 86_400 };
    expect(world.subscriptions.get(String(stripe_subscription_id))?.items).toMatchObject([item]);
  });
});

test('loading a local Stripe returns null if the file is missing, and refuses a damaged file or one of another version', async () => {
  const file = join(parent, 'stripe-local.json');
  const load = () => loadWorld(file, { now: () => NOW });
  expect(await load()).toBeNull();
  for (const text of ['{"format":0}', 'null', '{"for']) {
    writeFileSync(file, text);
    await expect(load()).rejects.toThrow(/is not a saved local Stripe of this version: delete it/);
  }
});
