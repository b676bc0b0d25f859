import { beforeAll, describe, expect, test } from 'vitest';
import { stripeCustomers, stripeEvents } from '@/db/schema';
import { MAX_HITS } from '@/lib/search/schema';
import { search } from '@/lib/search/search';
import { useDatabase } from '../support/database';
import {
  createCustomer,
  createInvoice,
  createPayment,
  createService,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';

const base = useDatabase();
const ids: Record<string, number> = {};

beforeAll(async () => {
  const { db } = base;
  const weiss = await createCustomer(db, {
    customer_number: 'K10001',
    first_name: 'Anna',
    last_name: 'Weiß',
    company: 'Weiß & Söhne',
    email: 'Anna@Weiss.example',
  });
  const xu = await createCustomer(db, {
    customer_number: 'K100010',
    first_name: 'Li',
    last_name: 'Xu',
    company: '',
    email: null,
    status: 'blocked',
  });
  const invoice = await createInvoice(db, { number: 'R2026-0001', customer_id: weiss.id });
  await createInvoice(db, { number: 'R2026-00012', customer_id: xu.id, invoice_date: '2026-02-01' });
  const atStripe = await createInvoice(db, {
    number: 'AB12CD34-0001',
    customer_id: weiss.id,
    stripe_invoice_id: 'in_1QxInvoice',
  });
  const payment = await createPayment(db, {
    invoice_id: invoice.id,
    customer_id: weiss.id,
    payment_reference: 'SEPA-77%_\\\'"x',
  });
  await createPayment(db, {
    invoice_id: atStripe.id,
    customer_id: weiss.id,
    payment_reference: 'in_1QxInvoice',
    stripe_payment_intent_id: 'pi_3QxIntent',
  });
  const service = await createService(db, {
    customer_id: weiss.id,
    service_number: 'S20001',
    domain: 'Shop.weiss-soehne.example',
  });
  const subscription = await createSubscription(db, {
    customer_id: weiss.id,
    stripe_subscription_id: 'sub_1QxSub',
  });
  await createSubscriptionItem(db, {
    subscription_id: subscription.id,
    stripe_subscription_item_id: 'si_1QxItem',
  });
  await db
    .insert(stripeCustomers)
    .values({ stripe_customer_id: 'cus_Weiss1', customer_id: weiss.id, linked_by: 'email' });
  const event = { api_version: null, livemode: false, payload: '{}', outcome: 'processed' as const };
  await db.insert(stripeEvents).values([
    {
      ...event,
      id: 'evt_1QxPaid',
      type: 'invoice.paid',
      object_id: 'in_1QxInvoice',
      stripe_created: new Date(1),
    },
    {
      ...event,
      id: 'evt_1QxDone',
      type: 'checkout.session.completed',
      object_id: 'cs_test_a1',
      stripe_created: new Date(2),
    },
  ]);
  Object.assign(ids, { weiss: weiss.id, payment: payment.id, service: service.id, sub: subscription.id });
});

const titles = async (text: string) =>
  (await search(base.db, text)).groups.flatMap(({ kind, hits }) =>
    hits.map(({ title }) => `${kind} ${title}`),
  );

const WEISS = 'customer Weiß & Söhne';
const XU = 'customer Li Xu';

describe('a text finds', () => {
  test.each([
    ['K10001', [WEISS, XU]],
    ['k-10001', [WEISS]],
    ['k 10001', [WEISS]],
    ['K1000', [WEISS, XU]],
    ['anna@weiss.example', [WEISS]],
    ['a@weiss', [WEISS]],
    ['WEISS', [WEISS, 'service S20001 · Shop.weiss-soehne.example']],
    ['weiß', [WEISS]],
    ['SÖHNE', [WEISS]],
    ['& sö', []],
    ['anna w', [WEISS]],
    ['xu', [XU]],
    ['LI', [XU]],
    ['u', []],
    ['R2026-0001', ['invoice R2026-0001', 'invoice R2026-00012']],
    ['r2026', ['invoice R2026-0001', 'invoice R2026-00012']],
    ['2026-0001', ['invoice R2026-0001']],
    ['sepa-77', ['payment SEPA-77%_\\\'"x']],
    ['%_\\\'"x', []],
    ['77%_', []],
    ['epa-77%_\\', ['payment SEPA-77%_\\\'"x']],
    ['s20001', ['service S20001 · Shop.weiss-soehne.example']],
    ['S2', ['service S20001 · Shop.weiss-soehne.example']],
    ['shop.WEISS-soehne.example', ['service S20001 · Shop.weiss-soehne.example']],
    ['soehne', ['service S20001 · Shop.weiss-soehne.example']],
    ['so', ['service S20001 · Shop.weiss-soehne.example']],
    ['cus_Weiss1', [WEISS]],
    ['sub_1QxSub', ['subscription Subscription 1']],
    ['si_1QxItem', ['subscription Subscription 1']],
    ['pi_3QxIntent', ['payment in_1QxInvoice']],
    ['evt_1QxPaid', ['event invoice.paid']],
    ['cs_test_a1', ['event checkout.session.completed']],
    ['in_1QxInvoice', ['invoice AB12CD34-0001', 'payment in_1QxInvoice']],
    ['SUB_1QXSUB', []],
    ['cus_weiss1', []],
    ['nobody', []],
    ['%', []],
    ['_', []],
    ['\\', []],
    ["'", []],
    ['%%%', []],
    ['$1', []],
    ["'; drop table customers; --", []],
    ['😀', []],
    ['sÖhne weiß', ['customer Weiß & Söhne']],
  ])('%j: %j', async (text, expected) => {
    expect(await titles(text)).toEqual(expected);
  });

  test('by our id whatever has it', async () => {
    expect(await titles(`#${ids.weiss}`)).toContain(WEISS);
    expect(await titles(`#${ids.payment}`)).toContain('payment SEPA-77%_\\\'"x');
    expect(await titles(`#${ids.service}`)).toContain('service S20001 · Shop.weiss-soehne.example');
    expect(await titles(`#${ids.sub}`)).toContain(`subscription Subscription ${ids.sub}`);
    for (const none of ['#0', '#2147483647', '#2147483648', '#9999999999', '#1x', '#']) {
      expect(await titles(none), none).toEqual([]);
    }
  });
});

test('hits tell what they are', async () => {
  expect((await search(base.db, 'K10001')).groups[0]?.hits[0]).toEqual({
    kind: 'customer',
    id: ids.weiss,
    title: 'Weiß & Söhne',
    detail: 'K10001 · Anna@Weiss.example',
    status: 'active',
  });
  expect((await search(base.db, 'sepa-77')).groups[0]?.hits[0]).toEqual({
    kind: 'payment',
    id: ids.payment,
    title: 'SEPA-77%_\\\'"x',
    detail: 'Weiß & Söhne · R2026-0001',
    status: 'completed',
    figure: { amount: 10, currency: 'eur' },
  });
});

describe('a record that is meant', () => {
  test.each([
    ['K-10001', 'customer'],
    ['cus_Weiss1', 'customer'],
    ['si_1QxItem', 'subscription'],
    ['evt_1QxPaid', 'event'],
  ])('%j is the only one', async (text, kind) => {
    expect((await search(base.db, text)).only).toMatchObject({ kind });
  });

  test.each(['K10001', 'in_1QxInvoice', 'weiß', 'xu', 'nobody', 'R2026-00012x'])(
    '%j means none, or not one alone',
    async (text) => {
      expect((await search(base.db, text)).only).toBeNull();
    },
  );
});

describe('many matches', () => {
  beforeAll(async () => {
    const { db } = base;
    for (let i = 0; i < 7; i++)
      await createCustomer(db, { company: `Manifold ${i}`, customer_number: `M${i}` });
    await createCustomer(db, { company: 'The Manifold', customer_number: 'A1' });
    await createCustomer(db, { company: 'Last', customer_number: 'MANIFOLD' });
    const invoice = await createInvoice(db);
    const on = { invoice_id: invoice.id, customer_id: invoice.customer_id };
    for (let i = 0; i < 4; i++) await createPayment(db, { ...on, payment_reference: `MANIFOLD-${i}` });
    await createPayment(db, { ...on, payment_reference: 'manifold', payment_date: '2020-01-01' });
  });

  test('five of a kind, those named first, then those that start with it, and that there are more', async () => {
    const { groups } = await search(base.db, 'manifold');
    expect(groups.map(({ kind, hits, more }) => [kind, hits.length, more])).toEqual([
      ['customer', MAX_HITS, true],
      ['payment', MAX_HITS, false],
    ]);
    expect(groups[0]?.hits.map(({ title }) => title)).toEqual([
      'Last',
      'Manifold 0',
      'Manifold 1',
      'Manifold 2',
      'Manifold 3',
    ]);
    expect(groups[1]?.hits[0]?.title).toBe('manifold');
  });

  test('a kind with one that is named comes before others', async () => {
    await createInvoice(base.db, { number: 'MANIFOLD' });
    await createService(base.db, { service_number: 'MANIFOLD-1' });
    const { groups } = await search(base.db, 'MANIFOLD-1');
    expect(groups.map(({ kind }) => kind)).toEqual(['payment', 'service']);
    expect((await search(base.db, 'manifold')).groups.map(({ kind }) => kind)).toEqual([
      'customer',
      'invoice',
      'payment',
      'service',
    ]);
  });
});
