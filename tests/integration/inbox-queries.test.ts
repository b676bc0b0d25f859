import { beforeAll, describe, expect, test } from 'vitest';
import { stripeCustomers } from '@/db/schema';
import { type EventFilters, eventFilters } from '@/lib/sync/inbox/event-filters';
import { findRecordsOf } from '@/lib/sync/inbox/find-records';
import { getEvent, listEvents, listEventsOf, MAX_RELATED } from '@/lib/sync/inbox/inbox-queries';
import { nameChanges } from '@/lib/sync/reconcile/name-changes';
import { useDatabase } from '../support/database';
import {
  createCustomer,
  createInvoice,
  createPayment,
  createService,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';
import { createStoredEvent } from '../support/stored-events';

const base = useDatabase();
const page = { limit: 25, timeZone: 'UTC' };
const idsOf = async (filters: EventFilters, more = {}) =>
  (await listEvents(base.db, filters, { ...page, ...more })).data.map(({ id }) => id);
const at = (time: string) => new Date(`2026-03-${time}Z`);

beforeAll(async () => {
  for (const event of [
    { id: 'evt_a', stripe_created: at('01T10:00:00'), stripe_customer_id: 'cus_1' },
    { id: 'evt_b', stripe_created: at('02T23:30:00'), object_id: 'sub_1', outcome: 'stale' },
    { id: 'evt_c', stripe_created: at('03T10:00:00'), outcome: 'failed', error_code: '23505' },
    { id: 'evt_d', stripe_created: at('03T10:00:00'), outcome: 'unmatched' },
    { id: 'evt_e', stripe_created: at('03T10:00:00'), type: 'customer.created', outcome: 'ignored' },
    { id: 'evt_f', stripe_created: at('04T10:00:00'), outcome: 'ignored', warnings: ['a live event'] },
  ] as const) {
    await createStoredEvent(base.db, {
      type: 'invoice.paid',
      ...event,
      warnings: [...(event.warnings ?? [])],
    });
  }
});

describe('the list', () => {
  test('is newest first, by id within a second', async () => {
    expect(await idsOf({})).toEqual(['evt_f', 'evt_e', 'evt_d', 'evt_c', 'evt_b', 'evt_a']);
  });

  test.each<[EventFilters, string[]]>([
    [{ type: 'invoice.paid', outcome: 'failed' }, ['evt_c']],
    [{ type: 'other' }, ['evt_e']],
    [{ type: 'customer.subscription.deleted' }, []],
    [{ outcome: 'ignored' }, ['evt_f', 'evt_e']],
    [{ outcome: 'other_mode' }, ['evt_f']],
    [{ id: 'evt_b' }, ['evt_b']],
    [{ id: 'sub_1' }, ['evt_b']],
    [{ id: 'sub' }, []],
    [{ id: 'cus_1' }, ['evt_a']],
    [{ from: '2026-03-03' }, ['evt_f', 'evt_e', 'evt_d', 'evt_c']],
    [{ from: '2026-03-02', to: '2026-03-02' }, ['evt_b']],
  ])('%o', async (filters, ids) => {
    expect(await idsOf(filters)).toEqual(ids);
  });

  test('takes days as those of the time zone', async () => {
    const timeZone = 'Europe/Berlin';
    expect(await idsOf({ to: '2026-03-02' }, { timeZone })).toEqual(['evt_a']);
    expect(await idsOf({ from: '2026-03-03', to: '2026-03-03' }, { timeZone })).toContain('evt_b');
  });

  test('is leafed through in both directions without a gap, also within a second', async () => {
    const read = (start: { after?: string; before?: string }) =>
      listEvents(base.db, {}, { ...page, ...start, limit: 2 });
    const first = await read({});
    expect(first.data.map(({ id }) => id)).toEqual(['evt_f', 'evt_e']);
    expect(first.previous).toBeNull();
    const second = await read({ after: first.next ?? '' });
    expect(second.data.map(({ id }) => id)).toEqual(['evt_d', 'evt_c']);
    const third = await read({ after: second.next ?? '' });
    expect(third.data.map(({ id }) => id)).toEqual(['evt_b', 'evt_a']);
    expect(third.next).toBeNull();
    const back = await read({ before: third.previous ?? '' });
    expect(back).toEqual(second);
    expect((await read({ before: back.previous ?? '' })).data).toEqual(first.data);
  });

  test.each(['', 'x', '1.', '99999999999999.evt', '1.\u0000', '1740000000'])(
    'begins at its start for the cursor %o',
    async (after) => {
      expect(await idsOf({}, { after })).toHaveLength(6);
    },
  );

  test('tells how many match on all pages', async () => {
    const count = async (filters: EventFilters, more = {}) =>
      (await listEvents(base.db, filters, { ...page, ...more })).count;
    expect(await count({})).toBe(6);
    expect(await count({}, { limit: 2 })).toBe(6);
    expect(await count({}, { limit: 2, after: 'x' })).toBe(6);
    expect(await count({ from: '2026-03-03', to: '2026-03-03' }, { limit: 2 })).toBe(3);
    expect(await count({ id: 'sub' })).toBe(0);
  });

  test('filters are checked', () => {
    for (const wrong of [
      { type: 'nonsense' },
      { outcome: 'duplicate' },
      { id: 'in_\u0000' },
      { from: '2026-02-30' },
      { from: '2026-03-02', to: '2026-03-01' },
    ]) {
      expect(eventFilters.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false);
    }
  });
});

describe('one event', () => {
  test('comes with its payload', async () => {
    expect(await getEvent(base.db, 'evt_c')).toMatchObject({
      error_code: '23505',
      payload: expect.any(String),
    });
    await expect(getEvent(base.db, 'evt_nowhere')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('has others of the same object, the latest first and no more than a page', async () => {
    for (let n = 0; n <= MAX_RELATED + 1; n += 1) {
      await createStoredEvent(base.db, {
        id: `evt_same_${n}`,
        object_id: 'in_same',
        stripe_created: new Date(at('05T10:00:00').getTime() + n * 1000),
      });
    }
    const others = await listEventsOf(base.db, 'in_same', `evt_same_${MAX_RELATED + 1}`);
    expect(others).toHaveLength(MAX_RELATED);
    expect(others[0]?.id).toBe(`evt_same_${MAX_RELATED}`);
  });

  test('leads to our customer, subscription, invoice and payment', async () => {
    const customer = await createCustomer(base.db);
    await base.db
      .insert(stripeCustomers)
      .values({ stripe_customer_id: 'cus_rec', customer_id: customer.id, linked_by: 'email' });
    const subscription = await createSubscription(base.db, {
      customer_id: customer.id,
      stripe_subscription_id: 'sub_rec',
    });
    const invoice = await createInvoice(base.db, {
      customer_id: customer.id,
      subscription_id: subscription.id,
      stripe_invoice_id: 'in_rec',
    });
    const payment = await createPayment(base.db, {
      customer_id: customer.id,
      invoice_id: invoice.id,
      payment_reference: 'in_rec',
    });
    const none = { customer: null, subscription_id: null, invoice: null, payment_id: null };
    const ours = { customer: expect.objectContaining({ id: customer.id }), subscription_id: subscription.id };
    const find = (object_id: string | null, stripe_customer_id: string | null) =>
      findRecordsOf(base.db, { object_id, stripe_customer_id });
    expect(await find('sub_rec', 'cus_rec')).toEqual({ ...none, ...ours });
    expect(await find('in_rec', 'cus_rec')).toEqual({
      ...ours,
      invoice: expect.objectContaining({ id: invoice.id, number: invoice.number }),
      payment_id: payment.id,
    });
    expect(await find(null, null)).toEqual(none);
    expect(await find('in_nowhere', 'cus_nowhere')).toEqual(none);
  });
});

test('records are called what staff call them, as far as they are still there', async () => {
  const customer = await createCustomer(base.db, { company: 'Acme GmbH' });
  const service = await createService(base.db, { customer_id: customer.id });
  const item = await createSubscriptionItem(base.db);
  const payment = await createPayment(base.db);
  const subjects = [
    { entity: 'customer', entity_id: customer.id },
    { entity: 'customer_service', entity_id: service.id },
    { entity: 'subscription', entity_id: item.subscription_id },
    { entity: 'subscription_item', entity_id: item.id },
    { entity: 'invoice', entity_id: payment.invoice_id },
    { entity: 'payment', entity_id: payment.id },
    { entity: 'payment', entity_id: 999_999 },
    { entity: 'invoice', entity_id: null },
  ] as const;
  const named = await nameChanges(base.db, [...subjects]);
  expect(named.map(({ record }) => record)).toEqual([
    { id: customer.id, name: 'Acme GmbH' },
    { id: service.id, name: service.service_number },
    { id: item.subscription_id },
    { id: item.id, subscription_id: item.subscription_id },
    { id: payment.invoice_id, name: expect.stringMatching(/^R/) },
    { id: payment.id, name: payment.payment_reference },
    null,
    null,
  ]);
});
