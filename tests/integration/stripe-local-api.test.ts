import { get } from 'node:http';
import Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  cancelSubscription,
  completeCheckout,
  createCheckoutSession,
  createCustomer,
  createInvoice,
  createSubscription,
  deleteCustomer,
  deleteDraftInvoice,
  failInvoicePayment,
  finalizeInvoice,
  payInvoice,
  updateSubscription,
} from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { createWorld } from '@/lib/stripe-local/world';

const KEY = 'sk_test_local';
const START = Date.parse('2026-03-15T12:00:00Z');

describe('the local Stripe API', () => {
  let now = START;
  const world = createWorld({ now: () => new Date(now), chance: seededChance(3) });
  const customer = createCustomer(world, { email: 'ada@example.com' }).object.id;
  let local: StripeLocal;
  let stripe: Stripe;

  const client = (key: string, options: Partial<ConstructorParameters<typeof Stripe>[1]> = {}) =>
    new Stripe(key, {
      host: '127.0.0.1',
      port: local.port,
      protocol: 'http',
      maxNetworkRetries: 0,
      telemetry: false,
      ...options,
    });
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(local.url + path, {
      headers: { authorization: `Bearer ${KEY}`, 'stripe-version': Stripe.API_VERSION, ...headers },
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  const tick = () => {
    now += 1000;
  };

  beforeAll(async () => {
    local = await startStripeLocal({ world, secretKey: KEY });
    stripe = client(KEY);
  });
  afterAll(() => local.close());

  test('pages through more than 250 objects, newest first, several in one second', async () => {
    const other = createCustomer(world).object.id;
    const made: string[] = [];
    for (let i = 0; i < 260; i++) {
      if (i % 3 === 0) tick();
      made.push(createSubscription(world, { customer: other, items: [{ unitAmount: 990 }] }).object.id);
    }
    const before = local.requestCount();
    const listed: Stripe.Subscription[] = [];
    for await (const one of stripe.subscriptions.list({ customer: other, limit: 100 })) listed.push(one);
    expect(local.requestCount() - before).toBe(3);
    expect(listed.map(({ id }) => id).sort()).toEqual([...made].sort());
    const order = listed.map(({ created, id }) => `${created} ${id}`);
    expect(order).toEqual([...order].sort().reverse());
  });

  test('a page knows its limits', async () => {
    const first = await stripe.subscriptions.list({ limit: 3 });
    expect(first.data).toHaveLength(3);
    expect(first).toMatchObject({ object: 'list', has_more: true, url: '/v1/subscriptions' });
    const cursor = first.data[2]?.id ?? '';
    const second = await stripe.subscriptions.list({ limit: 2, starting_after: cursor });
    const back = await stripe.subscriptions.list({ limit: 2, ending_before: second.data[0]?.id ?? '' });
    expect(back.data.map(({ id }) => id)).toEqual(first.data.slice(1).map(({ id }) => id));
    expect(back.has_more).toBe(true);
    const top = await stripe.subscriptions.list({ limit: 10, ending_before: cursor });
    expect(top.data.map(({ id }) => id)).toEqual(first.data.slice(0, 2).map(({ id }) => id));
    expect(top.has_more).toBe(false);
    expect((await stripe.subscriptions.list()).data).toHaveLength(10);
    expect((await stripe.subscriptions.list({ limit: 0 })).data).toHaveLength(1);
    expect((await stripe.subscriptions.list({ limit: 101 })).data).toHaveLength(100);
  });

  test('filters subscriptions by status and created', async () => {
    const own = createCustomer(world).object.id;
    tick();
    const active = createSubscription(world, { customer: own, items: [{ unitAmount: 1 }] }).object;
    tick();
    const ended = createSubscription(world, { customer: own, items: [{ unitAmount: 1 }] }).object;
    cancelSubscription(world, ended.id);
    const ids = async (params: Stripe.SubscriptionListParams) =>
      (await stripe.subscriptions.list({ customer: own, ...params })).data.map(({ id }) => id);
    expect(await ids({})).toEqual([active.id]);
    expect(await ids({ status: 'all' })).toEqual([ended.id, active.id]);
    expect(await ids({ status: 'canceled' })).toEqual([ended.id]);
    expect(await ids({ status: 'ended' })).toEqual([ended.id]);
    expect(await ids({ status: 'past_due' })).toEqual([]);
    expect(await ids({ status: 'all', created: { gt: active.created } })).toEqual([ended.id]);
    expect(await ids({ status: 'all', created: { gte: active.created, lt: ended.created } })).toEqual([
      active.id,
    ]);
    expect(await ids({ status: 'all', created: { lte: active.created } })).toEqual([active.id]);
    expect(await ids({ status: 'all', created: ended.created })).toEqual([ended.id]);
    expect(await ids({ price: active.items[0]?.priceId ?? '' })).toEqual([active.id]);
  });

  test('filters invoices, their payments, sessions, customers and events', async () => {
    const session = createCheckoutSession(world, { customer, items: [{ unitAmount: 990 }] });
    const { subscription, invoice } = completeCheckout(world, session.id).object;
    if (!subscription || !invoice) throw new Error('the checkout made nothing');
    const { object: draft } = createInvoice(world, { customer, lines: [{ amount: 5 }] });
    const ids = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
    expect(ids(await stripe.invoices.list({ subscription }))).toEqual([invoice]);
    expect(ids(await stripe.invoices.list({ customer, status: 'draft' }))).toEqual([draft.id]);
    expect(ids(await stripe.invoicePayments.list({ invoice, status: 'open' }))).toEqual([]);
    const payments = await stripe.invoicePayments.list({ invoice, status: 'paid' });
    expect(payments.data).toMatchObject([{ amount_paid: 990, payment: { type: 'payment_intent' } }]);
    expect(ids(await stripe.checkout.sessions.list({ subscription }))).toEqual([session.id]);
    expect((await stripe.checkout.sessions.retrieve(session.id)).subscription).toBe(subscription);
    expect(ids(await stripe.customers.list({ email: 'ada@example.com' }))).toEqual([customer]);
    const events = await stripe.events.list({ types: ['checkout.session.completed', 'invoice.deleted'] });
    expect(events.data).toMatchObject([
      { type: 'checkout.session.completed', api_version: Stripe.API_VERSION },
    ]);
    const invoiceEvents = await stripe.events.list({ type: 'invoice.*', limit: 100 });
    expect(invoiceEvents.data.every(({ type }) => type.startsWith('invoice.'))).toBe(true);
    expect((await stripe.events.retrieve(events.data[0]?.id ?? '')).type).toBe('checkout.session.completed');
  });

  test('expands up to four levels, and payments only on demand', async () => {
    tick();
    const { object } = createInvoice(world, { customer, lines: [{ amount: 1000 }] });
    const { paymentIntent } = finalizeInvoice(world, object.id).object;
    failInvoicePayment(world, object.id);
    expect(await stripe.invoices.retrieve(object.id)).not.toHaveProperty('payments');
    const deep = await stripe.invoices.retrieve(object.id, {
      expand: ['payments.data.payment.payment_intent', 'customer', 'amount_paid_off_stripe'],
    });
    expect(deep).toMatchObject({
      customer: { id: customer, object: 'customer' },
      amount_paid_off_stripe: 0,
      payments: {
        data: [
          {
            status: 'open',
            payment: {
              payment_intent: {
                id: paymentIntent,
                status: 'requires_payment_method',
                last_payment_error: { code: 'card_declined' },
              },
            },
          },
        ],
        has_more: false,
      },
    });
    payInvoice(world, object.id, { offStripe: 300 });
    const [listed] = (
      await stripe.invoices.list({ limit: 1, expand: ['data.payments', 'data.amount_paid_off_stripe'] })
    ).data;
    expect(listed).toMatchObject({ id: object.id, amount_paid_off_stripe: 300 });
    expect(listed?.payments?.data.map(({ payment }) => payment.type).sort()).toEqual([
      'payment_intent',
      'payment_record',
    ]);
    expect((await stripe.paymentIntents.retrieve(paymentIntent ?? '')).amount_received).toBe(700);
    // What is null stays null, and what is expanded does not stay in the world.
    expect(
      (await stripe.subscriptions.list({ limit: 1, expand: ['data.latest_invoice'] })).data,
    ).toHaveLength(1);
    expect((await stripe.invoices.retrieve(object.id)).customer).toBe(customer);
    expect(
      (await stripe.invoicePayments.list({ invoice: object.id })).data[0]?.payment.payment_intent,
    ).not.toBeInstanceOf(Object);
  });

  test.each([
    ['/v1/invoices?expand[]=data.payments.data.payment.payment_intent', /more than 4 levels/],
    ['/v1/invoices?expand[]=payments', /cannot be expanded \(payments\).*'data.payments'/],
    ['/v1/invoices?expand[]=data.charge', /cannot be expanded \(charge\)/],
    ['/v1/subscriptions?expand[0]=data.payments', /cannot be expanded \(payments\)/],
  ])('%s is refused', async (path, message) => {
    expect(await ask(path)).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringMatching(message) } },
    });
  });

  test('items beyond the tenth of a subscription have pages of their own', async () => {
    const items = Array.from({ length: 25 }, (_, i) => ({ unitAmount: i }));
    const { id } = createSubscription(world, { customer, items }).object;
    const embedded = (await stripe.subscriptions.retrieve(id)).items;
    expect([embedded.data.length, embedded.has_more]).toEqual([10, true]);
    const listed = await stripe.subscriptionItems
      .list({ subscription: id, limit: 10 })
      .autoPagingToArray({ limit: 100 });
    expect(listed.map(({ price }) => price.unit_amount)).toEqual(items.map(({ unitAmount }) => unitAmount));
    expect((await ask('/v1/subscription_items')).body.error.code).toBe('parameter_missing');
    const unknown = await ask('/v1/subscription_items?subscription=sub_x');
    expect([unknown.status, unknown.body.error.code]).toEqual([400, 'resource_missing']);
  });

  test('lines have pages of their own', async () => {
    const lines = Array.from({ length: 25 }, (_, i) => ({ amount: i }));
    const { object } = createInvoice(world, { customer, lines });
    const embedded = (await stripe.invoices.retrieve(object.id)).lines;
    expect([embedded.data.length, embedded.has_more]).toEqual([10, true]);
    const all = await stripe.invoices
      .listLineItems(object.id, { limit: 10 })
      .autoPagingToArray({ limit: 100 });
    expect(all.map(({ amount }) => amount)).toEqual(lines.map(({ amount }) => amount));
    const cursor = all[5]?.id ?? '';
    const before = await stripe.invoices.listLineItems(object.id, { limit: 2, ending_before: cursor });
    expect(before.data.map(({ amount }) => amount)).toEqual([3, 4]);
    await expect(stripe.invoices.listLineItems(object.id, { starting_after: 'il_no' })).rejects.toMatchObject(
      {
        code: 'resource_missing',
      },
    );
  });

  test('a cursor that left the filter is missing, one that was deleted still works', async () => {
    const own = createCustomer(world).object.id;
    const subs = Array.from({ length: 3 }, () => {
      tick();
      return createSubscription(world, { customer: own, items: [{ unitAmount: 1 }] }).object.id;
    });
    const newest = subs[2] ?? '';
    updateSubscription(world, newest, { status: 'past_due' });
    const page = (starting_after: string) =>
      stripe.subscriptions.list({ customer: own, status: 'active', starting_after });
    await expect(page(newest)).rejects.toMatchObject({
      code: 'resource_missing',
      param: 'starting_after',
      statusCode: 400,
    });

    const drafts = Array.from({ length: 3 }, () => {
      tick();
      return createInvoice(world, { customer: own, lines: [] }).object.id;
    });
    deleteDraftInvoice(world, drafts[1] ?? '');
    const rest = await stripe.invoices.list({ customer: own, starting_after: drafts[1] ?? '' });
    expect(rest.data.map(({ id }) => id)).toEqual([drafts[0]]);
    const above = await stripe.invoices.list({ customer: own, ending_before: drafts[1] ?? '' });
    expect(above.data.map(({ id }) => id)).toEqual([drafts[2]]);
    await expect(stripe.invoices.retrieve(drafts[1] ?? '')).rejects.toMatchObject({ statusCode: 404 });
  });

  test('a deleted customer answers so, is in no list, and still works as a cursor', async () => {
    tick();
    const { id } = createCustomer(world).object;
    deleteCustomer(world, id);
    expect(await stripe.customers.retrieve(id)).toMatchObject({ id, object: 'customer', deleted: true });
    expect((await stripe.customers.list({ limit: 1 })).data[0]?.id).not.toBe(id);
    expect((await stripe.customers.list({ limit: 1, starting_after: id })).data).toHaveLength(1);
  });

  test.each([
    ['/v1/subscriptions/sub_no', 404, 'resource_missing', "No such subscription: 'sub_no'", 'id'],
    ['/v1/invoices/in_no/lines', 404, 'resource_missing', "No such invoice: 'in_no'", 'id'],
    ['/v1/customers/cus_no', 404, 'resource_missing', "No such customer: 'cus_no'", 'id'],
    ['/v1/events/evt_no', 404, 'resource_missing', "No such event: 'evt_no'", 'id'],
    [
      '/v1/invoices?starting_after=in_no',
      400,
      'resource_missing',
      "No such invoice: 'in_no'",
      'starting_after',
    ],
    [
      '/v1/invoices?ending_before=in_no',
      400,
      'resource_missing',
      "No such invoice: 'in_no'",
      'ending_before',
    ],
    ['/v1/invoices?customer=cus_no', 400, 'resource_missing', "No such customer: 'cus_no'", 'customer'],
    ['/v1/invoices?limit=ten', 400, 'parameter_invalid_integer', 'Invalid integer: ten', 'limit'],
    ['/v1/invoices?created[gte]=x', 400, 'parameter_invalid_integer', 'Invalid integer: x', 'created[gte]'],
    [
      '/v1/invoices?created[from]=1',
      400,
      'parameter_unknown',
      'Received unknown parameter: created[from]',
      'created[from]',
    ],
    ['/v1/invoices?foo=1&bar=2', 400, 'parameter_unknown', 'Received unknown parameters: foo, bar', 'foo'],
    ['/v1/invoices/in_no?limit=1', 400, 'parameter_unknown', 'Received unknown parameter: limit', 'limit'],
    [
      '/v1/invoices?starting_after=a&ending_before=b',
      400,
      undefined,
      /both starting_after and ending_before/,
      undefined,
    ],
    [
      '/v1/subscriptions?status=cancelled',
      400,
      undefined,
      /^Invalid status: must be one of active, .*, or ended$/,
      'status',
    ],
    ['/v1/charges', 404, undefined, 'Unrecognized request URL (GET: /v1/charges).', undefined],
  ])('%s answers %i %s', async (path, status, code, message, param) => {
    const answer = await ask(path);
    expect(answer.status).toBe(status);
    const { error } = answer.body as { error: Record<string, string> };
    expect(error.type).toBe('invalid_request_error');
    expect([error.code, error.param]).toEqual([code, param]);
    if (typeof message === 'string') expect(error.message).toBe(message);
    else expect(error.message).toMatch(message);
  });

  test('only the key and the version it was told may ask', async () => {
    await expect(client('sk_test_other').customers.list()).rejects.toMatchObject({
      type: 'StripeAuthenticationError',
      statusCode: 401,
    });
    expect(await ask('/v1/customers', { authorization: '' })).toMatchObject({ status: 401 });
    expect(await ask('/v1/customers', { 'stripe-version': '2020-08-27' })).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('Invalid Stripe API version: 2020-08-27') } },
    });
    await expect(stripe.customers.create({})).rejects.toMatchObject({ statusCode: 404 });
  });

  test.each(['//', '/v1/customers/%', '/%zz', '/v1/customers/', '/'])(
    '%s is no request of ours',
    async (path) => {
      const { status } = await new Promise<{ status: number | undefined }>((done, failed) => {
        const headers = { authorization: `Bearer ${KEY}`, 'stripe-version': Stripe.API_VERSION };
        get({ port: local.port, path, headers }, (res) => done({ status: res.statusCode })).on(
          'error',
          failed,
        );
      });
      expect(status).toBe(404);
    },
  );

  test('every answer has a request id and the date of the world', async () => {
    for (const path of ['/v1/customers', '/v1/customers/cus_no', '/v1/customers?limit=x']) {
      const { headers } = await ask(path);
      expect(headers.get('request-id')).toMatch(/^req_\w{24}$/);
      expect(headers.get('date')).toBe(new Date(now).toUTCString());
    }
  });

  test('an older version can be asked for, and gets its shape', async () => {
    const old = await startStripeLocal({ world, secretKey: KEY, apiVersion: '2023-10-16' });
    const headers = { authorization: `Bearer ${KEY}`, 'stripe-version': '2023-10-16' };
    const path = '/v1/invoices?limit=1&expand[]=data.payment_intent&expand[]=data.subscription';
    const answer = await fetch(old.url + path, { headers });
    const { data } = (await answer.json()) as { data: object[] };
    expect(data[0]).toHaveProperty('paid_out_of_band');
    const refused = await fetch(`${old.url}/v1/invoices?expand[]=data.payments`, { headers });
    expect(refused.status).toBe(400);
    await old.close();
  });
});
