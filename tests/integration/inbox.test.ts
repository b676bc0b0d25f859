import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { payments, stripeEvents, subscriptions } from '@/db/schema';
import { listAuditOf } from '@/lib/audit/audit-log';
import {
  type EventFilters,
  eventFilters,
  findRecordsOf,
  getEvent,
  isReplayable,
  listEvents,
  listEventsOf,
  MAX_RELATED,
  replayForStaff,
} from '@/lib/sync/inbox/events';
import { nameChanges } from '@/lib/sync/reconcile/changes';
import { linkStripeCustomer } from '@/lib/sync/staff/link-stripe-customer';
import { readRow, readRows } from '../support/database';
import {
  createCustomer,
  createInvoice,
  createPayment,
  createService,
  createSold,
  createStoredEvent,
  createStripeCustomer,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';
import * as act from '../support/stripe-actions';
import { NOON } from '../support/stripe-events';
import { renderEvent } from '../support/stripe-versions';
import { DAY, GRACE, typed, useSync } from '../support/sync';
import { walkPages } from '../support/walk-pages';

const sync = useSync({ env: { EVENT_RETENTION_DAYS: '40' } });
const bodiless = () => sync.db.$count(stripeEvents, eq(stripeEvents.payload, ''));

describe('the list of events', () => {
  const page = { limit: 25, timeZone: 'UTC' };
  const list = (filters: EventFilters, more = {}) => listEvents(sync.db, filters, { ...page, ...more });
  const idsOf = async (filters: EventFilters, more = {}) =>
    (await list(filters, more)).data.map(({ id }) => id);
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
      await createStoredEvent(sync.db, { ...event, warnings: [...(event.warnings ?? [])] });
    }
  });

  const berlin = { timeZone: 'Europe/Berlin' };
  test.each<[EventFilters, string[], object?]>([
    [{}, ['evt_f', 'evt_e', 'evt_d', 'evt_c', 'evt_b', 'evt_a']],
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
    [{ to: '2026-03-02' }, ['evt_a'], berlin],
    [{ from: '2026-03-03', to: '2026-03-03' }, ['evt_e', 'evt_d', 'evt_c', 'evt_b'], berlin],
  ])('the event list filtered by %o contains %j, newest first', async (filters, ids, more) => {
    expect(await idsOf(filters, more)).toEqual(ids);
    expect((await list(filters, { ...more, limit: 2 })).count).toBe(ids.length);
  });

  test('the event list can be paged forwards and backwards', async () => {
    const rows = await walkPages((start) => list({}, { ...start, limit: 2 }));
    expect(rows.map(({ id }) => id)).toEqual(await idsOf({}));
  });

  test('an invalid cursor returns the first page of events', async () => {
    const cursors = ['', 'x', '1.', '99999999999999.evt', '1.\u0000', '1740000000'];
    for (const after of cursors)
      expect([after, await idsOf({}, { after })]).toEqual([after, await idsOf({})]);
  });

  test('an invalid filter of the event list is refused', () => {
    const dates = [{ from: '2026-02-30' }, { from: '2026-03-02', to: '2026-03-01' }];
    const wrong = [{ type: 'nonsense' }, { outcome: 'duplicate' }, { id: 'in_\u0000' }, ...dates];
    expect(wrong.filter((filters) => eventFilters.safeParse(filters).success)).toEqual([]);
  });

  test('reading an event returns its payload, and fails for an unknown id', async () => {
    const event = { error_code: '23505', payload: expect.any(String) };
    expect(await getEvent(sync.db, 'evt_c')).toMatchObject(event);
    await expect(getEvent(sync.db, 'evt_nowhere')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('the newest other events of a Stripe object are listed, up to a limit', async () => {
    for (let n = 0; n <= MAX_RELATED + 1; n += 1) {
      const stripe_created = new Date(at('05T10:00:00').getTime() + n * 1000);
      await createStoredEvent(sync.db, { id: `evt_same_${n}`, object_id: 'in_same', stripe_created });
    }
    const others = await listEventsOf(sync.db, 'in_same', `evt_same_${MAX_RELATED + 1}`);
    expect(others).toHaveLength(MAX_RELATED);
    expect(others[0]?.id).toBe(`evt_same_${MAX_RELATED}`);
  });
});

test('the records of an event are its customer, subscription, invoice and payment', async () => {
  const customer = await createCustomer(sync.db);
  const of = { customer_id: customer.id };
  await createStripeCustomer(sync.db, { ...of, stripe_customer_id: 'cus_rec', linked_by: 'email' });
  const subscription = await createSubscription(sync.db, { ...of, stripe_subscription_id: 'sub_rec' });
  const ofInvoice = { stripe_invoice_id: 'in_rec', subscription_id: subscription.id };
  const { id, number } = await createInvoice(sync.db, { ...of, ...ofInvoice });
  const payment = await createPayment(sync.db, { ...of, invoice_id: id, payment_reference: 'in_rec' });
  const none = { customer: null, subscription_id: null, invoice: null, payment_id: null };
  const ours = { customer: expect.objectContaining({ id: customer.id }), subscription_id: subscription.id };
  const find = (object_id: string | null, stripe_customer_id: string | null) =>
    findRecordsOf(sync.db, { object_id, stripe_customer_id });
  expect(await find('sub_rec', 'cus_rec')).toEqual({ ...none, ...ours });
  const invoice = expect.objectContaining({ id, number });
  expect(await find('in_rec', 'cus_rec')).toEqual({ ...ours, invoice, payment_id: payment.id });
  expect(await find(null, null)).toEqual(none);
  expect(await find('in_nowhere', 'cus_nowhere')).toEqual(none);
});

test('a change made by an event is listed with the id of the changed record, and its name or number if it has one', async () => {
  const customer = await createCustomer(sync.db, { company: 'Acme GmbH' });
  const service = await createService(sync.db, { customer_id: customer.id });
  const { id, subscription_id } = await createSubscriptionItem(sync.db);
  const payment = await createPayment(sync.db);
  const expected = [
    ['customer', customer.id, { name: 'Acme GmbH' }],
    ['customer_service', service.id, { name: service.service_number }],
    ['subscription', subscription_id, {}],
    ['subscription_item', id, { subscription_id }],
    ['invoice', payment.invoice_id, { name: expect.stringMatching(/^R/) }],
    ['payment', payment.id, { name: payment.payment_reference }],
    ['payment', 999_999, null],
    ['invoice', null, null],
  ] as const;
  const changes = expected.map(([entity, entity_id]) => ({ entity, entity_id }));
  const records = expected.map(([, id, more]) => more && { id, ...more });
  expect((await nameChanges(sync.db, changes)).map(({ record }) => record)).toEqual(records);
});

describe('replays by staff', () => {
  const replay = (id: string) => replayForStaff(sync.deps(), GRACE, id);
  const auditOf = (id: string) => listAuditOf(sync.db, 'stripe_event', 'id', id);
  const paymentsOf = (invoiceId: string) =>
    readRows(sync.db, payments, eq(payments.payment_reference, invoiceId));
  const created = expect.objectContaining({ entity: 'payment', field: 'created' });

  /** Creates an invoice that Stripe collected, and stores the event of its payment as failed. */
  async function failedPayment(amount = 1000) {
    const { object: customer } = await sync.happen((world) => act.createCustomer(world));
    const { object } = await sync.happen((world) =>
      act.createInvoice(world, { customer: customer.id, lines: [{ amount }] }),
    );
    act.finalizeInvoice(sync.world, object.id);
    const { events } = act.payInvoice(sync.world, object.id);
    const { id, type, ...paid } = typed(events, 'invoice.payment_succeeded');
    const payload = JSON.stringify(renderEvent({ id, type, ...paid }, '2026-10-28.endive'));
    const about = { object_id: object.id, stripe_customer_id: customer.id };
    const failure = { outcome: 'failed', error_code: '40P01' } as const;
    const event = await createStoredEvent(sync.db, { id, type, payload, ...about, ...failure });
    return { event, invoiceId: object.id };
  }

  test('replaying a failed event applies its changes, replaying it again changes no payment, and both are logged', async () => {
    const { event, invoiceId } = await failedPayment();
    expect(await replay(event.id)).toBe('processed');
    expect(await paymentsOf(invoiceId)).toMatchObject([{ amount: '10.000' }]);
    const applied = { outcome: 'processed', error_code: null, attempts: 2 };
    const changes = expect.arrayContaining([created]);
    expect(await sync.eventOf(event.id)).toMatchObject({ ...applied, changes });
    const before = { id: event.id, outcome: 'failed', attempts: 1 };
    const after = { id: event.id, outcome: 'processed', attempts: 2 };
    const entry = { action: 'stripe_event.replay', actor_name: GRACE.name, before, after };
    expect(await auditOf(event.id)).toMatchObject([entry]);

    const recorded = await paymentsOf(invoiceId);
    await replay(event.id);
    expect(await paymentsOf(invoiceId)).toEqual(recorded);
    expect(await auditOf(event.id)).toHaveLength(2);
    expect((await sync.eventOf(event.id))?.changes).toContainEqual(created);
  });

  test('an applied event keeps its warnings when a replay is stale', async () => {
    const unknown = 'frozen' as 'active'; // A later version of Stripe's API could have such a status.
    const { subscription } = await sync.subscribe(await createCustomer(sync.db), [{}]);
    const update = (status: 'active' | 'past_due') =>
      sync.happen((world) => act.updateSubscription(world, subscription.id, { status }));
    const id = (await update(unknown)).events[0]?.id ?? '';
    const warnings = (await sync.eventOf(id))?.warnings;
    expect(warnings).toHaveLength(1);
    await update('past_due');
    expect(await replay(id)).toBe('stale');
    expect(await sync.eventOf(id)).toMatchObject({ outcome: 'processed', warnings, attempts: 2 });
  });

  test('three concurrent replays of one event create one payment', async () => {
    const { event, invoiceId } = await failedPayment();
    await Promise.all([replay(event.id), replay(event.id), replay(event.id)]);
    expect(await paymentsOf(invoiceId)).toHaveLength(1);
    expect((await sync.eventOf(event.id))?.attempts).toBe(4);
  });

  test('an event whose replay fails keeps the outcome failed', async () => {
    const { event, invoiceId } = await failedPayment(9_000_000_000_000_000);
    const error_code = 'UnstorableError';
    expect(await replay(event.id)).toBe('failed');
    expect(await sync.eventOf(event.id)).toMatchObject({ outcome: 'failed', error_code, attempts: 2 });
    expect(await sync.invoiceOf(invoiceId)).toBeUndefined();
    expect(await auditOf(event.id)).toMatchObject([{ after: { result: 'failed', error_code } }]);
  });

  test('an event that is unknown or has no body is not replayed', async () => {
    await expect(replay('evt_nowhere')).rejects.toMatchObject({ code: 'not_found' });
    expect(await auditOf('evt_nowhere')).toEqual([]);
    await createStoredEvent(sync.db, { id: 'evt_bare', payload: '' });
    expect(await replay('evt_bare')).toBe('dropped');
    expect(await sync.eventOf('evt_bare')).toMatchObject({ outcome: 'processed', attempts: 1 });
  });

  test('an event is replayable if it has a body, and its type is handled or it has failed', () => {
    const outcomes = ['processed', 'stale', 'unmatched', 'failed', 'ignored'] as const;
    const replayable = (type: string, payload = '{}') =>
      outcomes.filter((outcome) => isReplayable({ type, outcome, payload }));
    expect(replayable('invoice.paid')).toEqual(outcomes);
    expect(replayable('customer.created')).toEqual(['failed']);
    expect(replayable('invoice.paid', '')).toEqual([]);
  });
});

describe('redeliveries with another body', () => {
  const bodyOf = (event: object, invoice: object) =>
    JSON.stringify({
      ...{ object: 'event', type: 'invoice.finalized', livemode: false, api_version: '2026-10-28.endive' },
      ...{ created: NOON, ...event },
      data: { object: { object: 'invoice', status: 'open', currency: 'eur', total: 11_900, ...invoice } },
    });
  const GOOD = { id: 'in_body', customer: 'cus_body', amount_due: 11_900, amount_remaining: 11_900 };
  const fails = (body: string) => expect(sync.takeBody(body)).rejects.toThrow('not a three-letter code');

  test('an applied delivery replaces the body of a failed event, and a failed delivery keeps that of an applied event', async () => {
    const bad = bodyOf(
      { id: 'evt_body', created: NOON - 60, api_version: '2020-08-27' },
      { ...GOOD, id: 'in_bad', customer: 'cus_bad', currency: 'euro' },
    );
    await fails(bad);
    expect(await sync.eventOf('evt_body')).toMatchObject({ outcome: 'failed', payload: bad });
    const good = bodyOf({ id: 'evt_body' }, GOOD);
    expect(await sync.takeBody(good)).toBe('processed');
    expect(await sync.eventOf('evt_body')).toMatchObject({
      ...{ outcome: 'processed', attempts: 2, payload: good, api_version: '2026-10-28.endive' },
      ...{ object_id: 'in_body', stripe_customer_id: 'cus_body', stripe_created: new Date(NOON * 1000) },
    });
    expect(await replayForStaff(sync.deps(), GRACE, 'evt_body')).toBe('processed');
    await fails(bad);
    expect(await sync.eventOf('evt_body')).toMatchObject({ outcome: 'processed', payload: good });
  });

  test('the inbox keeps the body of the latest failed delivery of an event', async () => {
    const first = bodyOf({ id: 'evt_twice' }, { ...GOOD, id: 'in_first', currency: 'euro' });
    const second = bodyOf({ id: 'evt_twice' }, { ...GOOD, id: 'in_second', currency: 'eurocent' });
    await fails(first);
    await fails(second);
    const stored = { payload: second, object_id: 'in_second', attempts: 2 };
    expect(await sync.eventOf('evt_twice')).toMatchObject(stored);
    expect((await sync.eventOf('evt_twice'))?.failure_reason).toContain('eurocent');
  });

  test('events that are delivered at the same time are stored with their own bodies', async () => {
    const names = ['a', 'b', 'c'];
    const named = (name: string, more = {}) =>
      bodyOf({ id: `evt_again_${name}` }, { ...GOOD, id: `in_${name}`, ...more });
    for (const name of ['a', 'c']) await fails(named(name, { currency: 'euro' }));
    const bodies = names.map((name) => named(name));
    const outcomes = await Promise.all(bodies.map((body) => sync.takeBody(body)));
    expect(outcomes).toEqual(['processed', 'processed', 'processed']);
    const stored = await Promise.all(names.map((name) => sync.eventOf(`evt_again_${name}`)));
    expect(stored.map((event) => event?.payload)).toEqual(bodies);
  });
});

describe('bodies of old events', () => {
  beforeAll(() => sync.db.delete(stripeEvents));

  test('bodies of old events are dropped unless the events failed or are unmatched', async () => {
    const daysAgo = (days: number) => new Date(sync.now().getTime() - days * DAY * 1000);
    const old = { stripe_created: daysAgo(41) };
    for (const outcome of ['processed', 'stale', 'ignored', 'failed', 'unmatched'] as const) {
      const failure_reason = outcome === 'failed' ? 'The currency is none.' : null;
      await createStoredEvent(sync.db, { id: `evt_${outcome}`, outcome, failure_reason, ...old });
    }
    await createStoredEvent(sync.db, { id: 'evt_recent', stripe_created: daysAgo(39) });
    expect(await sync.run({ withKey: false })).toMatchObject({ status: 'completed' });
    const found = await sync.db.select().from(stripeEvents);
    const kept = found.filter(({ payload }) => payload !== '').map(({ id }) => id);
    expect(kept.sort()).toEqual(['evt_failed', 'evt_recent', 'evt_unmatched']);
  });

  test('one reconciliation run drops the bodies of more than a thousand old events', async () => {
    const before = await bodiless();
    const stripe_created = new Date(sync.now().getTime() - 100 * DAY * 1000);
    const sent = { type: 'charge.succeeded', livemode: false, stripe_created, payload: '{}' };
    const ignored = { ...sent, outcome: 'ignored' as const };
    const made = Array.from({ length: 1203 }, (_, i) => ({ ...ignored, id: `evt_many_${i}` }));
    await sync.db.insert(stripeEvents).values(made);
    await sync.run({ withKey: false });
    expect(await bodiless()).toBe(before + 1203);
  });

  test('a checkout whose event body was dropped is applied when its customer is linked', async () => {
    const ours = await createCustomer(sync.db);
    const { sold } = await createSold(sync.db, { customer_id: ours.id });
    const session = act.createCheckoutSession(sync.world, {
      customerEmail: 'payer@example.com',
      items: [{ unitAmount: 990 }],
      clientReferenceId: String(sold.id),
    });
    const { events } = act.completeCheckout(sync.world, session.id);
    const completed = typed(events, 'checkout.session.completed');
    await sync.take(completed);
    // Without the reference of its subscription, only the checkout that the inbox keeps names the sold subscription.
    await sync.db.update(subscriptions).set({ checkout_reference: null });
    sync.later(41 * DAY);
    await sync.run({ withKey: false });
    const stripe_subscription_id = expect.stringMatching(/^sub_/);
    const checkout = { reference: sold.id, paid: true, stripe_subscription_id };
    expect(await sync.eventOf(completed.id)).toMatchObject({ payload: '', checkout });
    await sync.take(typed(events, 'customer.subscription.created'));

    const customer = String((await sync.eventOf(completed.id))?.stripe_customer_id);
    const from = (await sync.linkOf(customer))?.customer_id ?? 0;
    await linkStripeCustomer(sync.deps(), GRACE, customer, { from, to: ours.id });
    expect(await readRow(sync.db, subscriptions, sold.id)).toMatchObject({ stripe_subscription_id });
  });
});
