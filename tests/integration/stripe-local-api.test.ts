import Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededChance } from '@/lib/chance';
import { fetchObject } from '@/lib/stripe/fetch';
import { createWorld } from '@/lib/stripe-local/world';
import * as act from '../support/stripe-actions';
import { type StripeLocal, startStripeLocal } from '../support/stripe-server';

const KEY = 'sk_test_local';

let now = Date.parse('2026-03-15T12:00:00Z');
const world = createWorld({ now: () => new Date(now), chance: seededChance(3) });
const customer = act.createCustomer(world, { email: 'ada@example.com', name: 'Ada' }).object.id;
let local: StripeLocal;
let stripe: Stripe;

beforeAll(async () => {
  local = await startStripeLocal({ world, secretKey: KEY });
  stripe = client();
});
afterAll(() => local.close());

const client = (key = KEY) =>
  new Stripe(key, { host: '127.0.0.1', port: local.port, protocol: 'http', maxNetworkRetries: 0 });
const ask = async (path: string, headers: Record<string, string> = {}, url = local.url) => {
  const response = await fetch(url + path, {
    headers: { authorization: `Bearer ${KEY}`, 'stripe-version': Stripe.API_VERSION, ...headers },
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
};
const tick = () => {
  now += 1000;
};
/** Makes objects a second apart, and returns them newest first. */
const makeEach = <T>(count: number, make: (i: number) => { object: T }): T[] =>
  Array.from({ length: count }, (_, i) => {
    tick();
    return make(i).object;
  }).reverse();
const idsOf = (objects: ({ id: string } | undefined)[]) => objects.map((object) => object?.id);
const pageOf = async (path: string) => {
  const { data, has_more } = (await ask(`/v1/${path}`)).body as { data: { id: string }[]; has_more: boolean };
  return { ids: idsOf(data), has_more };
};

/** Expects the list for each filter to contain exactly the given objects. */
async function expectLists(base: string, lists: [filters: string, ({ id: string } | undefined)[]][]) {
  for (const [filters, objects] of lists) {
    expect([filters, (await pageOf(`${base}${filters}`)).ids]).toEqual([filters, idsOf(objects)]);
  }
}

const newCustomer = () => act.createCustomer(world).object.id;
const subscribe = (owner = customer) =>
  act.createSubscription(world, { customer: owner, items: [{ unitAmount: 990 }] });
const open = (amount: number, owner = customer) => {
  const { object } = act.createInvoice(world, { customer: owner, lines: [{ amount }] });
  return act.finalizeInvoice(world, object.id).object.id;
};

describe('lists of the local Stripe API', () => {
  test('a list of the local Stripe API is paged newest first', async () => {
    const other = newCustomer();
    const made = Array.from({ length: 120 }, (_, i) => {
      if (i % 3 === 0) tick();
      return subscribe(other).object;
    });
    const before = local.requestCount();
    const all = stripe.subscriptions.list({ customer: other, limit: 50 });
    const listed = await all.autoPagingToArray({ limit: 500 });
    expect(local.requestCount() - before).toBe(3);
    expect(idsOf(listed).sort()).toEqual(idsOf(made).sort());
    const order = listed.map(({ created, id }) => `${created} ${id}`);
    expect(order).toEqual([...order].sort().reverse());
  });

  test('subscriptions of the local Stripe API can be filtered by status, time and price', async () => {
    const own = newCustomer();
    const [ended, active] = makeEach(2, () => subscribe(own));
    act.cancelSubscription(world, ended?.id ?? '');
    await expectLists(`subscriptions?customer=${own}`, [
      ['', [active]],
      ['&status=all', [ended, active]],
      ['&status=canceled', [ended]],
      ['&status=ended', [ended]],
      ['&status=past_due', []],
      [`&status=all&created[gt]=${active?.created}`, [ended]],
      [`&status=all&created[gte]=${active?.created}&created[lt]=${ended?.created}`, [active]],
      [`&status=all&created[lte]=${active?.created}`, [active]],
      [`&status=all&created=${ended?.created}`, [ended]],
      [`&price=${active?.items[0]?.priceId}`, [active]],
    ]);
  });

  test('the local Stripe API refuses a cursor that the filter excludes', async () => {
    const own = newCustomer();
    const [newest] = makeEach(3, () => subscribe(own));
    act.updateSubscription(world, newest?.id ?? '', { status: 'past_due' });
    const left = await ask(`/v1/subscriptions?customer=${own}&status=active&starting_after=${newest?.id}`);
    const error = { code: 'resource_missing', param: 'starting_after' };
    expect(left).toMatchObject({ status: 400, body: { error } });
    const [above, deleted, below] = makeEach(3, () => act.createInvoice(world, { customer: own, lines: [] }));
    act.deleteDraftInvoice(world, deleted?.id ?? '');
    await expectLists(`invoices?customer=${own}`, [
      [`&starting_after=${deleted?.id}`, [below]],
      [`&ending_before=${deleted?.id}`, [above]],
    ]);
    expect((await ask(`/v1/invoices/${deleted?.id}`)).status).toBe(404);
  });
});

describe('objects of the local Stripe API', () => {
  test('fetching an invoice from Stripe returns all its payments if there are more than ten', async () => {
    tick();
    const id = open(1200);
    for (let i = 0; i < 11; i += 1) act.payInvoicePart(world, id, 100);
    act.payInvoice(world, id);
    const [invoice] = (await stripe.invoices.list({ limit: 1, expand: ['data.payments'] })).data;
    expect(invoice?.payments).toMatchObject({ has_more: true, data: { length: 10 } });
    const fetched = await fetchObject(stripe, () => new Date(now), 'invoice', id);
    const intents = [...world.invoicePayments.where('invoice', id)].flatMap(({ payment }) =>
      payment.type === 'payment_intent' ? payment.payment_intent : [],
    );
    expect(new Set(intents).size).toBe(12);
    const moneyIds = expect.arrayContaining(intents);
    expect(fetched).toMatchObject({ state: 'found', object: { id, moneyIds, amountPaid: '12.00' } });
  });

  test('an invoice of the local Stripe API contains its payments only if expanded', async () => {
    tick();
    const id = open(1000);
    const paymentIntent = world.invoices.get(id)?.paymentIntent ?? '';
    act.failInvoicePayment(world, id);
    expect(await stripe.invoices.retrieve(id)).not.toHaveProperty('payments');
    const deep = await stripe.invoices.retrieve(id, {
      expand: ['payments.data.payment.payment_intent', 'customer', 'amount_paid_off_stripe'],
    });
    const last_payment_error = { code: 'card_declined' };
    const failed = { id: paymentIntent, status: 'requires_payment_method', last_payment_error };
    expect(deep).toMatchObject({
      ...{ customer: { id: customer, object: 'customer' }, amount_paid_off_stripe: 0 },
      payments: { data: [{ status: 'open', payment: { payment_intent: failed } }], has_more: false },
    });
    act.payInvoice(world, id, { offStripe: 300 });
    const expand = ['data.payments', 'data.amount_paid_off_stripe'];
    const [listed] = (await stripe.invoices.list({ limit: 1, expand })).data;
    expect(listed).toMatchObject({ id, amount_paid_off_stripe: 300 });
    const types = listed?.payments?.data.map(({ payment }) => payment.type).sort();
    expect(types).toEqual(['payment_intent', 'payment_record']);
    expect((await stripe.paymentIntents.retrieve(paymentIntent)).amount_received).toBe(700);
    // Expanding does not change the stored objects, and a null value can be expanded.
    await stripe.subscriptions.list({ limit: 1, expand: ['data.latest_invoice'] });
    expect((await stripe.invoices.retrieve(id)).customer).toBe(customer);
  });
});

describe('refused requests to the local Stripe API', () => {
  const unknown = (object: string, id: string, param: string) =>
    ['resource_missing', `No such ${object}: '${id}'`, param] as const;
  const parameter = (message: string, param: string) =>
    ['parameter_unknown', `Received unknown parameter${message}`, param] as const;

  test.each<[string, number, code: string | undefined, message: string | RegExp, param: string | undefined]>([
    ['subscriptions/sub_no', 404, ...unknown('subscription', 'sub_no', 'id')],
    ['invoices?starting_after=in_no', 400, ...unknown('invoice', 'in_no', 'starting_after')],
    ['invoices?customer=cus_no', 400, ...unknown('customer', 'cus_no', 'customer')],
    ['invoices?created[from]=1', 400, ...parameter(': created[from]', 'created[from]')],
    ['charges', 404, undefined, 'Unrecognized request URL (GET: /v1/charges).', undefined],
    ['subscription_items', 400, 'parameter_missing', /subscription/, 'subscription'],
    ['invoices?limit=ten', 400, 'parameter_invalid_integer', 'Invalid integer: ten', 'limit'],
    ['subscriptions?status=cancelled', 400, undefined, /^Invalid status: .* active, .*, or ended$/, 'status'],
    ['invoices?starting_after=a&ending_before=b', 400, undefined, /both starting_after and/, undefined],
    ['invoices?expand[]=data.payments.data.payment.payment_intent', 400, undefined, /4 levels/, undefined],
    ['invoices?expand[]=payments', 400, undefined, /expanded \(payments\).*'data.payments'/, undefined],
  ])(
    'the local Stripe API refuses the request %s with %i %s',
    async (path, expected, code, message, param) => {
      const { status, body } = await ask(`/v1/${path}`);
      const error = { type: 'invalid_request_error', code, param };
      const sentence = typeof message === 'string' ? message : expect.stringMatching(message);
      const { doc_url: _, ...found } = (body as { error: Record<string, string> }).error;
      expect([status, found]).toEqual([expected, { ...error, message: sentence }]);
    },
  );

  test('the local Stripe API refuses a wrong API key', async () => {
    const stranger = client('sk_test_other').customers.list();
    await expect(stranger).rejects.toMatchObject({ type: 'StripeAuthenticationError', statusCode: 401 });
    expect(await ask('/v1/customers', { authorization: '' })).toMatchObject({ status: 401 });
    const message = expect.stringContaining('Invalid Stripe API version: 2020-08-27');
    expect(await ask('/v1/customers', { 'stripe-version': '2020-08-27' })).toMatchObject({
      status: 400,
      body: { error: { message } },
    });
    await expect(stripe.customers.create({})).rejects.toMatchObject({ statusCode: 404 });
  });
});
