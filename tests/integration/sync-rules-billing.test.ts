import { describe, expect } from 'vitest';
import type { ItemInput } from '@/lib/stripe-local/model';
import * as act from '../support/stripe-actions';
import {
  created,
  DAY,
  deleted,
  finalized,
  item,
  items,
  NOON,
  named,
  paid,
  succeeded,
  updated,
} from '../support/stripe-events';
import { customer, expectRow, type GivenRow, type Scene, service, testRules } from '../support/sync-rules';

const second = (after: number) => new Date((NOON + after) * 1000);
const ADA = customer('C-1');
const [HOSTING, MAIL] = [service('S-1', ADA), service('S-2', ADA)];
const given = [ADA, HOSTING, MAIL];

/** Fields of a subscription of customer C-1, with an item `si_<number>` for each service number. */
const forServices = (...numbers: string[]) => ({
  ...named('C-1'),
  ...items(...numbers.map((number) => item(`si_${number}`, { metadata: { service_number: number } }))),
});
const unmatched = finalized('in_1', { customer: null });
const OF_SUB_1 = { subscription: 'sub_1' };
const QUIET = { status: 'completed', changes: [], failures: [] };
const connected = { account: 'acct_1' };
const PAID = { status: 'paid', amount_paid: '119.000', amount_due: '0.000' };

testRules({
  'an invoice.paid event alone records no payment': {
    events: [paid('in_1')],
    rows: { invoices: { in_1: PAID }, payments: { in_1: null } },
  },
  'a late invoice.payment_succeeded event is stale only once its payment is recorded': {
    inSql: true,
    events: [paid('in_1', {}, { at: 2 }), ...[1, 1].map((at) => succeeded('in_1', {}, { at }))],
    rows: { events: { evt_2: { outcome: 'processed' }, evt_3: { outcome: 'stale' } } },
  },
  'an unmatched invoice event is retried when it is delivered again': {
    inSql: true,
    events: [unmatched, (scene) => scene.take(unmatched, 1)],
    rows: {
      events: { evt_1: { outcome: 'unmatched', attempts: 2 } },
      invoices: { in_1: null },
      tasks: { 'customer_missing in_1': { entity: null, done_by: null } },
    },
    counts: { tasks: 1 },
  },
  'a reconciliation run reports an invoice and a subscription without a customer only once': {
    inSql: true,
    events: [
      async (scene) => {
        const { world } = scene;
        const { id } = issue(scene);
        const { customer = '', ...invoice } = world.invoices.get(id) ?? {};
        world.invoices.put({ ...invoice, customer: null } as never);
        const items = [{ unitAmount: 990 }];
        const { object: subscription } = act.createSubscription(world, { customer, items });
        world.subscriptions.put({ ...subscription, customer: null as never });
        const missing = (entity: string) => [entity, 'customer_missing', null, null, 'reported'];
        const changes = expect.arrayContaining([missing('subscription'), missing('invoice')]);
        expect(await scene.night()).toEqual({ ...QUIET, changes });
        expect(await scene.night(60)).toEqual(QUIET);
        const tasks = [id, subscription.id].map((about) => `customer_missing ${about}`);
        expect(Object.keys((await scene.rows()).tasks).sort()).toEqual(tasks);
      },
    ],
  },
  'an event of a connected Stripe account changes no records': {
    inSql: true,
    events: [
      finalized('in_1'),
      paid('in_1', {}, connected),
      (scene) => scene.take(paid('in_1', {}, connected), 2, { again: true }),
      paid('in_2', {}, connected),
      // This event has the same second as the connected account's event about in_1, which must not count as a state of
      // our in_1.
      finalized('in_1', {}, { at: 2 }),
    ],
    rows: {
      invoices: { in_1: { status: 'sent' }, in_2: null },
      events: { evt_2: { outcome: 'ignored', warnings: [] }, evt_4: { outcome: 'ignored' } },
    },
    counts: { customers: 1 },
  },
  'an item that names two services is linked to the one named by id': {
    inSql: true,
    given,
    events: [HOSTING, MAIL].map((byId, i) =>
      created(`sub_${i}`, {
        ...named('C-1'),
        metadata: {
          customer_number: 'C-1',
          customer_service_id: String(byId.row.id),
          service_number: [MAIL, HOSTING][i]?.row.service_number,
        },
      }),
    ),
    rows: {
      items: { si_sub_0: { service: 'S-1' }, si_sub_1: { service: 'S-2' } },
      events: { evt_1: { warnings: ['an item names one service by its id and another by its number'] } },
    },
  },
  'a subscription first named by an invoice is stored once': {
    inSql: true,
    events: [
      finalized('in_1', { parent: { subscription_details: { subscription: 'sub_1' } } }),
      expectRow('subscriptions', 'sub_1', { provider_as_of: null, is_stub: true }),
      created('sub_1'),
    ],
    rows: { subscriptions: { sub_1: { status: 'active', is_stub: false } }, invoices: { in_1: OF_SUB_1 } },
    counts: { subscriptions: 1 },
  },
  'the pause of a subscription is cleared when collection resumes': {
    inSql: true,
    events: [
      created('sub_1', { pause_collection: { behavior: 'void', resumes_at: NOON + 30 * DAY } }),
      expectRow('subscriptions', 'sub_1', { pause_behavior: 'void', pause_resumes_at: second(30 * DAY) }),
      updated('sub_1', { pause_collection: null }),
    ],
    rows: { subscriptions: { sub_1: { status: 'active', pause_behavior: null, pause_resumes_at: null } } },
  },
  'a service loses its billing date when Stripe removes its last item or deletes its last subscription': {
    inSql: true,
    given: [...given, service('S-3', ADA), service('S-4', ADA)],
    events: [
      created('sub_1', forServices('S-1', 'S-2', 'S-3', 'S-4')),
      created('sub_2', { metadata: { service_number: 'S-2' } }),
      updated('sub_1', forServices('S-1', 'S-2', 'S-3')),
      expectRow('services', 'S-1', billedOn('2026-04-14')),
      expectRow('services', 'S-4', billedOn(null)),
      (scene) => scene.edit('services', 'S-3', { next_billing_date: '2031-05-05' }),
      deleted('sub_1', forServices('S-1', 'S-2', 'S-3')),
    ],
    rows: {
      services: { 'S-1': billedOn(null), 'S-2': billedOn('2026-04-14'), 'S-3': billedOn('2031-05-05') },
      items: { 'si_S-1': { service: 'S-1' }, 'si_S-4': null },
    },
  },
});

function billedOn(next_billing_date: string | null) {
  return { next_billing_date };
}

/** Creates and finalizes an invoice of 100 EUR at Stripe. Returns its id and its undelivered events. */
function issue({ world }: Scene, input = {}) {
  const { id: customer } = act.createCustomer(world).object;
  const { id } = act.createInvoice(world, { customer, lines: [{ amount: 10_000 }], ...input }).object;
  return { id, events: act.finalizeInvoice(world, id).events };
}

describe('changes at Stripe without an event', () => {
  testRules(
    {
      'a reconciliation run with an invalid invoice still stores the next invoice': async (scene) => {
        const [bad, good] = [issue(scene, { currency: 'euro' }), issue(scene)];
        const { status, failures } = await scene.night();
        expect([status, failures]).toEqual(['completed_with_errors', [['invoice', bad.id]]]);
        expect(Object.keys((await scene.rows()).invoices)).toEqual([good.id]);
      },
      'a reconciliation run finds nothing to repair after a paid invoice whose events all arrived': async (
        scene,
      ) => {
        const { id, events } = issue(scene);
        await scene.deliverAction({ events });
        await scene.deliverAction(act.payInvoice(scene.world, id));
        await expectRow('invoices', id, { status: 'paid', amount_off_stripe: null })(scene);
        expect(await scene.night()).toEqual(QUIET);
        await expectRow('invoices', id, { amount_off_stripe: '0.000' })(scene);
      },
      'the nightly reconciliation repairs the end date of a service': async (scene) => {
        const { world } = scene;
        const { id: customer } = act.createCustomer(world, named('C-1')).object;
        const items = [{ unitAmount: 990, metadata: { service_number: 'S-1' } }];
        const input = { customer, ...named('C-1'), items };
        const made = await scene.deliverAction(act.createSubscription(world, input));
        const expectEnd = () => expectRow('services', 'S-1', { ends_on: '2026-04-04' })(scene);
        act.updateSubscription(world, made.object.id, { cancelAt: NOON + 20 * DAY });
        await scene.night();
        await expectEnd();
        await scene.edit('services', 'S-1', { ends_on: null });
        await scene.night();
        await expectEnd();
        expect(await scene.night()).toEqual(QUIET);
      },
    },
    { given },
  );
});

// Events, lists and single objects show only the first ten items of a subscription.
describe('subscriptions with many items', () => {
  /** Creates a subscription whose items are yearly, except the last, which is monthly and bills service S-1. */
  function sell({ world }: Scene, count: number) {
    const customer = act.createCustomer(world, named('C-1')).object.id;
    const years = Array<ItemInput>(count - 1).fill({ unitAmount: 900, interval: 'year' });
    const last = { unitAmount: 100, metadata: { service_number: 'S-1' } };
    const made = act.createSubscription(world, { customer, items: [...years, last] });
    return { id: made.object.id, items: made.object.items, events: made.events };
  }
  /** Expects the subscription to be stored with these columns and with all its items at Stripe. */
  async function expectWhole(scene: Scene, id: string, row: object) {
    const { subscriptions, items } = await scene.rows();
    const atStripe = scene.world.subscriptions.get(id)?.items ?? [];
    const stored = Object.entries(items).map(([item, { quantity }]) => [item, quantity]);
    expect(stored.sort()).toEqual(atStripe.map((one) => [one.id, one.quantity]).sort());
    expect(subscriptions[id]).toMatchObject(row);
  }
  async function expectPart(scene: Scene, id: string, count: number) {
    const { subscriptions, items } = await scene.rows();
    expect(Object.keys(items)).toHaveLength(count);
    expect(subscriptions[id]).toMatchObject({ recheck_at: expect.any(Date) });
  }

  async function countsTowards(scene: Scene) {
    const { id, items, ...sold } = sell(scene, 12);
    await scene.deliverAction(sold);
    await expectWhole(scene, id, { next_billing_date: '2026-04-15', recheck_at: null });
    await expectRow('services', 'S-1', { next_billing_date: '2026-04-15' })(scene);
    await scene.deliverAction(act.updateSubscription(scene.world, id, { items: items.slice(0, 11) }));
    await expectWhole(scene, id, { next_billing_date: '2027-03-15' });
  }

  testRules(
    {
      'a twelfth subscription item counts towards the billing date': {
        inSql: true,
        events: [countsTowards],
      },
      '230 subscription items are read from Stripe in pages of 100': async (scene) => {
        const limits: string[] = [];
        const look = ({ path, query }: { path: string; query: Record<string, string> }) => {
          if (path === '/v1/subscription_items') limits.push(String(query.limit));
          return false;
        };
        scene.faults.add({ when: look, fault: { kind: 'reset' } });
        const { id } = await scene.deliverAction(sell(scene, 230));
        await expectWhole(scene, id, { recheck_at: null });
        expect(limits).toEqual(['100', '100', '100']);
      },
      'sync without an API key keeps stored items that a later event does not contain': async (scene) => {
        scene.hasKey = false;
        const { id, items } = await scene.deliverAction(sell(scene, 13));
        await expectPart(scene, id, 10);
        await scene.deliverAction(act.updateSubscription(scene.world, id, { items: items.slice(1) }));
        await expectPart(scene, id, 11);
        expect(await scene.night()).toMatchObject({ status: 'completed', failures: [] });
        await expectWhole(scene, id, { recheck_at: null });
      },
      'the nightly reconciliation finds a silent change of the eleventh subscription item': async (scene) => {
        const sold = await scene.deliverAction(sell(scene, 11));
        const items = sold.items.map((one, i) => (i === 10 ? { ...one, quantity: 7 } : one));
        act.updateSubscription(scene.world, sold.id, { items });
        expect((await scene.night()).changes).toEqual([
          ['subscription_item', 'quantity', '1', '7'],
          ['subscription_item', 'amount', '1.00 EUR', '7.00 EUR'],
        ]);
        await expectWhole(scene, sold.id, { recheck_at: null });
        expect(await scene.night()).toEqual(QUIET);
      },
    },
    { given, withKey: true },
  );
});

const INTENT = { type: 'payment_intent', payment_intent: { id: 'pi_1', latest_charge: 'ch_1' } };
const LISTED = { status: 'paid', amount_paid: 11_900, payment: INTENT };
/** The ways in which API versions send or omit the payment intent pi_1 and the charge ch_1 of a paid invoice. */
const SHAPES: Record<string, Record<string, unknown>> = {
  'with payment intent and charge': { payment_intent: 'pi_1', charge: 'ch_1' },
  'with a list of payments': { payments: { object: 'list', has_more: false, data: [LISTED] } },
  'without payment ids': {},
};

/** Records a payment of invoice `in_1` as an API client does. */
const posts =
  (payment_reference: string, amount = 119) =>
  async (scene: Scene) => {
    const { invoices, customers } = await scene.rows();
    const customer_id = Number(customers[String(invoices.in_1?.customer)]?.id);
    const of = { invoice_id: Number(invoices.in_1?.id), customer_id };
    await scene.hands().recordPayment({ ...of, amount, payment_date: '2026-03-14', payment_reference });
  };

/** Changes or deletes the payment with this reference, as an API client does. */
const changes =
  (reference: string, change: (hands: ReturnType<Scene['hands']>, id: number) => Promise<void>) =>
  async (scene: Scene) =>
    change(scene.hands(), Number((await scene.rows()).payments[reference]?.id));

const refusesToRecord = (reference: string) => async (scene: Scene) => {
  const message = expect.stringMatching(/^Payment \d+ \(in_1\) already counts this money/);
  await expect(posts(reference)(scene)).rejects.toMatchObject({ code: 'conflict', message });
};

/** Expects this many open tasks about payments that Stripe does not count. */
const expectUncounted = (count: number) => async (scene: Scene) => {
  const open = Object.values((await scene.rows()).tasks).filter(({ done_by }) => done_by === null);
  expect(open.filter(({ kind }) => kind === 'payment_not_counted')).toHaveLength(count);
};

describe('payments that Stripe and an API client both report', () => {
  for (const [shape, told] of Object.entries(SHAPES)) {
    const again = succeeded('in_1', told);
    for (const reference of ['pi_1', 'ch_1']) {
      const differs = `payment_differs in_1 ${reference}`;
      const correct = changes(reference, (hands, id) =>
        hands.updatePayment(id, { amount: 119, status: 'completed' }),
      );
      testRules(
        {
          [`a payment recorded as ${reference} is not recorded again by an event ${shape}`]: {
            events: [finalized('in_1'), posts(reference), paid('in_1', told), again, again],
            orders: [
              [0, 1, 2, 3, 4],
              [0, 1, 3, 4, 2],
            ],
            rows: { payments: { [reference]: { of: 'in_1', amount: '119.000', source: 'api', version: 0 } } },
            counts: { payments: 1, tasks: 0 },
          },
          [`recording a payment as ${reference} is refused after an event ${shape}`]: {
            events: [finalized('in_1'), again, refusesToRecord(reference)],
            rows: { payments: { in_1: { of: 'in_1', amount: '119.000', source: 'stripe' } } },
            counts: { payments: 1, tasks: 0 },
          },
          [`a task about ${reference} is closed when the payment gets the amount of an event ${shape}`]: {
            events: [finalized('in_1'), posts(reference, 100), again, correct, again],
            rows: { tasks: { [differs]: { done_by: 'Stripe' } } },
            counts: { payments: 1, tasks: 1 },
          },
          [`a task that an event ${shape} creates about ${reference} is closed when the payment is deleted`]:
            {
              events: [
                ...[finalized('in_1'), posts(reference, 100), again],
                changes(reference, (hands, id) => hands.deletePayment(id)),
              ],
              rows: { tasks: { [differs]: { done_by: 'a later change' } } },
              counts: { payments: 0, tasks: 1 },
            },
        },
        { inSql: true },
      );
    }
  }

  const again = succeeded('in_1');
  testRules(
    {
      'a payment recorded under the id of its Stripe invoice counts once Stripe has collected it': {
        events: [
          finalized('in_1'),
          posts('in_1'),
          expectUncounted(1),
          paid('in_1'),
          again,
          expectUncounted(0),
        ],
        rows: { payments: { in_1: { of: 'in_1', amount: '119.000', source: 'api', version: 0 } } },
        counts: { payments: 1, tasks: 1 },
      },
      'a payment recorded under the id of its Stripe invoice counts after a night without the event': {
        events: [
          ...[finalized('in_1'), posts('in_1'), paid('in_1', { amount_paid_off_stripe: 0 })],
          async (scene) => void (await scene.night()),
          expectUncounted(0),
          async (scene) => expect(await scene.night()).toEqual(QUIET),
        ],
        counts: { payments: 1, tasks: 1 },
      },
      'a payment recorded under the id of its Stripe invoice is reported if Stripe collected another amount':
        {
          events: [finalized('in_1'), posts('in_1', 100), again],
          rows: { tasks: { 'payment_differs in_1 in_1': { done_by: null } } },
          counts: { payments: 1, tasks: 2 },
        },
    },
    { inSql: true },
  );

  const OWED = {
    currency: 'eur',
    total: '119.000',
    amount_due: '119.000',
    subtotal: '119.000',
    tax: '0.000',
  };
  const OWN = { id: 2_000_001, version: 0, customer_id: ADA.row.id, number: 'R-1', status: 'sent', ...OWED };
  const own: GivenRow = {
    table: 'invoices',
    row: { ...OWN, invoice_date: '2026-03-01', amount_paid: '0.000' },
  };
  /** Pays an invoice of the Stripe account. @returns its payment intent, which no event of this API version names */
  async function collects(scene: Scene, isReported = true) {
    const { id } = issue(scene, { lines: [{ amount: 11_900 }], metadata: { customer_number: 'C-1' } });
    const paid = act.payInvoice(scene.world, id);
    if (isReported) await scene.deliverAction(paid);
    const [intent] = scene.world.paymentIntents.values();
    if (!intent) throw new Error('Stripe collected nothing');
    return { id, paid, intent: intent.id, charge: intent.latestCharge };
  }
  const postsOwn = (scene: Scene, payment_reference: string) => {
    const of = { invoice_id: OWN.id, customer_id: Number(OWN.customer_id), payment_date: '2026-03-14' };
    return scene.hands().recordPayment({ ...of, amount: 119, payment_reference });
  };
  testRules(
    {
      'a payment intent that a reconciliation learns is not counted again for an own invoice': async (
        scene,
      ) => {
        const { id, intent, charge } = await collects(scene);
        await expectRow('payments', id, { stripe_payment_intent_id: null, stripe_charge_id: null })(scene);
        expect(await scene.night()).toEqual(QUIET);
        await expectRow('payments', id, { stripe_payment_intent_id: intent })(scene);
        await expect(postsOwn(scene, intent)).rejects.toMatchObject({ code: 'conflict' });
        expect(charge).not.toBeNull();
      },
      'a payment recorded by a reconciliation has the payment intent': async (scene) => {
        const { id, intent } = await collects(scene, false);
        expect((await scene.night()).status).toBe('completed');
        await expectRow('payments', id, { stripe_payment_intent_id: intent })(scene);
      },
      'money that an own invoice counts is not recorded again by a reconciliation': async (scene) => {
        const { id, intent, paid } = await collects(scene, false);
        await postsOwn(scene, intent);
        expect((await scene.night()).status).toBe('completed');
        expect(Object.keys((await scene.rows()).payments)).toEqual([intent]);
        await expectRow('tasks', `payment_differs ${id} ${intent}`, { done_by: null })(scene);
        for (const event of paid.events) {
          if (event.type === 'invoice.payment_succeeded') await scene.deliver(event);
        }
        expect(await scene.night()).toEqual(QUIET);
        expect(Object.keys((await scene.rows()).payments)).toEqual([intent]);
      },
      'an older payment without a payment intent gets it from a reconciliation': async (scene) => {
        const { id, intent } = await collects(scene);
        await scene.night();
        const unnamed = { stripe_payment_intent_id: null, stripe_charge_id: null };
        await scene.edit('payments', id, unnamed);
        expect(await scene.night(10 * DAY)).toEqual(QUIET);
        await expectRow('payments', id, { stripe_payment_intent_id: intent })(scene);
      },
      'a payment intent that was recorded for an own invoice becomes a task when a reconciliation learns it':
        async (scene) => {
          const { id, intent } = await collects(scene);
          await postsOwn(scene, intent);
          const { changes } = await scene.night();
          expect(changes).toEqual([['payment', 'payment_differs', null, null, 'reported']]);
          const task = `payment_differs ${id} ${intent}`;
          await expectRow('payments', id, { stripe_payment_intent_id: intent })(scene);
          await expectRow('tasks', task, { done_by: null })(scene);
          expect(await scene.night()).toEqual(QUIET);
          await scene.hands().deletePayment(Number((await scene.rows()).payments[intent]?.id));
          await expectRow('tasks', task, { done_by: 'a later change' })(scene);
        },
    },
    { given: [...given, own], inSql: true },
  );

  testRules({
    'a task about a payment contains no text of its reference': {
      events: [finalized('in_1'), posts('ch_1 Jana Novak', 100), succeeded('in_1')],
      rows: {
        tasks: {
          'payment_differs in_1 ch_1 Jana Novak': {
            message: expect.stringMatching(
              /^(?!.*Novak)Stripe collected 119.00 EUR .* payment \d+ counts 100.00 EUR/,
            ),
          },
        },
      },
    },
  });
});
