import { describe, expect, test } from 'vitest';
import { parseEnv } from '@/lib/env';
import { listTasks } from '@/lib/overview/list-tasks';
import { getMoneyReceived } from '@/lib/overview/money-received';
import { sumOpenInvoices } from '@/lib/overview/open-invoices';
import { countDeliveries, countSubscriptions } from '@/lib/overview/sync-counts';
import { useDatabase } from '../support/database';
import {
  createInvoice,
  createPayment,
  createService,
  createStripeCustomer,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';
import { createStoredEvent } from '../support/stored-events';

const NOW = new Date('2026-03-15T12:00:00Z');
const UTC = { today: '2026-03-15', timeZone: 'UTC' };

describe('money received', () => {
  const base = useDatabase();

  test('without a payment the days are there all the same', async () => {
    const received = await getMoneyReceived(base.db, UTC, 30);
    expect(received).toMatchObject({ sums: [], currency: null });
    expect(received.days).toHaveLength(30);
    expect(received.days.every(({ total, count }) => total === 0 && count === 0)).toBe(true);
  });

  test('completed payments of the period are summed by day, in the currency of most', async () => {
    const pay = (amount: string, payment_date: string, more = {}) =>
      createPayment(base.db, { amount, payment_date, ...more });
    await pay('0.1', '2026-03-15');
    await pay('0.2', '2026-03-15');
    await pay('7', '2026-02-14');
    await pay('50', '2026-02-13');
    await pay('50', '2026-03-16');
    await pay('50', '2026-03-14', { status: 'pending' });
    await pay('1000', '2026-03-01', { currency: 'jpy' });
    const { sums, currency, days } = await getMoneyReceived(base.db, UTC, 30);
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
    const yen = await getMoneyReceived(base.db, UTC, 30, 'jpy');
    expect([yen.currency, yen.days.find(({ count }) => count > 0)?.date]).toEqual(['jpy', '2026-03-01']);
    expect((await getMoneyReceived(base.db, UTC, 90, 'chf')).currency).toBe('eur');
  });
});

describe('sums and counts', () => {
  const base = useDatabase();

  test('open invoices are summed by currency, the overdue ones once more', async () => {
    await createInvoice(base.db, { status: 'sent', amount_due: '10' });
    await createInvoice(base.db, { status: 'overdue', amount_due: '5.5' });
    await createInvoice(base.db, { status: 'paid', amount_due: '0' });
    await createInvoice(base.db, { status: 'sent', amount_due: '300', currency: 'jpy' });
    expect(await sumOpenInvoices(base.db)).toEqual({
      open: [
        { currency: 'eur', count: 2, total: 15.5 },
        { currency: 'jpy', count: 1, total: 300 },
      ],
      overdue: [{ currency: 'eur', count: 1, total: 5.5 }],
    });
  });

  test('subscriptions and deliveries are counted by state, in the order of their states', async () => {
    for (const status of ['cancelled', 'active', 'active'] as const)
      await createSubscription(base.db, { status });
    expect(await countSubscriptions(base.db)).toEqual([
      { state: 'active', count: 2 },
      { state: 'cancelled', count: 1 },
    ]);
    const at = (stripe_created: string) => ({ stripe_created: new Date(stripe_created) });
    await createStoredEvent(base.db, { outcome: 'failed', error_code: 'x', ...at('2026-03-15T11:00:00Z') });
    await createStoredEvent(base.db, { outcome: 'processed', ...at('2026-03-08T12:00:00Z') });
    await createStoredEvent(base.db, { outcome: 'processed', ...at('2026-03-08T11:59:59Z') });
    expect(await countDeliveries(base.db, NOW)).toEqual([
      { state: 'processed', count: 1 },
      { state: 'failed', count: 1 },
    ]);
  });
});

describe('what needs a person', () => {
  const base = useDatabase();
  const tasks = () => listTasks(base.db, NOW, parseEnv({}));

  test('while all is well there is nothing to do', async () => {
    const { customer_id, id } = await createService(base.db);
    const live = await createSubscription(base.db, { customer_id });
    await createSubscriptionItem(base.db, { subscription_id: live.id, customer_service_id: id });
    const over = await createSubscription(base.db, { status: 'cancelled' });
    await createSubscriptionItem(base.db, { subscription_id: over.id });
    await createStripeCustomer(base.db, { linked_by: 'number' });
    await createStoredEvent(base.db);
    await createPayment(base.db);
    expect(await tasks()).toEqual([]);
  });

  test('it is counted in words, the gravest first', async () => {
    const make = async () => {
      await createStoredEvent(base.db, { outcome: 'unmatched' });
      await createSubscriptionItem(base.db);
      await createStripeCustomer(base.db, { linked_by: 'created' });
    };
    await createStoredEvent(base.db, { outcome: 'failed', error_code: '40001' });
    await make();
    expect(await tasks()).toEqual([
      { code: 'inbox_failures', message: '1 Stripe event failed.' },
      { code: 'events_unmatched', message: '1 event has no matching customer.' },
      { code: 'items_unlinked', message: '1 subscription item is not linked to a service.' },
      {
        code: 'customers_created',
        message: '1 customer was created from Stripe; no match found.',
      },
    ]);
    await make();
    expect((await tasks()).map(({ message }) => message)).toEqual([
      '1 Stripe event failed.',
      '2 events have no matching customer.',
      '2 subscription items are not linked to a service.',
      '2 customers were created from Stripe; no match found.',
    ]);
  });
});
