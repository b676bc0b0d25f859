import { beforeAll, expect, test } from 'vitest';
import { type SubscriptionFilters, subscriptionFilters } from '@/lib/subscriptions/filters';
import {
  listInvoicesOf,
  listServiceChoices,
  MAX_INVOICES,
  MAX_SERVICES,
} from '@/lib/subscriptions/list-related';
import { getSubscription, listSubscriptions } from '@/lib/subscriptions/queries';
import { useDatabase } from '../support/database';
import {
  createCustomer,
  createInvoice,
  createService,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';
import { walkPages } from '../support/walk-pages';

const base = useDatabase();
const ids: Record<string, number> = {};
const named = (id: number) => Object.entries(ids).find(([, value]) => value === id)?.[0];

beforeAll(async () => {
  const ada = await createCustomer(base.db, { customer_number: 'K777', company: 'Acme GmbH' });
  const service = await createService(base.db, { customer_id: ada.id, service_number: 'S777' });
  const subscription = async (name: string, values: object, item?: object) => {
    ids[name] = (await createSubscription(base.db, values)).id;
    if (item) await createSubscriptionItem(base.db, { subscription_id: ids[name], ...item });
  };
  const linked = { customer_service_id: service.id, stripe_subscription_item_id: 'si_777' };
  await subscription('linked', { customer_id: ada.id, stripe_customer_id: 'cus_777' }, linked);
  await subscription('unlinked', { status: 'past_due', stripe_subscription_id: 'sub_777' }, {});
  await subscription('over', { status: 'cancelled' }, {});
  await subscription('empty', { stripe_subscription_id: null });
});

test.each<[Partial<SubscriptionFilters>, string[]]>([
  [{}, ['empty', 'over', 'unlinked', 'linked']],
  [{ status: 'past_due' }, ['unlinked']],
  [{ customer: 'K777' }, ['linked']],
  [{ customer: 'k777' }, ['linked']],
  [{ customer: 'K77' }, ['linked']],
  [{ items: 'unlinked' }, ['unlinked']],
  [{ items: 'unlinked', status: 'active' }, []],
  [{ id: 'sub_777' }, ['unlinked']],
  [{ id: 'cus_777' }, ['linked']],
  [{ id: 'si_777' }, ['linked']],
  [{ id: 'si_nowhere' }, []],
])('subscriptions filtered by %o are %j', async (filters, names) => {
  const { data } = await listSubscriptions(base.db, filters, { limit: 25 });
  expect(data.map(({ id }) => named(id))).toEqual(names);
});

test('an unknown or unreadable filter of subscriptions is refused', () => {
  for (const wrong of [{ status: 'canceled' }, { items: 'all' }, { customer: '\u0000' }, { id: '' }]) {
    expect([wrong, subscriptionFilters.safeParse(wrong).success]).toEqual([wrong, false]);
  }
});

test('a listed subscription has its customer, its items and their services', async () => {
  const { data } = await listSubscriptions(base.db, { customer: 'K777' }, { limit: 25 });
  expect(data).toMatchObject([
    {
      customer: { customer_number: 'K777', name: 'Acme GmbH' },
      items: [{ stripe_subscription_item_id: 'si_777', service: { service_number: 'S777' } }],
    },
  ]);
});

test('pages of subscriptions follow each other in both directions', async () => {
  const read = (start: object) => listSubscriptions(base.db, {}, { ...start, limit: 2 });
  const expected = ['empty', 'over', 'unlinked', 'linked'];
  expect((await walkPages(read)).map(({ id }) => named(id))).toEqual(expected);
  expect((await read({ after: 'nonsense' })).data).toEqual((await read({})).data);
});

test('one subscription is returned with its items, and an unknown one is not found', async () => {
  expect(await getSubscription(base.db, ids.unlinked ?? 0)).toMatchObject({
    status: 'past_due',
    items: [{ customer_service_id: null, service: null }],
  });
  for (const id of [0, 999_999, 9_999_999_999]) {
    await expect(getSubscription(base.db, id)).rejects.toMatchObject({ code: 'not_found' });
  }
});

test('the invoices of a subscription are listed, the latest first and at most a page', async () => {
  const { id, customer_id } = await createSubscription(base.db);
  await createInvoice(base.db);
  for (let n = 0; n < MAX_INVOICES + 1; n += 1) {
    const invoice_date = n === 0 ? '2020-01-01' : '2026-03-01';
    await createInvoice(base.db, { customer_id, subscription_id: id, invoice_date });
  }
  const listed = await listInvoicesOf(base.db, id);
  expect(listed).toHaveLength(MAX_INVOICES);
  expect(listed.map(({ invoice_date }) => invoice_date)).not.toContain('2020-01-01');
  expect(listed[0]).toMatchObject({ total: 119, currency: 'eur', status: 'sent' });
});

test('the services of a subscription’s customer are offered by number', async () => {
  const { customer_id } = await getSubscription(base.db, ids.linked ?? 0);
  await createService(base.db, { customer_id, service_number: 'S001' });
  const offered = await listServiceChoices(base.db, customer_id);
  expect(offered.map(({ service_number }) => service_number)).toEqual(['S001', 'S777']);
  expect(offered.length).toBeLessThanOrEqual(MAX_SERVICES);
});
