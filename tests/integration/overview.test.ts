import { expect, test } from 'vitest';
import { parseEnv } from '@/lib/env';
import { getOverview } from '@/lib/overview/get-overview';
import { useDatabase } from '../support/database';
import {
  createPayment,
  createService,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';
import { createStoredEvent } from '../support/stored-events';

const base = useDatabase();
const NOW = new Date('2026-03-15T12:00:00Z');
const overview = () => getOverview(base.db, NOW, parseEnv({}));

test('while all is well there is nothing to do', async () => {
  const { customer_id, id } = await createService(base.db);
  const live = await createSubscription(base.db, { customer_id });
  await createSubscriptionItem(base.db, { subscription_id: live.id, customer_service_id: id });
  const over = await createSubscription(base.db, { status: 'cancelled' });
  await createSubscriptionItem(base.db, { subscription_id: over.id });
  await createStoredEvent(base.db);
  await createPayment(base.db);
  expect(await overview()).toMatchObject({
    tasks: [],
    failed_events: 0,
    last_run: null,
    unpaid_invoices: [{ currency: 'eur', count: 1, total: 119 }],
    recent_payments: [{ currency: 'eur', count: 1, total: 10 }],
  });
});

test('what needs a person is counted in words, the gravest first', async () => {
  await createStoredEvent(base.db, { outcome: 'failed', error_code: '40001' });
  await createStoredEvent(base.db, { outcome: 'unmatched' });
  await createSubscriptionItem(base.db);
  expect((await overview()).tasks).toEqual([
    { code: 'inbox_failures', message: '1 event of Stripe’s could not be processed.' },
    { code: 'events_unmatched', message: '1 event names no customer.' },
    { code: 'items_unlinked', message: '1 subscription item is not linked to a service.' },
  ]);
  await createStoredEvent(base.db, { outcome: 'unmatched' });
  await createSubscriptionItem(base.db);
  expect((await overview()).tasks.map(({ message }) => message)).toEqual([
    '1 event of Stripe’s could not be processed.',
    '2 events name no customer.',
    '2 subscription items are not linked to a service.',
  ]);
});
