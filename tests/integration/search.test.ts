import { beforeAll, describe, expect, test } from 'vitest';
import { MAX_HITS } from '@/lib/search/schema';
import { search } from '@/lib/search/search';
import { useDatabase } from '../support/database';
import {
  createCustomer,
  createInvoice,
  createPayment,
  createService,
  createStoredEvent,
  createStripeCustomer,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';

const base = useDatabase();
const ids: Record<string, number> = {};

beforeAll(async () => {
  const { db } = base;
  const anna = {
    first_name: 'Anna',
    last_name: 'Weiß',
    company: 'Weiß & Söhne',
    email: 'Anna@Weiss.example',
  };
  const weiss = await createCustomer(db, { customer_number: 'K10001', ...anna });
  const li = { first_name: 'Li', last_name: 'Xu', company: '', email: null };
  const xu = await createCustomer(db, { customer_number: 'K100010', ...li, status: 'blocked' });
  const of = { customer_id: weiss.id };
  const invoice = await createInvoice(db, { ...of, number: 'R2026-0001' });
  await createInvoice(db, { number: 'R2026-00012', customer_id: xu.id, invoice_date: '2026-02-01' });
  const stripe_invoice_id = 'in_1QxInvoice';
  const atStripe = await createInvoice(db, { ...of, number: 'AB12CD34-0001', stripe_invoice_id });
  const sepa = { ...of, invoice_id: invoice.id, payment_reference: 'SEPA-77%_\\\'"x' };
  const payment = await createPayment(db, sepa);
  const paid = { ...of, invoice_id: atStripe.id, payment_reference: stripe_invoice_id };
  await createPayment(db, { ...paid, stripe_payment_intent_id: 'pi_3QxIntent' });
  const domain = 'Shop.weiss-soehne.example';
  const service = await createService(db, { ...of, service_number: 'S20001', domain });
  const subscription = await createSubscription(db, { ...of, stripe_subscription_id: 'sub_1QxSub' });
  const item = { subscription_id: subscription.id, stripe_subscription_item_id: 'si_1QxItem' };
  await createSubscriptionItem(db, item);
  await createStripeCustomer(db, { ...of, stripe_customer_id: 'cus_Weiss1', linked_by: 'email' });
  await createStoredEvent(db, { id: 'evt_1QxPaid', object_id: stripe_invoice_id });
  const type = 'checkout.session.completed';
  await createStoredEvent(db, { id: 'evt_1QxDone', type, object_id: 'cs_test_a1' });
  Object.assign(ids, { weiss: weiss.id, payment: payment.id, service: service.id, sub: subscription.id });
});

const titles = async (text: string) =>
  (await search(base.db, text)).groups.flatMap(({ kind, hits }) =>
    hits.map(({ title }) => `${kind} ${title}`),
  );

const WEISS = 'customer Weiß & Söhne';
const XU = 'customer Li Xu';
const SHOP = 'service S20001 · Shop.weiss-soehne.example';
const SEPA = 'payment SEPA-77%_\\\'"x';

test.each([
  [['K1000'], [WEISS, XU]],
  [['K10001'], [WEISS, XU]],
  [['k-10001', 'k 10001', 'anna@weiss.example', 'a@weiss', 'weiß', 'SÖHNE', 'anna w', 'sÖhne weiß'], [WEISS]],
  [['cus_Weiss1'], [WEISS]],
  [['WEISS'], [WEISS, SHOP]],
  [['xu', 'LI'], [XU]],
  [['R2026-0001'], ['invoice R2026-0001', 'invoice R2026-00012']],
  [['r2026'], ['invoice R2026-0001', 'invoice R2026-00012']],
  [['2026-0001'], ['invoice R2026-0001']],
  [['sepa-77', 'epa-77%_\\'], [SEPA]],
  [['s20001', 'S2', 'shop.WEISS-soehne.example', 'soehne', 'so'], [SHOP]],
  [['sub_1QxSub', 'si_1QxItem'], ['subscription Subscription 1']],
  [['pi_3QxIntent'], ['payment in_1QxInvoice']],
  [['evt_1QxPaid'], ['event invoice.paid']],
  [['cs_test_a1'], ['event checkout.session.completed']],
  [['in_1QxInvoice'], ['invoice AB12CD34-0001', 'payment in_1QxInvoice']],
  [['u', '& sö', '%_\\\'"x', '77%_', 'SUB_1QXSUB', 'cus_weiss1', 'nobody', '😀'], []],
  [['%', '_', '\\', "'", '%%%', '$1', "'; drop table customers; --"], []],
  [['#0', '#2147483647', '#2147483648', '#9999999999', '#1x', '#'], []],
])('each of the search texts %j finds %j', async (texts, expected) => {
  for (const text of texts) expect([text, await titles(text)]).toEqual([text, expected]);
});

test('a search for # and an id finds the customer, payment, service or subscription with that id', async () => {
  expect(await titles(`#${ids.weiss}`)).toContain(WEISS);
  expect(await titles(`#${ids.payment}`)).toContain(SEPA);
  expect(await titles(`#${ids.service}`)).toContain(SHOP);
  expect(await titles(`#${ids.sub}`)).toContain(`subscription Subscription ${ids.sub}`);
});

test('a search result has a title, a detail and a status, and that of a payment also its amount', async () => {
  const firstHit = async (text: string) => (await search(base.db, text)).groups[0]?.hits[0];
  const customer = { kind: 'customer', id: ids.weiss, title: 'Weiß & Söhne', status: 'active' };
  expect(await firstHit('K10001')).toEqual({ ...customer, detail: 'K10001 · Anna@Weiss.example' });
  const payment = { kind: 'payment', id: ids.payment, title: 'SEPA-77%_\\\'"x', status: 'completed' };
  const figure = { amount: 10, currency: 'eur' };
  expect(await firstHit('sepa-77')).toEqual({ ...payment, detail: 'Weiß & Söhne · R2026-0001', figure });
});

test.each([
  ['K-10001', 'customer'],
  ['cus_Weiss1', 'customer'],
  ['si_1QxItem', 'subscription'],
  ['evt_1QxPaid', 'event'],
  ...['K10001', 'in_1QxInvoice', 'weiß', 'xu', 'nobody', 'R2026-00012x'].map((text) => [text, null]),
])('the kind of the record to which the search text %j leads directly is %s', async (text, kind) => {
  const { only } = await search(base.db, text ?? '');
  expect(only?.kind ?? null).toBe(kind);
});

test('the search finds invoices and payments by an amount in English, German and other number formats', async () => {
  const { id: invoice_id, customer_id } = await createInvoice(base.db, { number: 'SUM-1', total: '1500' });
  await createInvoice(base.db, { number: 'SUM-2', total: '1.5' });
  await createPayment(base.db, { invoice_id, customer_id, payment_reference: 'SUM-PAID', amount: '1500' });
  const found = ['invoice SUM-1', 'payment SUM-PAID'];
  for (const text of ['1500', '1,500.00', '1.500,00', '1 500', '€1,500.00', '1500 EUR'])
    expect([text, await titles(text)]).toEqual([text, found]);
  expect(await titles('1.500')).toEqual(expect.arrayContaining([...found, 'invoice SUM-2']));
});

test('the search finds a partly paid invoice by its open amount, and shows that amount', async () => {
  const paid = { amount_paid: '400', amount_due: '1069.06' };
  await createInvoice(base.db, { number: 'OPEN-1', total: '1469.06', ...paid });
  await createInvoice(base.db, { number: 'OPEN-2', total: '400', amount_paid: '400', amount_due: '0' });
  expect(await titles('1.069,06')).toEqual(['invoice OPEN-1']);
  const { groups } = await search(base.db, '1.069,06');
  expect(groups[0]?.hits[0]?.detail).toMatch(/ · 1069\.06 EUR open$/);
  expect(await titles('0,00')).toEqual([]);
});

describe('searches with many matches', () => {
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
  const kindsOf = async (text: string) => (await search(base.db, text)).groups.map(({ kind }) => kind);

  test('the search shows at most five results per kind of record, those with an exact match first', async () => {
    const { groups } = await search(base.db, 'manifold');
    expect(groups.map(({ kind, hits, more }) => [kind, hits.length, more])).toEqual([
      ['customer', MAX_HITS, true],
      ['payment', MAX_HITS, false],
    ]);
    const found = groups[0]?.hits.map(({ title }) => title);
    expect(found).toEqual(['Last', 'Manifold 0', 'Manifold 1', 'Manifold 2', 'Manifold 3']);
    expect(groups[1]?.hits[0]?.title).toBe('manifold');
  });

  test('the search shows all kinds of records with a match, whether it is exact or not', async () => {
    await createInvoice(base.db, { number: 'MANIFOLD' });
    await createService(base.db, { service_number: 'MANIFOLD-1' });
    expect(await kindsOf('MANIFOLD-1')).toEqual(['payment', 'service']);
    expect(await kindsOf('manifold')).toEqual(['customer', 'invoice', 'payment', 'service']);
  });
});
