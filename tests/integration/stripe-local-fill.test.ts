import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { and, eq, inArray, isNotNull } from 'drizzle-orm';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  customers,
  invoices,
  payments,
  paymentTombstones,
  stripeCustomers,
  stripeEvents,
  subscriptions,
} from '@/db/schema';
import { seedDatabase } from '@/db/seed';
import { seededChance } from '@/lib/chance';
import { storeDeliveries } from '@/lib/cli/demo/local-stripe';
import { toProviderInvoice } from '@/lib/stripe/to-invoice';
import { fillFromDatabase } from '@/lib/stripe-local/fill-from-database';
import { EVENT_TYPES, makeHappen } from '@/lib/stripe-local/happenings';
import { loadWorld, saveWorld } from '@/lib/stripe-local/persist';
import { createWorld, type World } from '@/lib/stripe-local/world';
import { replayEvent } from '@/lib/sync/inbox/handle-event';
import { useDatabase } from '../support/database';
import {
  createCustomer,
  createInvoice,
  createPayment,
  createService,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';
import * as act from '../support/stripe-actions';
import { useSync } from '../support/sync';

const NOW = new Date('2026-03-15T08:00:00Z');
const newWorld = () => createWorld({ now: () => NOW, chance: seededChance(5) });

describe.each(['Pacific/Auckland', 'America/Los_Angeles'])(
  'an account filled from sample data in %s',
  (timeZone) => {
    const sync = useSync({ env: { APP_TIMEZONE: timeZone }, now: NOW });
    beforeAll(async () => {
      await seedDatabase(sync.db, { today: '2026-03-15', timeZone });
      await fillFromDatabase(sync.world, sync.db, { timeZone });
    });

    test('a filled local Stripe has our customer number in the metadata of linked Stripe customers', async () => {
      const links = await sync.db.select().from(stripeCustomers);
      const numbers = new Map(
        (await sync.db.select().from(customers)).map((row) => [row.id, row.customer_number]),
      );
      expect(sync.world.customers.size).toBe(links.length);
      for (const link of links) {
        const isSure = link.linked_by !== 'created';
        expect(sync.world.customers.get(link.stripe_customer_id)?.metadata).toEqual(
          isSure ? { customer_number: numbers.get(link.customer_id) } : {},
        );
      }
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

    test('the missed payment event of the demo succeeds when it is replayed', async () => {
      await storeDeliveries(sync.db, sync.world);
      const events = await sync.db.select().from(stripeEvents);
      expect(events.filter(({ payload }) => !payload.includes('"object":"invoice"'))).toEqual([]);
      const [missed, unstorable] = ['TimeoutError', 'UnstorableError'].map((code) =>
        events.find(({ error_code }) => error_code === code),
      );
      expect(events.filter(({ outcome }) => outcome !== 'processed')).toHaveLength(2);
      const stateOf = async (stripeId: string | null | undefined) =>
        (
          await sync.db
            .select()
            .from(invoices)
            .where(eq(invoices.stripe_invoice_id, stripeId ?? ''))
        ).map(({ status }) => status);
      expect(await stateOf(missed?.object_id)).toEqual([expect.stringMatching(/sent|overdue/)]);
      expect(await replayEvent(sync.deps(), missed?.id ?? '')).toBe('processed');
      expect(await stateOf(missed?.object_id)).toEqual(['paid']);
      await expect(replayEvent(sync.deps(), unstorable?.id ?? '')).rejects.toThrow(/more than twelve digits/);
      expect(await sync.run()).toMatchObject({ status: 'completed', failures: 0 });
    });

    test('invoices of a filled local Stripe have the same failed payments as our invoices', async () => {
      const isUnpaid = inArray(invoices.status, ['overdue', 'sent']);
      const rows = await sync.db
        .select()
        .from(invoices)
        .where(and(isNotNull(invoices.stripe_invoice_id), isUnpaid, eq(invoices.uncollectible, false)))
        .limit(60);
      const expand = ['payments.data.payment.payment_intent'];
      for (const row of rows) {
        const one = await sync.client.invoices.retrieve(row.stripe_invoice_id ?? '', { expand });
        expect(toProviderInvoice(one)?.paymentFailed).toBe(row.payment_failed_at !== null);
      }
      expect(new Set(rows.map((row) => row.payment_failed_at !== null)).size).toBe(2);
    });

    // Only in one time zone, because reconciling all sample data takes seconds.
    if (timeZone === 'Pacific/Auckland') {
      test('a reconciliation run finds the silent changes in a filled local Stripe', async () => {
        prepareReturns(sync.world);
        for (const type of EVENT_TYPES) {
          makeHappen(type, { world: sync.world, customer: null, invoiceNumber: null });
        }
        expect(await sync.bringInSync()).not.toEqual([]);
      });
    }

    test('a local Stripe is the same after saving and loading', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'w5t-world-'));
      const file = join(folder, 'stripe-local.json');
      await saveWorld(sync.world, file);
      expect(await readdir(folder)).toEqual(['stripe-local.json']);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const loaded = await loadWorld(file, { now: sync.now });
      if (!loaded) throw new Error('nothing was loaded');
      const again = join(folder, 'again.json');
      await saveWorld(loaded, again);
      expect(await readFile(again, 'utf8')).toBe(await readFile(file, 'utf8'));
      expect(act.createCustomer(loaded)).toEqual(act.createCustomer(sync.world));
      await rm(folder, { recursive: true });
    });
  },
);

/** Creates what some events need: a pending refund, inquiries, and a credit note on an open invoice. */
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
  const fill = async () => {
    const world = newWorld();
    await fillFromDatabase(world, base.db, { timeZone: 'UTC' });
    return world;
  };

  test('filling a local Stripe creates the missing Stripe customer of a subscription', async () => {
    const sub = await createSubscription(base.db, { stripe_subscription_id: 'sub_alone' });
    const [row] = await base.db.select().from(customers);
    const world = await fill();
    const customer = world.customers.get(world.subscriptions.get('sub_alone')?.customer ?? '');
    expect(customer?.metadata.customer_number).toBe(row?.customer_number);
    expect(sub.stripe_customer_id).toBeNull();
  });

  test('a filled local Stripe lacks the invoices that are gone at Stripe', async () => {
    await createInvoice(base.db, { stripe_invoice_id: 'in_gone', provider_gone_at: NOW });
    await createSubscription(base.db, { stripe_subscription_id: 'sub_gone', provider_gone_at: NOW });
    const world = await fill();
    expect(world.invoices.get('in_gone')).toBeUndefined();
    expect(world.subscriptions.get('sub_gone')).toBeUndefined();
  });

  test('an incomplete subscription becomes an open checkout session in a filled local Stripe', async () => {
    const { id: customer_id } = await createCustomer(base.db);
    await base.db
      .insert(stripeCustomers)
      .values({ stripe_customer_id: 'cus_waiting', customer_id, linked_by: 'number' });
    const terms = { price: '29.70', billing_interval: 'quarter' } as const;
    const service = await createService(base.db, { customer_id, ...terms });
    const waiting = { status: 'incomplete', stripe_subscription_id: null } as const;
    const sub = await createSubscription(base.db, { customer_id, ...waiting });
    await createSubscriptionItem(base.db, { subscription_id: sub.id, customer_service_id: service.id });
    const world = await fill();
    const [session] = [...world.checkoutSessions.where('customer', 'cus_waiting')];
    const { id, service_number } = service;
    const metadata = { customer_service_id: String(id), service_number };
    const lineItems = [{ unitAmount: 2970, interval: 'month', intervalCount: 3, metadata }];
    expect(session).toMatchObject({ status: 'open', clientReferenceId: String(sub.id), lineItems });
  });

  test('paid invoices of a filled local Stripe have the payments of our records', async () => {
    const paid = { status: 'paid', amount_paid: '119', amount_due: '0', paid_at: NOW } as const;
    const make = (stripe_invoice_id: string, given: Parameters<typeof createInvoice>[1] = {}) =>
      createInvoice(base.db, { stripe_invoice_id, ...paid, ...given });
    const { id: invoice_id, customer_id } = await make('in_known', { amount_off_stripe: '0' });
    const known = { amount: '119', payment_reference: 'in_known', stripe_payment_intent_id: 'pi_known' };
    await createPayment(base.db, { invoice_id, customer_id, source: 'stripe', ...known });
    await make('in_cash', { amount_off_stripe: '119' });
    await make('in_both', { amount_off_stripe: '19' });
    await make('in_unknown');
    await make('in_deleted');
    await base.db.insert(paymentTombstones).values({ reference: 'in_deleted' });
    const part = { status: 'sent', amount_paid: '19', amount_due: '100', amount_off_stripe: '0' } as const;
    await make('in_part', { ...part, paid_at: null });
    const world = await fill();
    const paymentsOf = (id: string) =>
      [...world.invoicePayments.where('invoice', id)]
        .map(({ payment, status, amountRequested }) => `${payment.type} ${status} ${amountRequested}`)
        .sort();
    expect(Object.fromEntries([...world.invoices.values()].map(({ id }) => [id, paymentsOf(id)]))).toEqual({
      in_known: ['payment_intent paid 11900'],
      in_cash: ['payment_record paid 11900'],
      in_both: ['payment_intent paid 10000', 'payment_record paid 1900'],
      in_unknown: ['payment_record paid 11900'],
      in_deleted: ['payment_intent paid 11900'],
      in_part: ['payment_intent open 10000', 'payment_intent paid 1900'],
    });
    expect(world.invoices.get('in_known')?.paymentIntent).toBe('pi_known');
    expect(act.payInvoice(world, 'in_part').object).toMatchObject({ status: 'paid', amountPaid: 11900 });
    expect(await base.db.select().from(payments)).toHaveLength(1);
  });

  test('a filled local Stripe continues the invoice numbers of a customer', async () => {
    const yen = { currency: 'jpy', total: '11900', amount_due: '11900' };
    await createInvoice(base.db, { stripe_invoice_id: 'in_yen', ...yen });
    const invoice = await createInvoice(base.db, { stripe_invoice_id: 'in_number', number: 'ABCD1234-0041' });
    const world = await fill();
    expect(world.invoices.get('in_yen')?.amountDue).toBe(11900);
    const stripeCustomer = world.customers.get(world.invoices.get('in_number')?.customer ?? '');
    expect(stripeCustomer).toMatchObject({ invoicePrefix: 'ABCD1234', nextInvoiceSequence: 42 });
    expect(invoice.status).toBe('sent');
  });
});

describe('a saved account', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'w5t-world-'));
    file = join(folder, 'stripe-local.json');
  });
  afterEach(() => rm(folder, { recursive: true }));
  const load = () => loadWorld(file, { now: () => NOW });

  test('loading a local Stripe returns null if the file is missing', async () => {
    expect(await load()).toBeNull();
    for (const text of ['{"format":0}', 'null', '{"for']) {
      await writeFile(file, text);
      await expect(load()).rejects.toThrow(/is not a saved local Stripe of this version: delete it/);
    }
  });

  test('a deleted invoice still works as a cursor after a local Stripe is loaded', async () => {
    const world = newWorld();
    const customer = act.createCustomer(world).object.id;
    const { id } = act.createInvoice(world, { customer, lines: [] }).object;
    act.deleteDraftInvoice(world, id);
    await saveWorld(world, file);
    const loaded = await load();
    expect(loaded?.invoices.get(id)).toBeUndefined();
    expect(loaded?.invoices.place(id)).toMatchObject({ id });
    expect(loaded?.history).toEqual(world.history);
  });

  test('a local Stripe saved before refunds existed can still be loaded', async () => {
    const old = newWorld();
    const customer = act.createCustomer(old).object.id;
    const { id: invoice } = act.createInvoice(old, { customer, lines: [{ amount: 5 }] }).object;
    act.finalizeInvoice(old, invoice);
    await saveWorld(old, file);
    const saved = JSON.parse(await readFile(file, 'utf8'), (key, value) =>
      ['refunds', 'disputes', 'creditNotes', 'effectiveAt'].includes(key) || key.endsWith('CreditNotesAmount')
        ? undefined
        : value,
    );
    expect(Object.keys(saved.objects)).not.toContain('refunds');
    await writeFile(file, JSON.stringify(saved));
    const loaded = await load();
    if (!loaded) throw new Error('nothing was loaded');
    expect([...loaded.invoices.values()]).toEqual([...old.invoices.values()]);
    expect(loaded.history).toEqual(old.history);
    act.payInvoice(loaded, invoice);
    expect(act.refundPayment(loaded, { invoice }).object.amount).toBe(5);
  });
});
