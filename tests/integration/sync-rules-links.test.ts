import { describe, expect } from 'vitest';
import { HANDLED_EVENT_TYPES } from '@/lib/sync/event-types';
import { orders } from '../support/orders';
import * as act from '../support/stripe-actions';
import {
  completed,
  created,
  deleted,
  type EventContent,
  failed,
  finalized,
  item,
  items,
  NOON,
  named,
  recordedEvents,
  updated,
} from '../support/stripe-events';
import { customer, expectRow, type Rule, service, sold, testRules, type View } from '../support/sync-rules';

describe('customers created for Stripe', () => {
  const ADA = { customer_name: 'Ada', customer_phone: '+49 2' };
  const MAIN_STREET = { line1: 'Main Street 1', line2: 'c/o Bob', city: 'Berlin', country: 'DE' };
  // Each event contains a part of the customer's details.
  const parts = [
    finalized('in_1', { customer_name: null, customer_phone: '+49 1' }, { id: 'evt_c', at: 0 }),
    finalized('in_2', { customer_name: 'Bob', customer_email: 'later@example.com' }, { id: 'evt_b', at: 1 }),
    finalized('in_3', { ...ADA, customer_address: MAIN_STREET }, { id: 'evt_a', at: 1 }),
    finalized('in_4', { customer_address: { line1: 'Way 2', postal_code: '10115' } }, { id: 'evt_d' }),
  ] as const;
  const byron = { last_name: 'Byron', phone: '0' };
  const phone = expect.objectContaining({ field: 'phone', source: 'other', by: 'evt_c' });
  testRules({
    'a customer created from Stripe takes each field from the earliest event that contains it': {
      inSql: true,
      events: [...parts],
      orders: 'all',
      rows: {
        customers: {
          'new 1': {
            ...{ last_name: 'Ada', email: 'later@example.com', phone: '+49 1', postal_code: null },
            ...{ street: 'Main Street 1, c/o Bob', city: 'Berlin', country: 'DE' },
          },
        },
        links: { cus_1: { details: expect.arrayContaining([phone]) } },
      },
      counts: { customers: 1 },
    },
    'events do not overwrite fields that staff wrote in a created customer': {
      inSql: true,
      events: [parts[1], (scene) => scene.edit('customers', 'new 1', byron), parts[0], parts[2]],
      rows: { customers: { 'new 1': { ...byron, city: 'Berlin' } } },
    },
    'a customer created from Stripe takes the name from Stripe’s customer object first': {
      withKey: true,
      events: [
        async (scene) => {
          const { id } = act.createCustomer(scene.world, { name: 'Own Name' }).object;
          for (const part of parts)
            await scene.take({ ...part, object: { ...part.object, customer: id } }, 1);
        },
      ],
      rows: { customers: { 'new 1': { last_name: 'Own Name', phone: '+49 1', city: 'Berlin' } } },
    },
    'two events of a Stripe customer with a Turkish İ in its e-mail address create one customer': {
      inSql: true,
      settings: { linkByEmail: true },
      events: ['in_1', 'in_2'].map((id) => finalized(id, { customer_email: 'İnfo@example.com' })),
      counts: { customers: 1, invoices: 2 },
    },
  });
});

describe('checkouts of sold subscriptions', () => {
  const [ADA, BOB] = [customer('C-1'), customer('C-2')];
  const HOSTING = service('S-1', ADA);
  const [subscription, ...rest] = sold(ADA, HOSTING);
  const ref = Number(subscription?.row.id);
  const given = [ADA, HOSTING, BOB, ...(subscription ? [subscription] : []), ...rest];
  const { email } = ADA.row;
  const byEmail = { customer_email: email };
  const reference = { client_reference_id: String(ref) };
  /** An item with twice the quantity that was sold, so that its price differs. */
  const doubled = items(item('si_sub_1', { quantity: 2 }));
  const bought = { status: 'active', isSold: true, checkout_reference: null, customer: 'C-1' };
  const waiting = { isSold: false, checkout_reference: ref };
  const taken = {
    subscriptions: { sub_1: bought, 'sold C-1': null },
    items: { si_sub_1: { subscription: 'sub_1', service: 'S-1' }, 'sold C-1': null },
    services: { 'S-1': { next_billing_date: '2026-04-14' } },
  };
  const untouched = {
    subscriptions: { 'sold C-1': { status: 'incomplete', customer: 'C-1', version: 0 } },
    items: { 'sold C-1': { service: 'S-1' } },
    services: { 'S-1': { next_billing_date: null } },
  };

  testRules(
    {
      'events of a checkout lead to the same rows in different orders': {
        inSql: true,
        events: [
          ...[completed('cs_1', reference, { at: 4 }), created('sub_1')],
          ...[finalized('in_1', named('C-1')), updated('sub_1', doubled)],
        ],
        orders: [...orders([0, 1, 2]), [1, 2, 3, 0], [0, 3, 1, 2]],
        rows: { ...taken, invoices: { in_1: { customer: 'C-1' } } },
        counts: { subscriptions: 1 },
      },
      'a checkout with only a customer’s e-mail address and the reference does not take over the sale': {
        inSql: true,
        settings: { linkByEmail: true },
        events: [
          completed('cs_1', { ...reference, ...byEmail, customer_details: { email, name: 'C-1' } }),
          created('sub_1'),
          failed('in_1', byEmail),
          deleted('sub_1', { status: 'canceled' }),
        ],
        rows: { ...untouched, invoices: { in_1: { customer: 'C-1' } } },
      },
      'a customer number in the name or custom fields of a checkout links no customer': {
        settings: { linkByEmail: true },
        events: [
          completed('cs_1', {
            client_reference_id: 'C-1',
            customer_details: { name: 'C-1', email: 'C-1@example.org', phone: 'C-1' },
            custom_fields: [
              { key: 'customer_number', type: 'text', text: { value: 'C-1' } },
              { key: 'customer_service_id', type: 'numeric', numeric: { value: String(HOSTING.row.id) } },
            ],
            collected_information: { business_name: 'C-1' },
          }),
          created('sub_1'),
        ],
        rows: { ...untouched, links: { cus_1: { customer: 'new 1', linked_by: 'created' } } },
      },
      'a Stripe subscription takes over the sale once its price matches': {
        events: [
          completed('cs_1', { ...reference, ...named('C-1') }),
          created('sub_1', doubled),
          expectRow('subscriptions', 'sub_1', { ...waiting, status: 'active' }),
          updated('sub_1'),
        ],
        rows: taken,
      },
      'a checkout of another customer does not take over a sold subscription': {
        inSql: true,
        events: [
          completed('cs_1', { metadata: { customer_number: 'C-2', subscription_id: String(ref) } }),
          created('sub_1'),
        ],
        rows: { ...untouched, links: { cus_1: { customer: 'C-2' } } },
      },
      'a checkout does not reactivate a cancelled sale': {
        events: [
          (scene) => scene.edit('subscriptions', 'sold C-1', { status: 'cancelled' }),
          completed('cs_1', { ...reference, ...named('C-1') }),
          created('sub_1'),
        ],
        rows: { ...untouched, subscriptions: { 'sold C-1': { status: 'cancelled' }, sub_1: waiting } },
      },
    },
    { given },
  );
});

describe('items whose service belongs to another customer', () => {
  const [ADA, BOB] = [customer('C-1'), customer('C-2')];
  const billed = created('sub_1', items(item('si_1', { metadata: { service_number: 'S-1' } })));
  testRules(
    {
      'an item loses its link to the service when a customer number moves its Stripe customer': {
        events: [finalized('in_1', named('C-1')), billed, created('sub_2', named('C-2'))],
        rows: { subscriptions: { sub_1: { customer: 'C-2' } }, ...unlinked(null) },
      },
      'an item loses its link to the service when the service belongs to another customer': {
        events: [
          finalized('in_1', named('C-1')),
          billed,
          (scene) =>
            scene.edit('services', 'S-1', { customer_id: BOB.row.id, next_billing_date: '2031-05-05' }),
          updated('sub_1', billed.object),
        ],
        rows: unlinked('2031-05-05'),
      },
    },
    { inSql: true, given: [ADA, BOB, service('S-1', ADA)] },
  );
  function unlinked(next_billing_date: string | null) {
    return { items: { si_1: { service: null } }, services: { 'S-1': { next_billing_date } } };
  }
});

describe('a completed checkout', () => {
  const incomplete = created('sub_1', { status: 'incomplete' }, { at: 0 });
  const activating = (payment_status: string): Rule => ({
    inSql: payment_status === 'paid',
    events: [incomplete, completed('cs_1', { payment_status }, { at: 0 })],
    orders: 'all',
    rows: { subscriptions: { sub_1: { ...active, provider_as_of: new Date(NOON * 1000) } } },
  });
  const active = { status: 'active', recheck_at: expect.any(Date) };

  testRules({
    'a paid checkout makes an incomplete subscription active': activating('paid'),
    'a checkout that requires no payment makes an incomplete subscription active':
      activating('no_payment_required'),
    'a checkout does not reactivate a cancelled subscription': {
      events: [incomplete, completed('cs_1', {}, { at: 0 }), deleted('sub_1', {}, { at: 0 })],
      orders: 'all',
      rows: { subscriptions: { sub_1: { status: 'cancelled' } } },
    },
  });
});

/** Recorded events with unique object ids, because recordings of different accounts share ids. */
const recorded = recordedEvents().map(({ read }, i): EventContent => {
  const { data, created, ...event } = read() as { data: { object: object }; created: number; id: string };
  const object = { ...data.object, ...('id' in data.object && { id: `${data.object.id}_${i}` }) };
  return { ...event, object, at: created - NOON, id: `${event.id}_${i}` } as unknown as EventContent;
});

describe.runIf(recorded.length > 0)('recorded events of many API versions', () => {
  const handled = recorded.filter(({ type }) => HANDLED_EVENT_TYPES.includes(type));
  const by = (keyOf: (one: EventContent) => unknown) => {
    const keys = handled.map((one) => `${keyOf(one)} ${one.id}`);
    return [...keys.keys()].sort((a, b) => (String(keys[a]) < String(keys[b]) ? -1 : 1));
  };
  const all = [...handled.keys()];
  const sorted = [by(({ id }) => id), by(({ type }) => type), by(({ object }) => object.id)];
  const ways = [all, all.toReversed(), ...sorted];
  let first: object | undefined;

  testRules({
    'recorded Stripe events lead to consistent rows and the same customers in different orders': {
      inSql: true,
      events: [
        ...handled,
        async (scene) => {
          const view = await scene.rows();
          expect(inconsistencies(view)).toEqual([]);
          const made = Object.entries(view.links).map(([id, { customer }]) => {
            const { last_name, email, phone, street, city, country } = view.customers[String(customer)] ?? {};
            return [id, { last_name, email, phone, street, city, country }];
          });
          first ??= Object.fromEntries(made);
          expect(Object.fromEntries(made)).toEqual(first);
        },
      ],
      orders: ways.map((way) => [...way, handled.length]),
    },
  });

  /** Returns the names of rows that break a rule that must hold after all events. */
  function inconsistencies({ customers, events, invoices, links, payments, subscriptions }: View): string[] {
    const linked = Object.values(links).map((link) => link.customer);
    const where = (rows: View['events'], isWrong: (row: View['events'][string]) => boolean) =>
      Object.entries(rows).flatMap(([key, row]) => (isWrong(row) ? [key] : []));
    return [
      ...where(events, ({ outcome }) => outcome === 'failed'),
      ...where(payments, ({ customer, of, amount }) => {
        const invoice = invoices[String(of)];
        const isTooMuch = invoice?.status === 'paid' && Number(amount) > Number(invoice.amount_paid);
        return invoice?.customer !== customer || isTooMuch;
      }),
      ...where(invoices, ({ customer, subscription, stripe_customer_id, status, amount_due }) => {
        const owner = links[String(stripe_customer_id)]?.customer;
        const payer = subscription ? subscriptions[String(subscription)]?.customer : owner;
        return owner !== customer || payer !== customer || (status === 'paid' && Number(amount_due) > 0);
      }),
      ...where(subscriptions, ({ status, ...row }) => {
        return status === 'cancelled' && row.ended_at === null && row.stripe_synced_at === null;
      }),
      ...Object.keys(customers).filter((name) => !linked.includes(name)),
    ];
  }
});
