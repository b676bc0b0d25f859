import { get } from 'node:http';
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
const paid = (amount: number) => {
  const { id, paymentIntent, charge } = act.payInvoice(world, open(amount)).object;
  return { invoice: id, payment_intent: paymentIntent, charge };
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

  test('a page of the local Stripe API has 10 objects by default', async () => {
    const [one, two, three, four] = (await pageOf('subscriptions?limit=4')).ids;
    const back = await pageOf(`subscriptions?limit=2&ending_before=${four}`);
    expect(back).toEqual({ ids: [two, three], has_more: true });
    const top = await pageOf(`subscriptions?limit=10&ending_before=${three}`);
    expect(top).toEqual({ ids: [one, two], has_more: false });
    const sizes = ['', '?limit=0', '?limit=101'].map(
      async (limit) => (await pageOf(`subscriptions${limit}`)).ids.length,
    );
    expect(await Promise.all(sizes)).toEqual([10, 1, 100]);
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

  test('invoices of the local Stripe API can be filtered by subscription and status', async () => {
    const session = act.createCheckoutSession(world, { customer, items: [{ unitAmount: 990 }] });
    const { subscription, invoice } = act.completeCheckout(world, session.id).object;
    const { object: draft } = act.createInvoice(world, { customer, lines: [{ amount: 5 }] });
    const [payment] = world.invoicePayments.where('invoice', invoice ?? '');
    const ofType = (type: string) => world.history.filter((event) => event.type === type);
    const noted = ofType('checkout.session.completed');
    await expectLists('', [
      [`invoices?subscription=${subscription}`, [{ id: String(invoice) }]],
      [`invoices?customer=${customer}&status=draft`, [draft]],
      [`invoice_payments?invoice=${invoice}&status=open`, []],
      [`invoice_payments?invoice=${invoice}&status=paid`, [payment]],
      [`checkout/sessions?subscription=${subscription}&status=complete`, [session]],
      ['customers?email=ada@example.com', [{ id: customer }]],
      ['events?types[]=checkout.session.completed&types[]=invoice.deleted', noted],
      ['events?type=checkout.session.*', noted],
    ]);
    expect((await stripe.checkout.sessions.retrieve(session.id)).subscription).toBe(subscription);
    const event = await stripe.events.retrieve(noted[0]?.id ?? '');
    expect(event).toMatchObject({ type: 'checkout.session.completed', api_version: Stripe.API_VERSION });
  });

  test('refunds of the local Stripe API can be filtered by payment intent and time', async () => {
    const { invoice, payment_intent, charge } = paid(1000);
    act.refundPayment(world, { invoice: paid(5).invoice });
    const refunds = makeEach(5, () => act.refundPayment(world, { invoice, amount: 1 }));
    await expectLists('refunds?', [
      [`payment_intent=${payment_intent}&limit=4`, refunds.slice(0, 4)],
      [`charge=${charge}`, refunds],
      [`created[gte]=${refunds[0]?.created}`, refunds.slice(0, 1)],
    ]);
    const [asked] = makeEach(1, () => act.openDispute(world, { invoice, amount: 400, inquiry: true }));
    const [returned] = makeEach(1, () => act.returnDebit(world, { invoice }));
    await expectLists('disputes?', [
      [`payment_intent=${payment_intent}`, [returned, asked]],
      [`charge=${charge}&limit=1&starting_after=${returned?.id}`, [asked]],
      [`created[gt]=${asked?.created}`, [returned]],
    ]);
    const owner = newCustomer();
    const [one = '', other = ''] = [open(1000, owner), open(500, owner)];
    const [last, second, first] = makeEach(3, (i) =>
      act.createCreditNote(world, { invoice: i === 1 ? other : one, amount: 100 }),
    );
    await expectLists('credit_notes?', [
      [`customer=${owner}`, [last, second, first]],
      [`invoice=${other}`, [second]],
      [`customer=${owner}&invoice=${one}`, [last, first]],
      [`created[gte]=${last?.created}`, [last]],
    ]);
  });

  test('an invoice of the local Stripe API embeds its first ten lines', async () => {
    const amounts = Array.from({ length: 25 }, (_, i) => i);
    const items = amounts.map((unitAmount) => ({ unitAmount }));
    const { id: subscription } = act.createSubscription(world, { customer, items }).object;
    const lines = amounts.map((amount) => ({ amount }));
    const { id: invoice } = act.createInvoice(world, { customer, lines }).object;
    const embedded = [
      (await stripe.subscriptions.retrieve(subscription)).items,
      (await stripe.invoices.retrieve(invoice)).lines,
    ];
    expect(embedded.map(({ data, has_more }) => [data.length, has_more])).toEqual([
      [10, true],
      [10, true],
    ]);
    const page = { limit: 10 };
    const allItems = await stripe.subscriptionItems
      .list({ subscription, ...page })
      .autoPagingToArray({ limit: 100 });
    expect(allItems.map(({ price }) => price.unit_amount)).toEqual(amounts);
    const allLines = await stripe.invoices.listLineItems(invoice, page).autoPagingToArray({ limit: 100 });
    expect(allLines.map(({ amount }) => amount)).toEqual(amounts);
    const path = `invoices/${invoice}/lines?limit=2`;
    await expectLists(path, [[`&ending_before=${allLines[5]?.id}`, allLines.slice(3, 5)]]);
    expect((await ask(`/v1/${path}&starting_after=il_no`)).status).toBe(400);
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

  test('a deleted customer of the local Stripe API still works as a cursor', async () => {
    const [before, gone] = makeEach(2, () => act.createCustomer(world)).reverse();
    act.deleteCustomer(world, gone?.id ?? '');
    expect(await stripe.customers.retrieve(gone?.id ?? '')).toMatchObject({
      object: 'customer',
      deleted: true,
    });
    await expectLists('customers?limit=1', [
      ['', [before]],
      [`&starting_after=${gone?.id}`, [before]],
    ]);
  });
});

describe('objects of the local Stripe API', () => {
  test('fetching an invoice from Stripe returns more than ten of its payments', async () => {
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

  test('the charge of a refund can be expanded in the local Stripe API', async () => {
    const { invoice, payment_intent, charge } = paid(1000);
    const { id: refund } = act.refundPayment(world, { invoice, amount: 100 }).object;
    const { id: dispute } = act.openDispute(world, { invoice, inquiry: true }).object;
    const expand = ['charge', 'payment_intent.customer'];
    const expanded = {
      charge: { id: charge, amount: 1000, amount_refunded: 100, refunded: false, disputed: true },
      payment_intent: { id: payment_intent, customer: { id: customer } },
    };
    expect(await stripe.refunds.retrieve(refund, { expand })).toMatchObject({
      object: 'refund',
      ...expanded,
    });
    expect(await stripe.disputes.retrieve(dispute, { expand })).toMatchObject({
      object: 'dispute',
      ...expanded,
    });
    const { id } = act.createCreditNote(world, { invoice, amount: 50, outOfBandAmount: 50 }).object;
    const list = await stripe.creditNotes.list({ invoice, expand: ['data.invoice.customer'] });
    expect(list.data).toMatchObject([{ id, invoice: { id: invoice, customer: { id: customer } } }]);
    expect(await stripe.creditNotes.retrieve(id)).toMatchObject({ object: 'credit_note', invoice });
  });
});

describe('refused requests to the local Stripe API', () => {
  const unknown = (object: string, id: string, param: string) =>
    ['resource_missing', `No such ${object}: '${id}'`, param] as const;
  const parameter = (message: string, param: string) =>
    ['parameter_unknown', `Received unknown parameter${message}`, param] as const;

  test.each<[string, number, code: string | undefined, message: string | RegExp, param: string | undefined]>([
    ['subscriptions/sub_no', 404, ...unknown('subscription', 'sub_no', 'id')],
    ['invoices/in_no/lines', 404, ...unknown('invoice', 'in_no', 'id')],
    ['events/evt_no', 404, ...unknown('event', 'evt_no', 'id')],
    ['invoices?starting_after=in_no', 400, ...unknown('invoice', 'in_no', 'starting_after')],
    ['invoices?ending_before=in_no', 400, ...unknown('invoice', 'in_no', 'ending_before')],
    ['invoices?customer=cus_no', 400, ...unknown('customer', 'cus_no', 'customer')],
    ['refunds?charge=ch_x', 400, ...unknown('charge', 'ch_x', 'charge')],
    ['disputes?payment_intent=pi_x', 400, ...unknown('payment_intent', 'pi_x', 'payment_intent')],
    ['credit_notes?invoice=in_x', 400, ...unknown('invoice', 'in_x', 'invoice')],
    ['invoices?subscription=sub_x', 400, ...unknown('subscription', 'sub_x', 'subscription')],
    ['subscription_items?subscription=sub_x', 400, ...unknown('subscription', 'sub_x', 'subscription')],
    [
      'invoice_payments?payment[type]=payment_intent&payment[payment_intent]=pi_x',
      400,
      ...unknown('payment_intent', 'pi_x', 'payment[payment_intent]'),
    ],
    ['invoices?created[from]=1', 400, ...parameter(': created[from]', 'created[from]')],
    ['invoices?foo=1&bar=2', 400, ...parameter('s: foo, bar', 'foo')],
    ['invoices/in_no?limit=1', 400, ...parameter(': limit', 'limit')],
    ['disputes?status=lost', 400, ...parameter(': status', 'status')],
    ['refunds?customer=cus_x', 400, ...parameter(': customer', 'customer')],
    ['credit_notes?status=void', 400, ...parameter(': status', 'status')],
    ['invoice_payments?payment=pi_x', 400, ...parameter(': payment', 'payment')],
    ['charges', 404, undefined, 'Unrecognized request URL (GET: /v1/charges).', undefined],
    ['subscription_items', 400, 'parameter_missing', /subscription/, 'subscription'],
    ['invoice_payments?payment[payment_intent]=x', 400, 'parameter_missing', /\[type\]\.$/, 'payment[type]'],
    ['invoice_payments?payment[type]=charge', 400, undefined, /one of payment_intent or/, 'payment[type]'],
    ['invoices?limit=ten', 400, 'parameter_invalid_integer', 'Invalid integer: ten', 'limit'],
    ['invoices?created[gte]=x', 400, 'parameter_invalid_integer', 'Invalid integer: x', 'created[gte]'],
    ['subscriptions?status=cancelled', 400, undefined, /^Invalid status: .* active, .*, or ended$/, 'status'],
    ['invoices?starting_after=a&ending_before=b', 400, undefined, /both starting_after and/, undefined],
    ['invoices?expand[]=data.payments.data.payment.payment_intent', 400, undefined, /4 levels/, undefined],
    ['invoices?expand[]=payments', 400, undefined, /expanded \(payments\).*'data.payments'/, undefined],
    ['subscriptions?expand[0]=data.payments', 400, undefined, /expanded \(payments\)/, undefined],
    [
      'refunds?expand[]=data.invoice',
      400,
      undefined,
      /^This .* cannot be expanded \(invoice\)\.$/,
      undefined,
    ],
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

  test.each(['//', '/v1/customers/%', '/%zz', '/v1/customers/', '/'])(
    'the local Stripe API answers the path %s with 404',
    async (path) => {
      const headers = { authorization: `Bearer ${KEY}`, 'stripe-version': Stripe.API_VERSION };
      const status = await new Promise((done, failed) => {
        get({ port: local.port, path, headers }, (res) => done(res.statusCode)).on('error', failed);
      });
      expect(status).toBe(404);
    },
  );

  test('every response of the local Stripe API has a request id', async () => {
    for (const path of ['/v1/customers', '/v1/customers/cus_no', '/v1/customers?limit=x']) {
      const { headers } = await ask(path);
      expect(headers.get('request-id')).toMatch(/^req_\w{24}$/);
      expect(headers.get('date')).toBe(new Date(now).toUTCString());
    }
  });

  test('a local Stripe with an older API version responds in the shape of that version', async () => {
    const old = await startStripeLocal({ world, secretKey: KEY, apiVersion: '2023-10-16' });
    const headers = { 'stripe-version': '2023-10-16' };
    const path = '/v1/invoices?limit=1&expand[]=data.payment_intent&expand[]=data.subscription';
    const { body } = await ask(path, headers, old.url);
    expect((body as { data: object[] }).data[0]).toHaveProperty('paid_out_of_band');
    expect((await ask('/v1/invoices?expand[]=data.payments', headers, old.url)).status).toBe(400);
    await old.close();
  });
});
