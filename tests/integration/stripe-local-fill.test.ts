import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isNotNull } from 'drizzle-orm';
import type Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  customers,
  invoices,
  payments,
  paymentTombstones,
  stripeCustomers,
  subscriptionItems,
  subscriptions,
} from '@/db/schema';
import { seedDatabase } from '@/db/seed';
import { earliest, toCalendarDate } from '@/lib/dates';
import { createStripeClient } from '@/lib/stripe/client';
import type { ProviderInvoice } from '@/lib/stripe/provider';
import { toProviderInvoice } from '@/lib/stripe/to-invoice';
import { toProviderSubscription } from '@/lib/stripe/to-subscription';
import {
  createCreditNote,
  createCustomer as createStripeCustomer,
  createInvoice as createStripeInvoice,
  deleteDraftInvoice,
  openDispute,
  payInvoice,
  refundPayment,
} from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import { fillFromDatabase } from '@/lib/stripe-local/fill-from-database';
import { EVENT_TYPES, makeHappen } from '@/lib/stripe-local/happenings';
import { loadWorld, saveWorld } from '@/lib/stripe-local/persist';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { createWorld, type World } from '@/lib/stripe-local/world';
import { reconcile } from '@/lib/sync/reconcile/reconcile';
import { useDatabase } from '../support/database';
import {
  createCustomer,
  createInvoice,
  createPayment,
  createService,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';
import { testRuntime } from '../support/runtime';

const NOW = new Date('2026-03-15T08:00:00Z');
const newWorld = () => createWorld({ now: () => NOW, chance: seededChance(5) });

type OurInvoice = typeof invoices.$inferSelect;

/** Our row as sync would have to see it at Stripe to leave it alone. */
function expectedInvoice(row: OurInvoice) {
  return {
    number: row.number,
    status: row.status === 'overdue' ? 'sent' : row.status,
    invoice_date: row.invoice_date,
    due_date: row.due_date,
    amounts: [row.subtotal, row.tax, row.total, row.amount_paid, row.amount_due].map(Number),
    currency: row.currency,
    paid_at: row.paid_at,
    uncollectible: row.uncollectible,
    customer: row.stripe_customer_id,
  };
}

function seenInvoice(provider: ProviderInvoice, timeZone: string) {
  const { status, dueAt, issuedAt, currency, subtotal, tax, total, amountPaid, amountDue } = provider;
  const ours = { draft: 'draft', open: 'sent', paid: 'paid', uncollectible: 'sent', void: 'cancelled' };
  return {
    number: provider.number,
    status: status && ours[status],
    invoice_date: issuedAt && toCalendarDate(issuedAt, timeZone),
    due_date: dueAt && toCalendarDate(dueAt, timeZone),
    amounts: [subtotal, tax, total, amountPaid, amountDue].map(Number),
    currency,
    paid_at: provider.paidAt,
    uncollectible: status === 'uncollectible',
    customer: provider.customer?.stripeCustomerId ?? null,
  };
}

describe.each(['UTC', 'Pacific/Auckland', 'America/Los_Angeles'])(
  'filled from the seeded database, %s',
  (timeZone) => {
    const base = useDatabase();
    let world: World;
    let local: StripeLocal;
    let stripe: Stripe;

    beforeAll(async () => {
      await seedDatabase(base.db, { today: '2026-03-15', timeZone });
      world = newWorld();
      await fillFromDatabase(world, base.db, { timeZone });
      local = await startStripeLocal({ world, secretKey: 'sk_test_x' });
      stripe = createStripeClient('sk_test_x', local.url, 10_000);
    });
    afterAll(() => local.close());

    test('every invoice is at Stripe what it is here', async () => {
      const rows = await base.db.select().from(invoices).where(isNotNull(invoices.stripe_invoice_id));
      expect(rows.length).toBeGreaterThan(100);
      const seen = new Map<string, ProviderInvoice>();
      for await (const one of stripe.invoices.list({ limit: 100, expand: ['data.payments'] })) {
        const provider = toProviderInvoice(one);
        if (provider) seen.set(provider.id, provider);
      }
      expect(seen.size).toBe(rows.length);
      for (const row of rows) {
        const provider = seen.get(row.stripe_invoice_id ?? '');
        expect(provider && seenInvoice(provider, timeZone)).toEqual(expectedInvoice(row));
        if (row.status === 'paid')
          expect(Number(provider?.amountOffStripe)).toBe(Number(row.amount_off_stripe));
      }
    });

    test('what failed here failed there, and nothing else did', async () => {
      const rows = await base.db.select().from(invoices).where(isNotNull(invoices.stripe_invoice_id));
      for (const row of rows.filter(({ status }) => status === 'overdue' || status === 'sent').slice(0, 60)) {
        const provider = toProviderInvoice(
          await stripe.invoices.retrieve(row.stripe_invoice_id ?? '', {
            expand: ['payments.data.payment.payment_intent'],
          }),
        );
        if (!row.uncollectible) expect(provider?.paymentFailed).toBe(row.payment_failed_at !== null);
      }
    });

    test('every subscription is at Stripe what it is here', async () => {
      const rows = await base.db
        .select()
        .from(subscriptions)
        .where(isNotNull(subscriptions.stripe_subscription_id));
      const items = await base.db.select().from(subscriptionItems);
      let seen = 0;
      for await (const one of stripe.subscriptions.list({ limit: 100, status: 'all' })) {
        seen += 1;
        const provider = toProviderSubscription(one);
        const row = rows.find(({ stripe_subscription_id }) => stripe_subscription_id === one.id);
        if (!provider || !row) throw new Error(`${one.id} is not ours`);
        const ends = provider.items.flatMap(({ currentPeriodEnd }) => currentPeriodEnd ?? []);
        expect({
          status: provider.status,
          next_billing_date: toCalendarDate(earliest(...ends), timeZone),
          cancel_at_period_end: provider.cancelAtPeriodEnd,
          ended_at: provider.endedAt,
          customer: provider.customer?.stripeCustomerId,
          items: provider.items.map((item) => [
            item.id,
            item.quantity,
            item.currentPeriodEnd,
            Number(item.metadata.customer_service_id),
          ]),
        }).toEqual({
          status: row.status,
          next_billing_date: row.next_billing_date,
          cancel_at_period_end: row.cancel_at_period_end,
          ended_at: row.ended_at,
          customer: row.stripe_customer_id,
          items: items
            .filter(({ subscription_id }) => subscription_id === row.id)
            .sort((a, b) => a.id - b.id)
            .map((item) => [
              item.stripe_subscription_item_id,
              item.quantity,
              item.current_period_end,
              Number(item.named_service_id),
            ]),
        });
      }
      expect(seen).toBe(rows.length);
    });

    test('every Stripe customer that is known for sure names our customer number', async () => {
      const links = await base.db.select().from(stripeCustomers);
      const numbers = new Map(
        (await base.db.select().from(customers)).map((row) => [row.id, row.customer_number]),
      );
      expect(world.customers.size).toBe(links.length);
      for (const link of links) {
        const isSure = link.linked_by !== 'created';
        expect(world.customers.get(link.stripe_customer_id)?.metadata).toEqual(
          isSure ? { customer_number: numbers.get(link.customer_id) } : {},
        );
      }
    });

    test('a saved world is loaded as it was', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'w5t-world-'));
      const file = join(folder, 'stripe-local.json');
      await saveWorld(world, file);
      expect(await readdir(folder)).toEqual(['stripe-local.json']);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const loaded = await loadWorld(file, { now: () => NOW });
      if (!loaded) throw new Error('not there');
      const again = join(folder, 'again.json');
      await saveWorld(loaded, again);
      expect(await readFile(again, 'utf8')).toBe(await readFile(file, 'utf8'));
      expect(createStripeCustomer(loaded)).toEqual(createStripeCustomer(world));
      await rm(folder, { recursive: true });
    });
  },
);

/** What some events need: a refund on its way, inquiries, and a credit note on an open invoice. */
function prepareReturns(world: World) {
  const invoices = [...world.invoices.values()];
  const [refunded, ...disputed] = invoices.filter(({ charge }) => charge !== null);
  const open = invoices.find(({ status }) => status === 'open');
  if (!refunded || !open) throw new Error('the seed has no such invoices');
  refundPayment(world, { invoice: refunded.id, amount: 1, status: 'pending' });
  for (const { id } of disputed.slice(0, 2)) openDispute(world, { invoice: id, inquiry: true });
  createCreditNote(world, { invoice: open.id, amount: 1 });
}

describe('a reconciliation against the filled world', () => {
  const base = useDatabase();

  test('changes nothing at first, then what happened in silence, then nothing again', async () => {
    const timeZone = 'Asia/Tokyo';
    await seedDatabase(base.db, { today: '2026-03-15', timeZone });
    let now = NOW;
    const world = createWorld({ now: () => now, chance: seededChance(5) });
    await fillFromDatabase(world, base.db, { timeZone });
    const local = await startStripeLocal({ world, secretKey: 'sk_test_x' });
    const { log } = testRuntime(base.db);
    const stripe = createStripeClient('sk_test_x', local.url, 10_000);
    const run = async () => {
      now = new Date(now.getTime() + 60_000);
      const deps = {
        db: base.db,
        stripe,
        now: () => now,
        log,
        timeZone,
        mode: null,
        linkByEmail: false,
        eventRetentionDays: 180,
        toolCallRetentionDays: 90,
      };
      const { status, changes } = await reconcile(deps, { trigger: 'cli', startedBy: null });
      return { status, isChanged: changes > 0 };
    };
    expect(await run()).toEqual({ status: 'completed', isChanged: false });
    prepareReturns(world);
    for (const type of EVENT_TYPES) makeHappen(type, { world, customer: null, invoiceNumber: null });
    expect(await run()).toEqual({ status: 'completed', isChanged: true });
    expect(await run()).toEqual({ status: 'completed', isChanged: false });
    await local.close();
  });
});

describe('filled from single rows', () => {
  const base = useDatabase();
  const fill = async () => {
    const world = newWorld();
    await fillFromDatabase(world, base.db, { timeZone: 'UTC' });
    return world;
  };

  test('a customer that Stripe does not know yet gets one there', async () => {
    const sub = await createSubscription(base.db, { stripe_subscription_id: 'sub_alone' });
    const [row] = await base.db.select().from(customers);
    const world = await fill();
    const customer = world.customers.get(world.subscriptions.get('sub_alone')?.customer ?? '');
    expect(customer?.metadata.customer_number).toBe(row?.customer_number);
    expect(sub.stripe_customer_id).toBeNull();
  });

  test('what is gone at Stripe stays gone', async () => {
    await createInvoice(base.db, { stripe_invoice_id: 'in_gone', provider_gone_at: NOW });
    await createSubscription(base.db, { stripe_subscription_id: 'sub_gone', provider_gone_at: NOW });
    const world = await fill();
    expect([world.invoices.get('in_gone'), world.subscriptions.get('sub_gone')]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test('a subscription that waits for its checkout is an open session', async () => {
    const { id: customer_id } = await createCustomer(base.db);
    await base.db
      .insert(stripeCustomers)
      .values({ stripe_customer_id: 'cus_waiting', customer_id, linked_by: 'number' });
    const service = await createService(base.db, {
      customer_id,
      price: '29.70',
      billing_interval: 'quarter',
    });
    const sub = await createSubscription(base.db, {
      customer_id,
      status: 'incomplete',
      stripe_subscription_id: null,
    });
    await createSubscriptionItem(base.db, { subscription_id: sub.id, customer_service_id: service.id });
    const world = await fill();
    const [session] = [...world.checkoutSessions.where('customer', 'cus_waiting')];
    expect(session).toMatchObject({
      status: 'open',
      clientReferenceId: String(sub.id),
      lineItems: [
        {
          unitAmount: 2970,
          interval: 'month',
          intervalCount: 3,
          metadata: { customer_service_id: String(service.id), service_number: service.service_number },
        },
      ],
    });
  });

  test('paid: by Stripe, elsewhere, in part, and with a deleted payment', async () => {
    const paid = { status: 'paid', amount_paid: '119', amount_due: '0', paid_at: NOW } as const;
    const known = await createInvoice(base.db, {
      ...paid,
      stripe_invoice_id: 'in_known',
      amount_off_stripe: '0',
    });
    await createPayment(base.db, {
      invoice_id: known.id,
      customer_id: known.customer_id,
      source: 'stripe',
      amount: '119',
      payment_reference: 'in_known',
      stripe_payment_intent_id: 'pi_known',
    });
    await createInvoice(base.db, { ...paid, stripe_invoice_id: 'in_cash', amount_off_stripe: '119' });
    await createInvoice(base.db, { ...paid, stripe_invoice_id: 'in_both', amount_off_stripe: '19' });
    await createInvoice(base.db, { ...paid, stripe_invoice_id: 'in_unknown' });
    await createInvoice(base.db, { ...paid, stripe_invoice_id: 'in_deleted' });
    await base.db.insert(paymentTombstones).values({ reference: 'in_deleted' });
    await createInvoice(base.db, {
      stripe_invoice_id: 'in_part',
      status: 'sent',
      amount_paid: '19',
      amount_due: '100',
      amount_off_stripe: '0',
    });
    const world = await fill();
    const paymentsOf = (id: string) =>
      [...world.invoicePayments.where('invoice', id)].map(({ payment, status, amountRequested }) => [
        payment.type,
        status,
        amountRequested,
      ]);
    expect(paymentsOf('in_known')).toEqual([['payment_intent', 'paid', 11900]]);
    expect(world.invoices.get('in_known')?.paymentIntent).toBe('pi_known');
    expect(paymentsOf('in_cash')).toEqual([['payment_record', 'paid', 11900]]);
    expect(paymentsOf('in_both').sort()).toEqual([
      ['payment_intent', 'paid', 10000],
      ['payment_record', 'paid', 1900],
    ]);
    expect(paymentsOf('in_unknown')).toEqual([['payment_record', 'paid', 11900]]);
    expect(paymentsOf('in_deleted')).toEqual([['payment_intent', 'paid', 11900]]);
    expect(paymentsOf('in_part').sort()).toEqual([
      ['payment_intent', 'open', 10000],
      ['payment_intent', 'paid', 1900],
    ]);
    expect(payInvoice(world, 'in_part').object).toMatchObject({ status: 'paid', amountPaid: 11900 });
    expect(await base.db.select().from(payments)).toHaveLength(1);
  });

  test('minor units of the currency, and new numbers after the old ones', async () => {
    await createInvoice(base.db, {
      stripe_invoice_id: 'in_yen',
      currency: 'jpy',
      total: '11900',
      amount_due: '11900',
    });
    const invoice = await createInvoice(base.db, { stripe_invoice_id: 'in_number', number: 'ABCD1234-0041' });
    const world = await fill();
    expect(world.invoices.get('in_yen')?.amountDue).toBe(11900);
    const stripeCustomer = world.customers.get(world.invoices.get('in_number')?.customer ?? '');
    expect(stripeCustomer).toMatchObject({ invoicePrefix: 'ABCD1234', nextInvoiceSequence: 42 });
    expect(invoice.status).toBe('sent');
  });
});

describe('saving', () => {
  test('no file is no world, another file is refused with a sentence, a deleted id is still a cursor', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'w5t-world-'));
    const file = join(folder, 'stripe-local.json');
    const load = () => loadWorld(file, { now: () => NOW });
    expect(await load()).toBeNull();
    for (const text of ['{"format":0}', 'null', '{"for']) {
      await writeFile(file, text);
      await expect(load()).rejects.toThrow(/is not a saved local Stripe of this version: delete it/);
    }
    const world = newWorld();
    const customer = createStripeCustomer(world).object.id;
    const { id } = createStripeInvoice(world, { customer, lines: [] }).object;
    deleteDraftInvoice(world, id);
    await saveWorld(world, file);
    const loaded = await load();
    expect(loaded?.invoices.get(id)).toBeUndefined();
    expect(loaded?.invoices.place(id)).toMatchObject({ id });
    expect(loaded?.history).toEqual(world.history);
    await rm(folder, { recursive: true });
  });
});
