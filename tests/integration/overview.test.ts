import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { payments } from '@/db/schema';
import { parseEnv } from '@/lib/env';
import { countDeliveries, countSubscriptions } from '@/lib/overview/counts';
import { listTasks } from '@/lib/overview/list-tasks';
import { getMoneyReceived } from '@/lib/overview/money';
import { useDatabase } from '../support/database';
import {
  createCustomer,
  createPayment,
  createService,
  createStoredEvent,
  createStripeCustomer,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';

const base = useDatabase();
const NOW = new Date('2026-03-15T12:00:00Z');

/** Returns the code and the message of each task, such as `inbox_failures: 1 Stripe event failed.` */
const tasks = async () =>
  (await listTasks(base.db, NOW, parseEnv({}))).map(({ code, message }) => `${code}: ${message}`);

test('the tasks on the overview count their records and are sorted by severity', async () => {
  const { customer_id, id } = await createService(base.db);
  const live = await createSubscription(base.db, { customer_id });
  await createSubscriptionItem(base.db, { subscription_id: live.id, customer_service_id: id });
  const over = await createSubscription(base.db, { status: 'cancelled' });
  await createSubscriptionItem(base.db, { subscription_id: over.id });
  await createStripeCustomer(base.db, { linked_by: 'number' });
  const stripe_created = new Date(0);
  await createStoredEvent(base.db, { stripe_created });
  expect(await tasks()).toEqual([]);

  const make = async () => {
    await createStoredEvent(base.db, { outcome: 'unmatched', stripe_created });
    await createSubscriptionItem(base.db);
    await createStripeCustomer(base.db, { linked_by: 'created' });
  };
  await createStoredEvent(base.db, { outcome: 'failed', error_code: '40001', stripe_created });
  await make();
  expect(await tasks()).toEqual([
    'inbox_failures: 1 Stripe event failed.',
    'events_unmatched: 1 event has no matching customer.',
    'items_unlinked: 1 subscription item is not linked to a service.',
    'customers_created: 1 customer was created from Stripe; no match found.',
  ]);
  await make();
  expect(await tasks()).toEqual([
    'inbox_failures: 1 Stripe event failed.',
    'events_unmatched: 2 events have no matching customer.',
    'items_unlinked: 2 subscription items are not linked to a service.',
    'customers_created: 2 customers were created from Stripe; no match found.',
  ]);
});

test('a Stripe customer that shares an e-mail address with a customer counts only as a link to confirm', async () => {
  const before = await tasks();
  await createCustomer(base.db, { email: 'same@example.com' });
  const { id: customer_id } = await createCustomer(base.db, { email: 'Same@example.com' });
  await createStripeCustomer(base.db, { customer_id, linked_by: 'created' });
  const share = '1 Stripe customer shares an e-mail address with a customer; confirm the link.';
  expect((await tasks()).sort()).toEqual([...before, `links_proposed: ${share}`].sort());

  // A link by e-mail is proposed as well, but its customer was not created from Stripe.
  const { id: linked } = await createCustomer(base.db, { email: 'linked@example.com' });
  await createStripeCustomer(base.db, { customer_id: linked, linked_by: 'email' });
  const both = '2 Stripe customers share an e-mail address with a customer; confirm the link.';
  expect((await tasks()).sort()).toEqual([...before, `links_proposed: ${both}`].sort());
});

test('the overview sums the money received by currency, and by day in the chosen or most frequent currency', async () => {
  const receive = (days: 30 | 90, currency?: string) =>
    getMoneyReceived(base.db, { today: '2026-03-15', timeZone: 'UTC' }, days, currency);
  const none = await receive(30);
  expect(none).toMatchObject({ sums: [], currency: null, days: { length: 30 } });
  expect(none.days.every(({ total, count }) => total === 0 && count === 0)).toBe(true);
  for (const [amount, day, more] of [
    ['0.1', '2026-03-15', {}],
    ['0.2', '2026-03-15', {}],
    ['7', '2026-02-14', {}],
    ['50', '2026-02-13', {}],
    ['50', '2026-03-16', {}],
    ['50', '2026-03-14', { status: 'pending' }],
    ['1000', '2026-03-01', { currency: 'jpy' }],
  ] as const)
    await createPayment(base.db, { amount, payment_date: day, ...more });
  // A currency whose last payment was deleted no longer has a sum.
  const { id } = await createPayment(base.db, { currency: 'usd', payment_date: '2026-03-15' });
  await base.db.delete(payments).where(eq(payments.id, id));
  const { sums, currency, days } = await receive(30);
  expect(sums).toEqual([
    { currency: 'eur', count: 3, total: 7.3, returned: 0 },
    { currency: 'jpy', count: 1, total: 1000, returned: 0 },
  ]);
  expect(currency).toBe('eur');
  expect([days[0]?.date, days.at(-1)?.date]).toEqual(['2026-02-14', '2026-03-15']);
  expect(days.filter(({ count }) => count > 0)).toEqual([
    { date: '2026-02-14', count: 1, total: 7, returned: 0 },
    { date: '2026-03-15', count: 2, total: 0.3, returned: 0 },
  ]);
  const yen = await receive(30, 'jpy');
  expect([yen.currency, yen.days.find(({ count }) => count > 0)?.date]).toEqual(['jpy', '2026-03-01']);
  expect((await receive(90, 'chf')).currency).toBe('eur');
});

test('the overview counts subscriptions by status, and the Stripe events from a given day on by outcome', async () => {
  await base.db.execute('truncate subscriptions cascade');
  for (const status of ['cancelled', 'active', 'active'] as const)
    await createSubscription(base.db, { status });
  expect(await countSubscriptions(base.db)).toEqual([
    { state: 'active', count: 2 },
    { state: 'cancelled', count: 1 },
  ]);
  for (const [outcome, at] of [
    ['failed', '2026-03-15T11:00:00Z'],
    ['processed', '2026-03-08T23:00:00Z'],
    ['processed', '2026-03-08T22:59:59Z'],
  ] as const) {
    await createStoredEvent(base.db, { outcome, stripe_created: new Date(at) });
  }
  expect(await countDeliveries(base.db, '2026-03-09', 'Europe/Berlin')).toEqual([
    { state: 'processed', count: 1 },
    { state: 'failed', count: 1 },
  ]);
});
