import { beforeEach, describe, expect, test } from 'vitest';
import type { Subscription } from '@/lib/stripe-local/model';
import { replayEvent } from '@/lib/sync/inbox/handle-event';
import { orders } from '../support/orders';
import * as act from '../support/stripe-actions';
import {
  completed,
  created,
  type EventContent,
  failed,
  finalized,
  item,
  items,
  named,
  paid,
  succeeded,
  updated,
} from '../support/stripe-events';
import { typed, useSync } from '../support/sync';
import { customer, type Scene, service, sold, testRules } from '../support/sync-rules';

// Each test is the smallest history in which rare behaviour of Stripe once led to wrong rows.

const ADA = customer('C-1');
const SERVICES = [service('S-1', ADA), service('S-2', ADA)];

describe('several states within one second', () => {
  type Patch = Parameters<typeof act.updateSubscription>[2];
  const PERIODS = ['2030-01-10', '2030-02-10'].map((day) => Date.parse(`${day}T12:00:00Z`) / 1000);

  /**
   * Applies the patches to a new subscription within one second, once for each order in which their events can arrive.
   * Each time expects `count` items and the values of `row`.
   */
  const changed =
    (patchesOf: (items: Subscription['items']) => Patch[], row: object, count: number) =>
    async (scene: Scene) => {
      for (const order of orders([...patchesOf([]).keys()])) {
        const stripeCustomer = act.createCustomer(scene.world).object.id;
        const input = { customer: stripeCustomer, items: [{ unitAmount: 500 }] };
        const { id, items } = (await scene.deliverAction(act.createSubscription(scene.world, input))).object;
        const events = patchesOf(items).flatMap(
          (patch) => act.updateSubscription(scene.world, id, patch).events,
        );
        for (const at of order) await scene.deliver(events[at]);
        const found = await scene.rows();
        expect(found.subscriptions[id], String(order)).toMatchObject(row);
        const own = Object.values(found.items).filter(({ subscription }) => subscription === id);
        expect(own, String(order)).toHaveLength(count);
      }
    };

  testRules({
    'four updates of a subscription in one second end in the last state in any order': changed(
      (items) => [
        { cancelAtPeriodEnd: true },
        { status: 'past_due' },
        { status: 'active' },
        { items: [...items, { unitAmount: 700 }] },
      ],
      { status: 'active', cancel_at_period_end: true },
      2,
    ),
    'five updates of a subscription in one second end in the last state in any order': changed(
      () => [
        { currentPeriodEnd: PERIODS[0] ?? 0 },
        { status: 'past_due' },
        { status: 'active' },
        { status: 'past_due' },
        { currentPeriodEnd: PERIODS[1] ?? 0 },
      ],
      { status: 'past_due', next_billing_date: '2030-02-10' },
      1,
    ),
    'an event of an unhandled type does not change an invoice': {
      events: [
        finalized('in_1', {}, { at: 1 }),
        failed('in_1', { attempted: true }, { at: 1 }),
        { ...failed('in_1', { status: 'uncollectible' }, { at: 1 }), type: 'invoice.marked_uncollectible' },
      ],
      orders: 'all',
      rows: { invoices: { in_1: { status: 'overdue', uncollectible: false } } },
    },
    'an invoice whose payment failed is overdue even if its Stripe status is unknown': {
      events: [finalized('in_1'), failed('in_1', { status: 'disputed' })],
      rows: { invoices: { in_1: { status: 'overdue' } } },
    },
  });

  describe('rare behaviour on a database', () => {
    const sync = useSync();
    beforeEach(() => sync.later(10));

    test.each([[[0, 1]], [[1, 0]]])(
      'a subscription has its last state after events ignored for their Stripe mode are replayed in the order %s',
      async (order) => {
        const input = { customer: act.createCustomer(sync.world).object.id, items: [{ unitAmount: 500 }] };
        const { object, events } = act.createSubscription(sync.world, input);
        await sync.take(typed(events, 'customer.subscription.created'));
        sync.later(5);
        const live = { ...sync.deps(), mode: 'live' as const };
        const ids: string[] = [];
        sync.runtime.env.stripe.mode = 'live';
        for (const patch of [
          { cancelAtPeriodEnd: true },
          { cancelAtPeriodEnd: false, metadata: { a: 'b' } },
        ]) {
          const [reported] = act.updateSubscription(sync.world, object.id, patch).events;
          ids.push(reported?.id ?? '');
          expect(await sync.take(reported)).toBe('ignored');
        }
        sync.runtime.env.stripe.mode = null;
        expect(await replayEvent(live, ids[0] ?? '')).toBe('ignored');
        for (const at of order) expect(await replayEvent(sync.deps(), ids[at] ?? '')).toBe('processed');
        expect((await sync.subscriptionOf(object.id))?.cancel_at_period_end).toBe(false);
      },
    );
  });
});

describe('items that move to another subscription', () => {
  const naming = (service_number: string) => ({ metadata: { service_number } });
  const [STAYS, OTHER] = [item('si_2'), item('si_3')];
  const shows = (...all: ReturnType<typeof item>[]) => ({ ...named('C-1'), ...items(...all) });
  const from = created('sub_1', shows(item('si_1'), STAYS), { at: 0 });
  const to = created('sub_2', shows(OTHER), { at: 0 });
  const leaves = updated('sub_1', shows(STAYS), { at: 9 });
  const arrives = (metadata: Record<string, unknown> = {}): EventContent =>
    updated('sub_2', shows(OTHER, item('si_1', metadata)), { at: 9 });

  testRules(
    {
      'a moved subscription item belongs to its last subscription in every order of events': {
        events: [from, to, leaves, arrives()],
        orders: 'all',
        rows: { items: { si_1: { subscription: 'sub_2' } } },
      },
      'a moved subscription item keeps the service that staff linked': {
        events: [
          from,
          to,
          async (scene) => {
            const id = Number((await scene.rows()).items.si_1?.id);
            await scene.hands().linkItem(id, 'S-1');
          },
          arrives(naming('S-2')),
          leaves,
        ],
        rows: { items: { si_1: { subscription: 'sub_2', service: 'S-1', linked_by_staff: true } } },
      },
      'a next billing date moves from one service to another with its subscription item': {
        events: [
          from,
          to,
          updated('sub_1', shows(item('si_1', naming('S-1')), STAYS), { at: 5 }),
          async (scene) =>
            expect((await scene.rows()).services['S-1']).toMatchObject({ next_billing_date: '2026-04-14' }),
          arrives(naming('S-2')),
          leaves,
        ],
        rows: {
          services: { 'S-1': { next_billing_date: null }, 'S-2': { next_billing_date: '2026-04-14' } },
        },
      },
    },
    { given: [ADA, ...SERVICES] },
  );

  /** Creates two subscriptions of one Stripe customer with these numbers of items. Returns each with its event. */
  function subscribe({ world }: Scene, ...counts: [number, number]) {
    const stripeCustomer = act.createCustomer(world).object.id;
    const [one, other] = counts.map((count) => {
      const items = Array.from({ length: count }, () => ({ unitAmount: 500 }));
      const { object, events } = act.createSubscription(world, { customer: stripeCustomer, items });
      return { ...object, event: typed(events, 'customer.subscription.created') };
    });
    if (!one || !other) throw new Error('two were created');
    return [one, other] as const;
  }
  const setItems = ({ world }: Scene, { id }: Subscription, items: NonNullable<Patched['items']>) =>
    typed(act.updateSubscription(world, id, { items }).events, 'customer.subscription.updated');
  type Patched = Parameters<typeof act.updateSubscription>[2];
  const expectIn = async (scene: Scene, { id }: Subscription, ...moved: ({ id: string } | undefined)[]) => {
    const found = (await scene.rows()).items;
    for (const one of moved) expect(found[one?.id ?? '']).toMatchObject({ subscription: id });
  };

  testRules(
    {
      'a subscription item moved within one second stays moved when earlier events arrive late': async (
        scene,
      ) => {
        const [to, from] = subscribe(scene, 1, 2);
        const [moved, ...rest] = from.items;
        const leaves = setItems(scene, from, rest);
        const arrives = setItems(scene, to, [...to.items, { ...moved }]);
        for (const event of [to.event, arrives, from.event, leaves]) await scene.deliver(event);
        await expectIn(scene, to, moved);
      },
      'two items moved within one second to a subscription with eleven items stay there': async (scene) => {
        const [to, from] = subscribe(scene, 11, 3);
        for (const { event } of [to, from]) await scene.deliver(event);
        scene.later(5);
        const [first, second, third] = from.items;
        const leaves = [setItems(scene, from, [{ ...second }, { ...third }])];
        const gets = [setItems(scene, to, [...to.items, { ...first }])];
        leaves.push(setItems(scene, from, [{ ...third }]));
        gets.push(setItems(scene, to, [...to.items, { ...first }, { ...second }]));
        for (const event of [...gets, ...leaves]) await scene.deliver(event);
        await expectIn(scene, to, first, second);
      },
      'an item beyond the ten items that an event shows can move to another subscription': async (scene) => {
        const [from, to] = subscribe(scene, 12, 1);
        for (const { event } of [to, from]) await scene.deliver(event);
        scene.later(5);
        const moved = from.items.at(-1);
        setItems(scene, from, from.items.slice(0, -1));
        const arrives = setItems(scene, to, [...to.items, { ...moved }]);
        scene.later(5);
        const { events } = act.updateSubscription(scene.world, from.id, { metadata: { plan: 'other' } });
        scene.hasKey = false;
        for (const event of [...events, arrives]) await scene.deliver(event);
        await expectIn(scene, to, moved);
      },
    },
    { withKey: true },
  );
});

describe('rows that move with their customer', () => {
  const [subscription, ...rest] = sold(ADA, SERVICES[0] as (typeof SERVICES)[0]);
  const given = [ADA, ...SERVICES, ...(subscription ? [subscription] : []), ...rest];
  const movesAlong = (first: Record<string, unknown>) => ({
    events: [succeeded('in_1', first), succeeded('in_1', named('C-1'))],
    rows: { payments: { in_1: { customer: 'C-1', amount: '119.000' } } },
  });

  testRules(
    {
      'an invoice moves with its subscription to the sold subscription’s customer': {
        events: [
          completed('cs_1', { client_reference_id: String(subscription?.row.id) }),
          created('sub_1'),
          finalized('in_1', { subscription: 'sub_1' }),
          paid('in_1', { subscription: 'sub_1', ...named('C-1') }),
        ],
        rows: {
          subscriptions: { sub_1: { isSold: true } },
          invoices: { in_1: { subscription: 'sub_1', customer: 'C-1', status: 'paid' } },
        },
      },
      'an unchanged payment moves with its invoice to the linked customer': movesAlong({}),
      'a payment whose amount changes moves with its invoice to the linked customer': movesAlong({
        amount_paid: 500,
      }),
    },
    { given },
  );
});
