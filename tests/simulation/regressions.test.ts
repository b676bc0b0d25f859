import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Database } from '@/db/database';
import { reconciliationFailures } from '@/db/schema';
import type { WorldEvent } from '@/lib/stripe-local/model';
import { epochNow } from '@/lib/stripe-local/world';
import { createCustomer } from '../support/factories';
import * as act from '../support/stripe-actions';
import {
  completed,
  created,
  deleted,
  type EventContent,
  finalized,
  item,
  items,
  named,
  updated,
} from '../support/stripe-events';
import { DAY, typed, useSync } from '../support/sync';
import { customer, type Rule, type Scene, service, sold, testRules } from '../support/sync-rules';
import { watchedDatabase } from '../support/watched-database';

// The simulation found these bugs about customers and money. Each test is the smallest history that shows its bug.

const PATH = '/v1/customers/cus_1';
const numbers = ['C-1', 'C-2', 'C-3'];
const given = numbers.map(customer);
const [ONE, TWO] = given as [(typeof given)[0], (typeof given)[0]];

type Step = Rule['events'][number];

/** Sets or removes the customer number in the metadata of `cus_1`. */
const own =
  (customer_number?: string) =>
  ({ world }: Scene) => {
    const before = world.customers.get('cus_1') ?? act.createCustomer(world).object;
    world.customers.put({ ...before, id: 'cus_1', metadata: customer_number ? { customer_number } : {} });
  };

/** Makes the next `times` requests for `cus_1` fail. */
const failing =
  (times = 1) =>
  ({ faults }: Scene) =>
    faults.add({
      when: ({ path }) => path === PATH,
      fault: { kind: 'status', status: 500, shouldRetry: false },
      times,
    });

const withKey = (hasKey: boolean) => (scene: Scene) => {
  scene.hasKey = hasKey;
};
const night = (scene: Scene) => scene.night();
const quietNight = async (scene: Scene) =>
  expect(await scene.night()).toMatchObject({ status: 'completed', changes: [], failures: [] });

const expectLink = (link: object) => async (scene: Scene) =>
  expect((await scene.rows()).links.cus_1).toMatchObject(link);
let made = 0;
const bills = (number?: string, ofEvent?: Partial<EventContent>) => {
  made += 1;
  return finalized(`in_${made}`, number ? named(number) : {}, ofEvent);
};
const subscribes = (number?: string, ofEvent?: Partial<EventContent>) => {
  made += 1;
  return created(`sub_${made}`, number ? named(number) : {}, ofEvent);
};
const linked = (name: string, more: object = {}) => ({ links: { cus_1: { customer: name, ...more } } });

/** Runs a step and expects exactly one request to Stripe for `cus_1`. */
const askingOnce = (step: (scene: Scene) => unknown) => async (scene: Scene) => {
  let asked = 0;
  scene.faults.add({
    when: ({ path }) => {
      if (path === PATH) asked += 1;
      return false;
    },
    fault: { kind: 'status', status: 500 },
  });
  await step(scene);
  expect(asked).toBe(1);
};

/** Returns a rule that expects the events to link `cus_1` to the customer `name`, with the values of `more`. */
const leadsTo = (name: string, events: Step[], more: object = {}): Rule => ({
  events,
  rows: linked(name, more),
});

const atStripe = {
  subscription: ({ world }: Scene, input: Partial<Parameters<typeof act.createSubscription>[1]> = {}) =>
    act.createSubscription(world, { customer: 'cus_1', items: [{ unitAmount: 990 }], ...input }),
  invoice({ world }: Scene, input: Partial<Parameters<typeof act.createInvoice>[1]> = {}) {
    const lines = [{ amount: 9000 }];
    const { id } = act.createInvoice(world, { customer: 'cus_1', lines, ...input }).object;
    return { id, events: act.finalizeInvoice(world, id).events };
  },
  checkout({ world }: Scene, input: Partial<Parameters<typeof act.createCheckoutSession>[1]> = {}) {
    const items = [{ unitAmount: 990 }];
    const { id } = act.createCheckoutSession(world, { customer: 'cus_1', items, ...input });
    return act.completeCheckout(world, id);
  },
};
/** Delivers only the first event of this type. */
const deliverOnly = (scene: Scene, { events }: Parameters<Scene['deliverAction']>[0], type: string) =>
  scene.deliverAction({ events: [typed(events, type)] });
const recheckSoon = (scene: Scene, id: string) =>
  scene.edit('subscriptions', id, { recheck_at: scene.now() });

describe('revisions of an invoice', () => {
  const revised = (hasKey: boolean) => async (scene: Scene) => {
    own()(scene);
    scene.hasKey = hasKey;
    const first = atStripe.invoice(scene);
    await scene.deliverAction(first);
    await deliverOnly(scene, atStripe.invoice(scene, { revises: first.id }), 'invoice.finalized');
    const cancelled = { status: 'cancelled', amount_due: '0.000' };
    const stored = async () => (await scene.rows()).invoices[first.id];
    expect(await stored()).toMatchObject({ ...cancelled, recheck_at: hasKey ? null : expect.any(Date) });
    await withKey(true)(scene);
    await scene.night();
    expect(await stored()).toMatchObject({ ...cancelled, recheck_at: null });
  };

  async function writtenOff(scene: Scene) {
    own()(scene);
    scene.hasKey = false;
    const first = atStripe.invoice(scene);
    await scene.deliverAction(first);
    act.markUncollectible(scene.world, first.id);
    await deliverOnly(scene, act.failInvoicePayment(scene.world, first.id), 'invoice.payment_failed');
    const stored = async () => (await scene.rows()).invoices[first.id];
    expect(await stored()).toMatchObject({ status: 'overdue', uncollectible: true });
    await deliverOnly(scene, atStripe.invoice(scene, { revises: first.id }), 'invoice.finalized');
    expect(await stored()).toMatchObject({ status: 'cancelled', uncollectible: false });
  }

  /** Sets the number after an invoice was reported, so that only Stripe's answer about that invoice contains it. */
  async function relinking(scene: Scene) {
    own()(scene);
    const first = atStripe.invoice(scene);
    await scene.deliverAction(first);
    own('C-1')(scene);
    scene.hasKey = true;
    const { id } = atStripe.invoice(scene, { revises: first.id });
    await deliverOnly(scene, act.payInvoice(scene.world, id), 'invoice.payment_succeeded');
    expect((await scene.rows()).payments[id]).toMatchObject({ customer: 'C-1' });
  }

  /** Delivers `invoice.finalized` of an invoice, of its revision and of the revision's revision, the latest first. */
  async function arrivingLate(scene: Scene) {
    own()(scene);
    scene.hasKey = true;
    const first = atStripe.invoice(scene);
    const second = atStripe.invoice(scene, { revises: first.id });
    const third = atStripe.invoice(scene, { revises: second.id });
    for (const { id, events } of [third, second, first]) {
      const isIts = ({ type, about }: WorldEvent) => type === 'invoice.finalized' && about.id === id;
      await scene.deliver(events.find(isIts));
    }
    const { invoices } = await scene.rows();
    expect([first, second, third].map(({ id }) => invoices[id]?.amount_due)).toEqual([
      '0.000',
      '0.000',
      '90.000',
    ]);
  }

  testRules({
    'only the last revision of an invoice owes money if the events arrive in reverse order': {
      inSql: true,
      events: [arrivingLate],
    },
    'a payment of a revision belongs to the customer that Stripe names for the revised invoice': {
      ...{ given, events: [relinking] },
    },
    'a revised invoice that was written off is cancelled and no longer uncollectible': writtenOff,
    'with an API key, the event of a revision cancels the revised invoice without a recheck': revised(true),
    'without an API key, the event of a revision cancels the revised invoice, and a later run rechecks it':
      revised(false),
  });
});

describe('amounts paid outside of Stripe', () => {
  /** Pays an invoice of 90, partly or wholly outside Stripe. Delivers the finalization and one more event. */
  async function pay(scene: Scene, offStripe: number | true, type: string) {
    own()(scene);
    const { id, events } = atStripe.invoice(scene);
    await scene.deliverAction({ events });
    const paid = act.payInvoice(scene.world, id, { offStripe });
    await deliverOnly(scene, paid, type);
    return { id, paid, payment: async () => (await scene.rows()).payments[id] };
  }

  const changedHere = (amounts: number[], end: string) => async (scene: Scene) => {
    const { payment } = await pay(scene, 3000, 'invoice.payment_succeeded');
    const id = Number((await payment())?.id);
    for (const amount of amounts) await scene.hands().updatePayment(id, { amount, status: 'completed' });
    await scene.night();
    expect(await payment()).toMatchObject({ amount: end });
  };

  testRules({
    'an invoice paid wholly outside Stripe becomes paid without a Stripe payment': async (scene) => {
      const { id, payment } = await pay(scene, true, 'invoice.paid');
      await scene.night();
      expect(await payment()).toBeUndefined();
      const row = { status: 'paid', amount_off_stripe: '90.000' };
      expect((await scene.rows()).invoices[id]).toMatchObject(row);
    },
    'an amount paid outside Stripe is deducted from the Stripe payment once': async (scene) => {
      const { paid, payment } = await pay(scene, 3000, 'invoice.payment_succeeded');
      // The event does not say that 30 were paid outside Stripe.
      expect(await payment()).toMatchObject({ amount: '90.000' });
      await scene.night();
      expect(await payment()).toMatchObject({ amount: '60.000', provider_amount: '60.000' });
      const succeeded = typed(paid.events, 'invoice.payment_succeeded');
      const again = { ...succeeded, id: `${succeeded.id}_copy`, created: epochNow(scene.world) };
      await scene.deliverAction({ events: [again] });
      expect(await payment()).toMatchObject({ amount: '60.000' });
    },
    'a payment that staff set to 90 becomes 60 if 30 were paid outside Stripe': changedHere([90], '60.000'),
    'a payment that staff changed to 80 and back becomes 60 if 30 were paid outside Stripe': changedHere(
      [80, 90],
      '60.000',
    ),
    'a payment that staff changed to 80 stays 80 if 30 were paid outside Stripe': changedHere([80], '80.000'),
  });
});

describe('customers matched by e-mail address', () => {
  const address = { customer_email: 'new@example.com' };
  const ofOther = { ...address, customer: 'cus_2' };

  testRules(
    {
      'two Stripe customers with the same e-mail address share the customer that sync creates': {
        events: [created('sub_1'), finalized('in_1', address), finalized('in_2', ofOther)],
        rows: { links: { cus_1: { customer: 'new 1' }, cus_2: { customer: 'new 1' } } },
      },
      'a customer created by sync is deleted when its last Stripe customer is linked elsewhere': {
        events: [
          finalized('in_1', address),
          finalized('in_2', ofOther),
          finalized('in_3', { ...address, ...named('C-1') }),
          async (scene) =>
            expect((await scene.rows()).links.cus_2).toMatchObject({
              customer: 'new 1',
              linked_by: 'created',
            }),
          finalized('in_4', { ...ofOther, ...named('C-2') }),
        ],
        counts: { customers: given.length },
      },
    },
    { given, settings: { linkByEmail: true } },
  );
});

describe('several customer numbers', () => {
  const listOlder = (scene: Scene) => {
    // The items' metadata contains a service of `C-2`. Each run looks the service up and must not report a change.
    const items = [{ unitAmount: 500, metadata: { service_number: 'S-2' } }];
    for (const number of ['C-1', 'C-3']) {
      atStripe.subscription(scene, { items, ...named(number) });
      scene.later(5);
    }
  };

  /** Removes the Stripe customer's own number `C-1`, then reports numbers in the given order. */
  const afterRemoval = (order: number[], isFailing: boolean): Rule => {
    const reported = order.map((at) => subscribes(numbers[at], { id: `evt_r${at}`, at: 10 + at }));
    const answers = order.filter((at) => at > 0).length;
    const news = isFailing ? [failing(answers), ...reported, expectLink({ customer: 'C-1' })] : reported;
    const first = numbers[Math.min(...order)] ?? '';
    return leadsTo(first, [own('C-1'), bills(), own(), ...news, night, quietNight], { recheck_at: null });
  };
  const afterRemovals = [[1], [1, 2], [2, 1], [0, 1], [1, 0]].flatMap((order) =>
    [false, true].map((isFailing) => [
      `a Stripe customer that lost its own number is linked by the number of the earliest event, with the events delivered in the order ${order}${isFailing ? ' while Stripe fails' : ''}`,
      afterRemoval(order, isFailing),
    ]),
  );

  testRules(
    {
      'the earliest customer number of a subscription takes precedence over that of an invoice': {
        ...leadsTo('C-2', [bills('C-1'), subscribes('C-2'), subscribes('C-3')], { linked_by: 'number' }),
        orders: 'all',
      },
      'a reconciliation run prefers the customer number of the older listed subscription': {
        ...leadsTo('C-1', [own(), listOlder, night, expectLink({ customer: 'C-1' }), quietNight]),
        given: [...given, service('S-2', TWO)],
      },
      'the customer number of a listed subscription takes precedence over that of an invoice event': leadsTo(
        'C-1',
        [own(), (scene) => atStripe.subscription(scene, named('C-1')), night, bills('C-2', { at: 2 * DAY })],
      ),
      'the customer number of an invoice event takes precedence over that of a listed invoice': leadsTo(
        'C-1',
        [own(), (scene) => atStripe.invoice(scene, named('C-2')), bills('C-1'), night],
      ),
    },
    { given },
  );
  testRules(
    {
      'a Stripe customer is fetched again when an event reports another customer number': leadsTo('C-1', [
        own(),
        bills(),
        expectLink({ linked_by: 'created' }),
        own('C-1'),
        subscribes('C-2'),
      ]),
      'a Stripe customer that loses its own number is still linked by the number of its first subscription':
        leadsTo('C-1', [own('C-1'), subscribes('C-1'), own(), subscribes('C-2')], {
          number_source: 'subscription',
        }),
      'a Stripe customer that loses its own number is linked again by the first number that was reported':
        leadsTo('C-2', [own(), subscribes('C-2'), own('C-1'), subscribes('C-3'), own(), subscribes('C-3')]),
      'a customer number removed at Stripe does not link our customer that gets the number later': async (
        scene,
      ) => {
        own('C-9')(scene);
        await scene.take(created('sub_1', named('C-1')), 1);
        const { id } = atStripe.invoice(scene, named('C-2'));
        await scene.night();
        await scene.edit('invoices', id, { recheck_at: scene.now() });
        // Requests for the customer fail while the run lists invoices, rechecks the customer and rechecks the invoice.
        failing(3)(scene);
        await scene.night();
        await scene.edit('customers', 'C-3', { customer_number: 'C-9' });
        own()(scene);
        await scene.night();
        await expectLink({ customer: 'C-1' })(scene);
      },
      'a nightly recheck relinks a subscription and its Stripe customer by a new number': async (scene) => {
        own('C-1')(scene);
        const { id } = (await scene.deliverAction(atStripe.subscription(scene))).object;
        await expectLink({ customer: 'C-1' })(scene);
        own('C-2')(scene);
        await recheckSoon(scene, id);
        await scene.night();
        await expectLink({ customer: 'C-2', number_source: 'customer' })(scene);
        const row = { customer: 'C-2', recheck_at: null };
        expect((await scene.rows()).subscriptions[id]).toMatchObject(row);
      },
      ...Object.fromEntries(afterRemovals),
    },
    { given, withKey: true },
  );
});

describe('a customer that Stripe failed to return', () => {
  const firstNamed = created('sub_1', named('C-1'), { at: 1 });
  const thenNamed = updated('sub_1', named('C-2'), { at: 6 });
  const staleAsked: Step[] = [withKey(true), failing()];

  testRules(
    {
      'a Stripe customer that could not be fetched is linked by the nightly run even after a later event':
        leadsTo('C-1', [
          ...[own('C-1'), failing(), created('sub_1')],
          ...[updated('sub_1', { cancel_at_period_end: true }), night],
        ]),
      'a Stripe customer that could not be fetched for an unpaid checkout is linked by the nightly run':
        leadsTo('C-1', [
          ...[own('C-1'), failing(), completed('cs_1', { payment_status: 'unpaid' })],
          ...[created('sub_1'), night],
        ]),
      'a Stripe customer is linked by the number of the earlier event until the nightly run fetches the customer':
        leadsTo('C-3', [
          ...[own(), withKey(false), thenNamed, ...staleAsked, firstNamed],
          ...[expectLink({ customer: 'C-1' }), own('C-3'), night],
        ]),
      'the nightly run fetches the Stripe customer of an ended subscription': leadsTo('C-3', [
        ...[own(), withKey(false), firstNamed, deleted('sub_1', named('C-1'), { at: 7 })],
        ...[...staleAsked, thenNamed, own('C-3'), night],
      ]),
      'the nightly run fetches a Stripe customer whose draft invoice was deleted': async (scene) => {
        own('C-1')(scene);
        const lines = [{ amount: 9000 }];
        const draft = act.createInvoice(scene.world, { customer: 'cus_1', lines }).object;
        failing(2)(scene); // The requests fail while the run lists drafts, and when it rechecks the customer.
        const failed = { status: 'completed_with_errors', failures: [['customer', 'cus_1']] };
        expect(await scene.night()).toMatchObject(failed);
        await expectLink({ linked_by: 'created' })(scene);
        act.deleteDraftInvoice(scene.world, draft.id);
        expect(await scene.night()).toMatchObject({ status: 'completed', failures: [] });
        await expectLink({ customer: 'C-1', linked_by: 'number', recheck_at: null })(scene);
      },
      'after a failed fetch, events without a customer number do not make sync fetch the customer again': {
        events: [
          own('C-1'),
          finalized('in_1'),
          askingOnce(async (scene) => {
            failing()(scene);
            await scene.take(created('sub_1', named('C-2')), 10);
            await scene.take(finalized('in_2'), 11);
            await scene.take(created('sub_2'), 12);
          }),
        ],
        rows: { events: { evt_11: { warnings: [] }, evt_12: { warnings: [] } } },
      },
    },
    { given, withKey: true },
  );
});

describe('a customer with an earlier checkout', () => {
  const HOSTING = service('S-1', ONE);
  const [subscription, ...rest] = sold(ONE, HOSTING);
  const reference = String(subscription?.row.id);
  const all = [...given, HOSTING, ...(subscription ? [subscription] : []), ...rest];
  /** A checkout with the number `C-9`, which customer `C-1` gets only afterwards. */
  const earlierCheckout: Step[] = [
    own(),
    withKey(false),
    completed('cs_1', named('C-9')),
    (scene) => scene.edit('customers', 'C-1', { customer_number: 'C-9' }),
    withKey(true),
  ];
  const expectSold = async (scene: Scene, id: string | null) =>
    expect((await scene.rows()).subscriptions[id ?? '']).toMatchObject({ isSold: true, customer: 'C-1' });

  /**
   * Loses the event of a checkout. The Stripe customer is linked to `C-1` only much later, when `settle` changes an
   * invoice.
   */
  const shownBy =
    (settle: (scene: Scene, invoice: string) => Parameters<Scene['deliverAction']>[0]) =>
    async (scene: Scene) => {
      own()(scene);
      const bought = atStripe.checkout(scene, { clientReferenceId: reference });
      await deliverOnly(scene, bought, 'customer.subscription.created');
      const { id, events } = atStripe.invoice(scene);
      await scene.deliverAction({ events });
      for (let nights = 0; nights < 2; nights += 1) {
        await scene.night();
        scene.later(10 * DAY);
      }
      own('C-1')(scene);
      scene.hasKey = false;
      await deliverOnly(scene, settle(scene, id), 'invoice.paid');
      await scene.night();
      await expectLink({ customer: 'C-1', linked_by: 'number' })(scene);
      await expectSold(scene, bought.object.subscription);
    };

  testRules(
    {
      'a Stripe customer with an earlier checkout is fetched only once per event': leadsTo(
        'C-2',
        [...earlierCheckout, askingOnce((scene) => scene.take(subscribes('C-2'), 9))],
        { recheck_at: null },
      ),
      'a Stripe customer relinked by e-mail and then by an earlier checkout is fetched once': {
        settings: { linkByEmail: true },
        events: [
          ...earlierCheckout,
          askingOnce((scene) => scene.take(finalized('in_1', { customer_email: 'c-2@example.com' }), 9)),
        ],
        rows: linked('C-9', { recheck_at: null }),
      },
      'a Stripe customer relinked in a run is fetched once despite an earlier checkout': async (scene) => {
        own()(scene);
        const { object } = await scene.deliverAction(atStripe.checkout(scene, named('C-2')));
        await scene.night();
        own('C-1')(scene);
        await recheckSoon(scene, object.subscription ?? '');
        await askingOnce(({ night }) => night())(scene);
        await expectLink({ customer: 'C-1', recheck_at: null })(scene);
      },
      'when a checkout’s number links the Stripe customer, an earlier checkout is applied too': {
        withKey: false,
        events: [
          created('sub_1'),
          completed('cs_1', { client_reference_id: reference }),
          completed('cs_2', { subscription: 'sub_2', ...named('C-9') }),
          (scene) => scene.edit('customers', 'C-1', { customer_number: 'C-9' }),
          finalized('in_1', named('C-2')),
        ],
        rows: { ...linked('C-9'), subscriptions: { sub_1: { isSold: true } } },
      },
      'reconciliation applies a lost checkout when it links the Stripe customer': async (scene) => {
        own('C-1')(scene);
        const bought = atStripe.checkout(scene, { clientReferenceId: reference });
        failing()(scene);
        await deliverOnly(scene, bought, 'customer.subscription.created');
        await expectLink({ linked_by: 'created' })(scene);
        await scene.night();
        await expectSold(scene, bought.object.subscription);
      },
      'reconciliation applies a lost checkout when a credited invoice reveals the customer number': shownBy(
        ({ world }, invoice) => act.createCreditNote(world, { invoice, amount: 9000 }),
      ),
      'reconciliation applies a lost checkout when a late payment reveals the customer number': shownBy(
        ({ world }, invoice) => act.payInvoice(world, invoice),
      ),
    },
    { given: all, withKey: true },
  );

  const naming = { metadata: { service_number: 'S-1' } };
  const knownLater = (...steps: Step[]): Rule => ({
    events: [
      own(),
      ...steps,
      finalized('in_1', named('C-1'), { at: 2 * DAY }),
      async (scene) =>
        expect(Object.values((await scene.rows()).items)).toContainEqual(
          expect.objectContaining({ service: 'S-1' }),
        ),
    ],
  });
  testRules(
    {
      'a subscription item from an event is linked to its service once the customer is known': knownLater(
        created('sub_1', items(item('si_1', naming))),
      ),
      'a subscription item found by reconciliation is linked to its service once the customer is known':
        knownLater(
          (scene) => atStripe.subscription(scene, { items: [{ unitAmount: 500, ...naming }] }),
          night,
        ),
    },
    { given: [...given, HOSTING] },
  );
});

describe('regressions on a database', () => {
  const sync = useSync({ withKey: true });
  beforeEach(() => sync.later(10));

  /** Returns a view of the database for one delivery or run. It passes each commit through a function. */
  function withCommits(through: (commit: () => Promise<unknown>) => Promise<unknown>): Database {
    return watchedDatabase(sync.db, {
      statement: (text, run) => (text.includes('commit_plan') ? through(run) : run()),
    });
  }
  const failuresOf = (id: string) =>
    sync.db.select().from(reconciliationFailures).where(eq(reconciliationFailures.stripe_id, id));
  const rename = (id: string, metadata: { customer_number: string }) =>
    act.updateCustomer(sync.world, id, { metadata });

  /** Creates three customers, and a Stripe customer with the number of the first. */
  async function threeNumbers() {
    const [before, after, other] = [
      await createCustomer(sync.db),
      await createCustomer(sync.db),
      await createCustomer(sync.db),
    ].map(({ id, customer_number }) => ({ id, metadata: { customer_number } }));
    if (!before || !after || !other) throw new Error('three customers were created');
    const { metadata } = before;
    const { id } = act.createCustomer(sync.world, { metadata }).object;
    const invoice = (input: object = {}) => {
      const lines = [{ amount: 9000 }];
      const draft = act.createInvoice(sync.world, { customer: id, lines, ...input }).object;
      return typed(act.finalizeInvoice(sync.world, draft.id).events, 'invoice.finalized');
    };
    const refuse = () =>
      sync.api.faults.add({
        when: ({ path }) => path === `/v1/customers/${id}`,
        fault: { kind: 'status', status: 500, shouldRetry: false },
        times: 1,
      });
    return { before, after, other, id, invoice, refuse };
  }

  test('a reconciliation run resolves the recorded failure of a Stripe customer that needs no recheck', async () => {
    const { before, id, invoice, refuse } = await threeNumbers();
    refuse();
    await sync.take(invoice());
    let isRefused = false;
    const db = withCommits(async (commit) => {
      const done = await commit();
      if (isRefused || (await sync.linkOf(id))?.recheck_at) return done;
      isRefused = true;
      throw Object.assign(new Error('refused'), { code: 'XX000' });
    });
    await sync.run({ db });
    expect(isRefused).toBe(true);
    await sync.run();
    expect((await sync.linkOf(id))?.customer_id).toBe(before.id);
    const resolved = { error_code: 'XX000', resolved_at: expect.any(Date) };
    expect(await failuresOf(id)).toMatchObject([resolved]);
  });

  test('sync discards an outdated response from Stripe about a customer', async () => {
    await sync.run(); // Handle the customers that earlier tests left.
    const { after, other, id, invoice, refuse } = await threeNumbers();
    refuse();
    await sync.take(invoice());
    const { customers: api } = sync.client;
    const retrieve = vi.spyOn(api, 'retrieve').mockImplementationOnce(async (...asked) => {
      const answer = await api.retrieve(...asked);
      rename(id, after.metadata);
      await sync.take(invoice({ metadata: other.metadata }));
      return answer;
    });
    await sync.run();
    // The four calls are the late decision, the call inside the mock, the event, and the repeated decision.
    expect(retrieve).toHaveBeenCalledTimes(4);
    retrieve.mockRestore();
    expect(await sync.linkOf(id)).toMatchObject({ customer_id: after.id, recheck_at: null });
  });

  test('a sync decision repeated after a conflict ignores Stripe responses older than the link', async () => {
    const { after, other, id, invoice } = await threeNumbers();
    await sync.take(invoice(), { withKey: false });
    sync.later(5);
    const [late, meanwhile] = [invoice({ metadata: other.metadata }), invoice({ metadata: other.metadata })];
    let begun = 0;
    const db = withCommits(async (commit) => {
      begun += 1;
      if (begun > 1) return commit();
      // The delivery already has Stripe's answer, but commits only after the number has changed.
      rename(id, after.metadata);
      await sync.take(meanwhile);
      return commit();
    });
    expect(await sync.take(late, { db })).toBe('processed');
    expect((await sync.linkOf(id))?.customer_id).toBe(after.id);
  });

  test('a reconciliation run resolves the recorded failure of an event that has been handled', async () => {
    const event = (await threeNumbers()).invoice();
    await sync.take(event, { withKey: false });
    const { runId: run_id } = await sync.run();
    const failure = { run_id, object: 'event' as const, stripe_id: event.id, error_code: '53100' };
    await sync.db.insert(reconciliationFailures).values(failure);
    await sync.run();
    expect(await failuresOf(event.id)).toMatchObject([{ resolved_at: sync.now() }]);
  });
});
