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
import { customer, type Scene, service, testRules } from '../support/sync-rules';

const second = (after: number) => new Date((NOON + after) * 1000);
const ADA = customer('C-1');
const [HOSTING, MAIL] = [service('S-1', ADA), service('S-2', ADA)];
const given = [ADA, HOSTING, MAIL];

/** Fields of a subscription of customer C-1, with an item `si_<number>` for each service number. */
const forServices = (...numbers: string[]) => ({
  ...named('C-1'),
  ...items(
    ...numbers.map((service_number) => item(`si_${service_number}`, { metadata: { service_number } })),
  ),
});
const connected = { account: 'acct_1' };

testRules({
  'a finalized invoice creates its unknown customer': {
    inSql: true,
    events: [finalized('in_1', { customer_email: 'ada@example.com' })],
    rows: {
      customers: { 'new 1': { email: 'ada@example.com' } },
      links: { cus_1: { customer: 'new 1', linked_by: 'created' } },
      invoices: {
        in_1: {
          customer: 'new 1',
          number: 'NO-in_1',
          status: 'sent',
          invoice_date: '2026-03-15',
          subtotal: '100.000',
          tax: '19.000',
          total: '119.000',
          amount_due: '119.000',
          currency: 'eur',
        },
      },
      events: { evt_1: { outcome: 'processed', attempts: 1, warnings: [] } },
    },
  },
  'control characters in texts from Stripe are removed': {
    inSql: true,
    events: [
      finalized('in_1', {
        number: 'NO\u0007-\u001b[31m1\u0085\u009f',
        customer_name: 'Evil\r=cmd|x\r\nLtd\u0000',
        customer_address: { line1: 'Hauptstr. 1\nHinterhaus', city: 'Wien\t' },
      }),
    ],
    rows: {
      invoices: { in_1: { number: 'NO-[31m1' } },
      customers: {
        'new 1': { last_name: 'Evil =cmd|x Ltd', street: 'Hauptstr. 1 Hinterhaus', city: 'Wien' },
      },
    },
  },
  'an invoice.paid event alone records no payment': {
    events: [paid('in_1')],
    rows: {
      invoices: { in_1: { status: 'paid', amount_paid: '119.000', amount_due: '0.000' } },
      payments: { in_1: null },
    },
  },
  'a payment is recorded once for repeated events in any order': {
    inSql: true,
    events: [paid('in_1'), succeeded('in_1'), succeeded('in_1')],
    orders: 'all',
    rows: {
      invoices: { in_1: { status: 'paid', amount_paid: '119.000', amount_due: '0.000' } },
      payments: { in_1: { of: 'in_1', ...collected('119', '2026-03-15') } },
    },
    counts: { payments: 1 },
  },
  'a late invoice.payment_succeeded event still records its payment': {
    inSql: true,
    events: [succeeded('in_1', {}, { at: 1 }), paid('in_1', {}, { at: 2 }), succeeded('in_1', {}, { at: 1 })],
    orders: [[1, 0, 2]],
    rows: {
      payments: { in_1: { of: 'in_1', ...collected('119', '2026-03-15') } },
      events: { evt_1: { outcome: 'processed' }, evt_3: { outcome: 'stale' } },
    },
    counts: { payments: 1 },
  },
  'an unmatched invoice event is retried when it is delivered again': {
    inSql: true,
    events: [
      finalized('in_1', { customer: null }),
      (scene) => scene.take(finalized('in_1', { customer: null }), 1),
    ],
    rows: {
      events: { evt_1: { outcome: 'unmatched', attempts: 2 } },
      invoices: { in_1: null },
      tasks: { 'customer_missing in_1': { entity: null, done_by: null } },
    },
    counts: { tasks: 1 },
  },
  'a reconciliation run reports an invoice without a customer only once': {
    inSql: true,
    events: [
      async (scene) => {
        const { world } = scene;
        const customer = act.createCustomer(world).object.id;
        const { id } = act.createInvoice(world, { customer, lines: [{ amount: 100 }] }).object;
        const { object: invoice } = act.finalizeInvoice(world, id);
        world.invoices.put({ ...invoice, customer: null as never });
        const { object: subscription } = act.createSubscription(world, {
          customer,
          items: [{ unitAmount: 990 }],
        });
        world.subscriptions.put({ ...subscription, customer: null as never });
        expect(await scene.night()).toMatchObject({
          status: 'completed',
          changes: expect.arrayContaining([
            ['subscription', 'customer_missing', null, null, 'reported'],
            ['invoice', 'customer_missing', null, null, 'reported'],
          ]),
          failures: [],
        });
        expect(await scene.night(60)).toEqual({ status: 'completed', changes: [], failures: [] });
        expect(Object.keys((await scene.rows()).tasks).sort()).toEqual([
          `customer_missing ${id}`,
          `customer_missing ${subscription.id}`,
        ]);
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
  'a service loses its billing date when Stripe removes its subscription item': {
    inSql: true,
    given,
    events: [created('sub_1', forServices('S-1', 'S-2')), updated('sub_1', forServices('S-1'))],
    rows: {
      items: { 'si_S-1': { service: 'S-1' }, 'si_S-2': null },
      services: { 'S-1': { next_billing_date: '2026-04-14' }, 'S-2': { next_billing_date: null } },
    },
  },
  'customer and service numbers in Stripe metadata are trimmed': {
    given,
    events: [
      created('sub_1', {
        ...named(' C-1\t'),
        ...items(
          item('si_1', { metadata: { service_number: '\u00a0S-1 ' } }),
          item('si_2', { metadata: { customer_service_id: ` ${MAIL.row.id}\n` } }),
        ),
      }),
    ],
    rows: { items: { si_1: { service: 'S-1' }, si_2: { service: 'S-2' } } },
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
    rows: {
      subscriptions: { sub_1: { status: 'active', is_stub: false } },
      invoices: { in_1: { subscription: 'sub_1' } },
    },
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
  'a service loses its billing date when its last subscription is deleted': {
    inSql: true,
    given: [...given, service('S-3', ADA)],
    events: [
      created('sub_1', forServices('S-1', 'S-2', 'S-3')),
      created('sub_2', { metadata: { service_number: 'S-2' } }),
      (scene) => scene.edit('services', 'S-3', { next_billing_date: '2031-05-05' }),
      deleted('sub_1', forServices('S-1', 'S-2', 'S-3')),
    ],
    rows: {
      services: {
        'S-1': { next_billing_date: null },
        'S-2': { next_billing_date: '2026-04-14' },
        'S-3': { next_billing_date: '2031-05-05' },
      },
    },
  },
});

function collected(amount: string, payment_date: string) {
  return { amount: `${amount}.000`, payment_date, status: 'completed', source: 'stripe' };
}

type Table = 'invoices' | 'items' | 'payments' | 'services' | 'subscriptions';

function expectRow(table: Table, key: string, row: object) {
  return async (scene: Scene) => expect((await scene.rows())[table][key]).toMatchObject(row);
}

const QUIET = { status: 'completed', changes: [], failures: [] };

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
      'the nightly reconciliation repairs the end date of a service': async (scene) => {
        const { world } = scene;
        const { id: customer } = act.createCustomer(world, named('C-1')).object;
        const one = { unitAmount: 990, metadata: { service_number: 'S-1' } };
        const made = await scene.deliverAction(
          act.createSubscription(world, { customer, ...named('C-1'), items: [one] }),
        );
        act.updateSubscription(world, made.object.id, { cancelAt: NOON + 20 * DAY });
        await scene.night();
        await expectRow('services', 'S-1', { ends_on: '2026-04-04' })(scene);
        await scene.edit('services', 'S-1', { ends_on: null });
        await scene.night();
        await expectRow('services', 'S-1', { ends_on: '2026-04-04' })(scene);
        expect(await scene.night()).toEqual(QUIET);
      },
    },
    { given },
  );
});

describe('invoices that Stripe collects in parts', () => {
  /** Collects a part of an invoice without an event that sync handles. Returns today's date. */
  function collect(scene: Scene, id: string, amount: number, options = {}) {
    act.payInvoicePart(scene.world, id, amount, options);
    return today(scene);
  }
  const today = ({ now }: Scene) => now().toISOString().slice(0, 10);

  testRules({
    'a partial payment of an open invoice at Stripe is recorded once': async (scene) => {
      const { id } = await scene.deliverAction(issue(scene));
      const day = collect(scene, id, 4000);
      scene.later(3 * DAY);
      await scene.night();
      await expectRow('payments', id, collected('40', day))(scene);
      expect(await scene.night()).toEqual(QUIET);
    },
    'a payment from the nightly reconciliation excludes amounts paid outside Stripe': async (scene) => {
      const { id } = await scene.deliverAction(issue(scene));
      const day = collect(scene, id, 4000);
      collect(scene, id, 1000, { offStripe: true });
      await scene.night();
      scene.later(2 * DAY);
      await scene.deliverAction(act.payInvoice(scene.world, id, { offStripe: true }));
      await scene.night();
      await expectRow('payments', id, collected('40', day))(scene);
    },
  });
});

// Events, lists and single objects show only the first ten items of a subscription.
describe('subscriptions with many items', () => {
  /** Creates a subscription with yearly items. Only the last item is monthly, and it bills service S-1. */
  function sell({ world }: Scene, count: number) {
    const customer = act.createCustomer(world, named('C-1')).object.id;
    const years: ItemInput[] = Array.from({ length: count - 1 }, () => ({
      unitAmount: 900,
      interval: 'year',
    }));
    const last = { unitAmount: 100, metadata: { service_number: 'S-1' } };
    const made = act.createSubscription(world, { customer, items: [...years, last] });
    return { id: made.object.id, items: made.object.items, events: made.events };
  }
  /** Expects the subscription to be stored with these columns and with all its items at Stripe. */
  async function expectWhole(scene: Scene, id: string, row: object) {
    const { subscriptions, items } = await scene.rows();
    const atStripe = scene.world.subscriptions.get(id)?.items ?? [];
    expect(Object.values(items).map(({ quantity }) => quantity)).toHaveLength(atStripe.length);
    expect(items).toMatchObject(
      Object.fromEntries(atStripe.map((one) => [one.id, { quantity: one.quantity }])),
    );
    expect(subscriptions[id]).toMatchObject(row);
  }
  async function expectPart(scene: Scene, id: string, count: number) {
    const { subscriptions, items } = await scene.rows();
    expect(Object.keys(items)).toHaveLength(count);
    expect(subscriptions[id]).toMatchObject({ recheck_at: expect.any(Date) });
  }

  testRules(
    {
      'an eleventh subscription item counts towards the billing date': {
        inSql: true,
        events: [
          async (scene) => {
            const sold = await scene.deliverAction(sell(scene, 12));
            await expectWhole(scene, sold.id, { next_billing_date: '2026-04-15', recheck_at: null });
            await expectRow('services', 'S-1', { next_billing_date: '2026-04-15' })(scene);
            await scene.deliverAction(
              act.updateSubscription(scene.world, sold.id, { items: sold.items.slice(0, 11) }),
            );
            await expectWhole(scene, sold.id, { next_billing_date: '2027-03-15' });
          },
        ],
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
      'sync without an API key keeps stored subscription items that a later event does not contain': async (
        scene,
      ) => {
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

/** The ways in which API versions send the payment intent pi_1 and the charge ch_1 of a paid invoice. */
const SHAPES: Record<string, Record<string, unknown>> = {
  'with payment intent and charge': { payment_intent: 'pi_1', charge: 'ch_1' },
  'with a list of payments': {
    payments: {
      object: 'list',
      has_more: false,
      data: [
        {
          status: 'paid',
          amount_paid: 11_900,
          payment: { type: 'payment_intent', payment_intent: { id: 'pi_1', latest_charge: 'ch_1' } },
        },
      ],
    },
  },
  'without payment ids': {},
};

/** Records a payment of an invoice as an API client does. */
const posts =
  (payment_reference: string, { amount = 119, of = 'in_1' } = {}) =>
  async (scene: Scene) => {
    const { invoices, customers } = await scene.rows();
    const { id, customer } = invoices[of] ?? {};
    const customer_id = Number(customers[String(customer)]?.id);
    const payment = { invoice_id: Number(id), customer_id, amount, payment_date: '2026-03-14' };
    await scene.hands().recordPayment({ ...payment, payment_reference });
  };

/** Changes the payment with this reference, as an API client does. */
const changes =
  (reference: string, change: (hands: ReturnType<Scene['hands']>, id: number) => Promise<void>) =>
  async (scene: Scene) => {
    const { payments } = await scene.rows();
    await change(scene.hands(), Number(payments[reference]?.id));
  };

const refusesToRecord =
  (reference: string, of = 'in_1') =>
  async (scene: Scene) => {
    const refused = posts(reference, { of })(scene);
    await expect(refused).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/^Payment \d+ \(in_1\) already counts this money/),
    });
  };

describe('payments that Stripe and an API client both report', () => {
  for (const [shape, told] of Object.entries(SHAPES)) {
    for (const reference of ['pi_1', 'ch_1']) {
      testRules({
        [`a payment recorded as ${reference} is not recorded again by an event ${shape}`]: {
          inSql: true,
          events: [
            finalized('in_1'),
            posts(reference),
            paid('in_1', told),
            succeeded('in_1', told),
            succeeded('in_1', told),
          ],
          orders: [
            [0, 1, 2, 3, 4],
            [0, 1, 3, 4, 2],
          ],
          rows: { payments: { [reference]: { of: 'in_1', amount: '119.000', source: 'api', version: 0 } } },
          counts: { payments: 1, tasks: 0 },
        },
        [`recording a payment as ${reference} is refused after an event ${shape}`]: {
          inSql: true,
          events: [finalized('in_1'), succeeded('in_1', told), refusesToRecord(reference)],
          rows: { payments: { in_1: { of: 'in_1', amount: '119.000', source: 'stripe' } } },
          counts: { payments: 1, tasks: 0 },
        },
        [`a task about ${reference} is closed when its amount equals that of an event ${shape}`]: {
          inSql: true,
          events: [
            finalized('in_1'),
            posts(reference, { amount: 100 }),
            succeeded('in_1', told),
            changes(reference, (hands, id) => hands.updatePayment(id, { amount: 119, status: 'completed' })),
            succeeded('in_1', told),
          ],
          rows: { tasks: { [`payment_differs in_1 ${reference}`]: { done_by: 'Stripe' } } },
          counts: { payments: 1, tasks: 1 },
        },
        [`a task that an event ${shape} creates about ${reference} is closed when the payment is deleted`]: {
          inSql: true,
          events: [
            finalized('in_1'),
            posts(reference, { amount: 100 }),
            succeeded('in_1', told),
            changes(reference, (hands, id) => hands.deletePayment(id)),
          ],
          rows: { tasks: { [`payment_differs in_1 ${reference}`]: { done_by: 'a later change' } } },
          counts: { payments: 0, tasks: 1 },
        },
      });
    }
  }
});
