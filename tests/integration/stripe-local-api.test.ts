import { get } from 'node:http';
import Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as act from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { createWorld } from '@/lib/stripe-local/world';

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
/** Makes objects a second apart. @returns them, the newest first */
const makeEach = <T>(count: number, make: (i: number) => { object: T }): T[] =>
  Array.from({ length: count }, (_, i) => {
    tick();
    return make(i).object;
  }).reverse();
const ids = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
const idsOf = (objects: { id: string }[]) => objects.map(({ id }) => id);

const subscribe = (owner = customer, unitAmount = 990) =>
  act.createSubscription(world, { customer: owner, items: [{ unitAmount }] });
const open = (amount: number, owner = customer) => {
  const { object } = act.createInvoice(world, { customer: owner, lines: [{ amount }] });
  return act.finalizeInvoice(world, object.id).object.id;
};
const paid = (amount: number) => {
  const { id, paymentIntent, charge } = act.payInvoice(world, open(amount)).object;
  if (!paymentIntent || !charge) throw new Error('Stripe collected nothing');
  return { invoice: id, payment_intent: paymentIntent, charge };
};

describe('lists of the local Stripe API', () => {
  test('a list is paged newest first, also with several objects in one second', async () => {
    const other = act.createCustomer(world).object.id;
    const made = Array.from({ length: 120 }, (_, i) => {
      if (i % 3 === 0) tick();
      return subscribe(other).object.id;
    });
    const before = local.requestCount();
    const listed = await stripe.subscriptions
      .list({ customer: other, limit: 50 })
      .autoPagingToArray({ limit: 500 });
    expect(local.requestCount() - before).toBe(3);
    expect(idsOf(listed).sort()).toEqual([...made].sort());
    const order = listed.map(({ created, id }) => `${created} ${id}`);
    expect(order).toEqual([...order].sort().reverse());
  });

  test('a page has 10 objects by default, 100 at most, and reaches back', async () => {
    const first = await stripe.subscriptions.list({ limit: 3 });
    expect(first).toMatchObject({ object: 'list', has_more: true, url: '/v1/subscriptions' });
    const [one, two, three] = ids(first);
    const second = await stripe.subscriptions.list({ limit: 2, starting_after: three ?? '' });
    const back = await stripe.subscriptions.list({ limit: 2, ending_before: ids(second)[0] ?? '' });
    expect([ids(back), back.has_more]).toEqual([[two, three], true]);
    const top = await stripe.subscriptions.list({ limit: 10, ending_before: three ?? '' });
    expect([ids(top), top.has_more]).toEqual([[one, two], false]);
    expect((await stripe.subscriptions.list()).data).toHaveLength(10);
    expect((await stripe.subscriptions.list({ limit: 0 })).data).toHaveLength(1);
    expect((await stripe.subscriptions.list({ limit: 101 })).data).toHaveLength(100);
  });

  test('subscriptions are filtered by status, time and price', async () => {
    const own = act.createCustomer(world).object.id;
    const [ended, active] = makeEach(2, () => subscribe(own)) as [Made, Made];
    type Made = ReturnType<typeof subscribe>['object'];
    act.cancelSubscription(world, ended.id);
    const cases: [Stripe.SubscriptionListParams, Made[]][] = [
      [{}, [active]],
      [{ status: 'all' }, [ended, active]],
      [{ status: 'canceled' }, [ended]],
      [{ status: 'ended' }, [ended]],
      [{ status: 'past_due' }, []],
      [{ status: 'all', created: { gt: active.created } }, [ended]],
      [{ status: 'all', created: { gte: active.created, lt: ended.created } }, [active]],
      [{ status: 'all', created: { lte: active.created } }, [active]],
      [{ status: 'all', created: ended.created }, [ended]],
      [{ price: active.items[0]?.priceId ?? '' }, [active]],
    ];
    for (const [params, found] of cases) {
      expect([params, ids(await stripe.subscriptions.list({ customer: own, ...params }))]).toEqual([
        params,
        idsOf(found),
      ]);
    }
  });

  test('invoices, their payments, sessions, customers and events are filtered', async () => {
    const session = act.createCheckoutSession(world, { customer, items: [{ unitAmount: 990 }] });
    const { subscription, invoice } = act.completeCheckout(world, session.id).object;
    if (!subscription || !invoice) throw new Error('the checkout made nothing');
    const { object: draft } = act.createInvoice(world, { customer, lines: [{ amount: 5 }] });
    expect(ids(await stripe.invoices.list({ subscription }))).toEqual([invoice]);
    expect(ids(await stripe.invoices.list({ customer, status: 'draft' }))).toEqual([draft.id]);
    expect(ids(await stripe.invoicePayments.list({ invoice, status: 'open' }))).toEqual([]);
    const payments = await stripe.invoicePayments.list({ invoice, status: 'paid' });
    expect(payments.data).toMatchObject([{ amount_paid: 990, payment: { type: 'payment_intent' } }]);
    expect(ids(await stripe.checkout.sessions.list({ subscription }))).toEqual([session.id]);
    expect((await stripe.checkout.sessions.retrieve(session.id)).subscription).toBe(subscription);
    expect(ids(await stripe.customers.list({ email: 'ada@example.com' }))).toEqual([customer]);
    const type = 'checkout.session.completed';
    const events = await stripe.events.list({ types: [type, 'invoice.deleted'] });
    expect(events.data).toMatchObject([{ type, api_version: Stripe.API_VERSION }]);
    expect((await stripe.events.retrieve(events.data[0]?.id ?? '')).type).toBe(type);
    const ofInvoices = await stripe.events.list({ type: 'invoice.*', limit: 100 });
    expect(ofInvoices.data.filter((event) => !event.type.startsWith('invoice.'))).toEqual([]);
  });

  test('refunds, disputes and credit notes are filtered by what they belong to and by time', async () => {
    const { invoice, payment_intent, charge } = paid(1000);
    act.refundPayment(world, { invoice: paid(5).invoice });
    const refunds = makeEach(5, () => act.refundPayment(world, { invoice, amount: 1 }));
    const created = { gte: refunds[0]?.created ?? 0 };
    expect(ids(await stripe.refunds.list({ payment_intent, limit: 4 }))).toEqual(idsOf(refunds).slice(0, 4));
    expect(ids(await stripe.refunds.list({ charge }))).toEqual(idsOf(refunds));
    expect(ids(await stripe.refunds.list({ created }))).toEqual(idsOf(refunds).slice(0, 1));

    const [asked] = makeEach(1, () => act.openDispute(world, { invoice, amount: 400, inquiry: true }));
    const [returned] = makeEach(1, () => act.returnDebit(world, { invoice }));
    if (!asked || !returned) throw new Error('there are no disputes');
    const starting_after = returned.id;
    expect(ids(await stripe.disputes.list({ payment_intent }))).toEqual([returned.id, asked.id]);
    expect(ids(await stripe.disputes.list({ charge, limit: 1, starting_after }))).toEqual([asked.id]);
    expect(ids(await stripe.disputes.list({ created: { gt: asked.created } }))).toEqual([returned.id]);

    const owner = act.createCustomer(world).object.id;
    const invoices = [open(1000, owner), open(500, owner)];
    const notes = makeEach(3, (i) =>
      act.createCreditNote(world, { invoice: invoices[i % 2] ?? '', amount: 100 }),
    );
    const [last, second, first] = idsOf(notes);
    expect(ids(await stripe.creditNotes.list({ customer: owner }))).toEqual([last, second, first]);
    expect(ids(await stripe.creditNotes.list({ invoice: invoices[1] ?? '' }))).toEqual([second]);
    const both = { customer: owner, invoice: invoices[0] ?? '' };
    expect(ids(await stripe.creditNotes.list(both))).toEqual([last, first]);
    const since = { created: { gte: notes[0]?.created ?? 0 } };
    expect(ids(await stripe.creditNotes.list(since))).toEqual([last]);
  });

  test('the invoice of a payment is found through its invoice payment', async () => {
    const { invoice, payment_intent } = paid(1000);
    const find = (payment: Stripe.InvoicePaymentListParams.Payment) =>
      stripe.invoicePayments.list({ payment });
    const found = await find({ type: 'payment_intent', payment_intent });
    expect(found.data).toMatchObject([{ invoice, payment: { type: 'payment_intent', payment_intent } }]);
    act.payInvoice(world, open(70), { offStripe: true });
    const [record] = (await find({ type: 'payment_record' })).data;
    const payment_record = String(record?.payment.payment_record);
    expect(ids(await find({ type: 'payment_record', payment_record }))).toEqual([record?.id]);
    expect(ids(await find({ type: 'payment_intent', payment_record }))).toEqual([]);
    expect(ids(await find({ type: 'payment_record', payment_intent }))).toEqual([]);
  });

  test('a subscription embeds ten items, and its other items have pages of their own', async () => {
    const items = Array.from({ length: 25 }, (_, i) => ({ unitAmount: i }));
    const { id } = act.createSubscription(world, { customer, items }).object;
    const embedded = (await stripe.subscriptions.retrieve(id)).items;
    expect([embedded.data.length, embedded.has_more]).toEqual([10, true]);
    const listed = await stripe.subscriptionItems
      .list({ subscription: id, limit: 10 })
      .autoPagingToArray({ limit: 100 });
    expect(listed.map(({ price }) => price.unit_amount)).toEqual(items.map(({ unitAmount }) => unitAmount));
  });

  test('an invoice embeds ten lines, and its other lines have pages of their own', async () => {
    const lines = Array.from({ length: 25 }, (_, i) => ({ amount: i }));
    const { id } = act.createInvoice(world, { customer, lines }).object;
    const embedded = (await stripe.invoices.retrieve(id)).lines;
    expect([embedded.data.length, embedded.has_more]).toEqual([10, true]);
    const all = await stripe.invoices.listLineItems(id, { limit: 10 }).autoPagingToArray({ limit: 100 });
    expect(all.map(({ amount }) => amount)).toEqual(lines.map(({ amount }) => amount));
    const ending_before = all[5]?.id ?? '';
    const before = await stripe.invoices.listLineItems(id, { limit: 2, ending_before });
    expect(before.data.map(({ amount }) => amount)).toEqual([3, 4]);
    const unknown = stripe.invoices.listLineItems(id, { starting_after: 'il_no' });
    await expect(unknown).rejects.toMatchObject({ code: 'resource_missing' });
  });

  test('a cursor that left the filter is missing, and a deleted one still works', async () => {
    const own = act.createCustomer(world).object.id;
    const [newest] = makeEach(3, () => subscribe(own));
    act.updateSubscription(world, newest?.id ?? '', { status: 'past_due' });
    const page = { customer: own, status: 'active', starting_after: newest?.id ?? '' } as const;
    await expect(stripe.subscriptions.list(page)).rejects.toMatchObject({
      code: 'resource_missing',
      param: 'starting_after',
      statusCode: 400,
    });
    const drafts = makeEach(3, () => act.createInvoice(world, { customer: own, lines: [] }));
    const [above, deleted = '', below] = idsOf(drafts);
    act.deleteDraftInvoice(world, deleted);
    const around = (cursor: Stripe.InvoiceListParams) => stripe.invoices.list({ customer: own, ...cursor });
    expect(ids(await around({ starting_after: deleted }))).toEqual([below]);
    expect(ids(await around({ ending_before: deleted }))).toEqual([above]);
    await expect(stripe.invoices.retrieve(deleted)).rejects.toMatchObject({ statusCode: 404 });
  });

  test('a deleted customer is in no list, and still works as a cursor', async () => {
    tick();
    const { id } = act.createCustomer(world).object;
    act.deleteCustomer(world, id);
    expect(await stripe.customers.retrieve(id)).toMatchObject({ id, object: 'customer', deleted: true });
    expect(ids(await stripe.customers.list({ limit: 1 }))).not.toEqual([id]);
    expect((await stripe.customers.list({ limit: 1, starting_after: id })).data).toHaveLength(1);
  });
});

describe('objects of the local Stripe API', () => {
  test('an invoice is expanded by up to four levels, and its payments only on demand', async () => {
    tick();
    const id = open(1000);
    const paymentIntent = world.invoices.get(id)?.paymentIntent ?? '';
    act.failInvoicePayment(world, id);
    expect(await stripe.invoices.retrieve(id)).not.toHaveProperty('payments');
    const deep = await stripe.invoices.retrieve(id, {
      expand: ['payments.data.payment.payment_intent', 'customer', 'amount_paid_off_stripe'],
    });
    const status = 'requires_payment_method';
    const failed = { id: paymentIntent, status, last_payment_error: { code: 'card_declined' } };
    expect(deep).toMatchObject({
      customer: { id: customer, object: 'customer' },
      amount_paid_off_stripe: 0,
      payments: { data: [{ status: 'open', payment: { payment_intent: failed } }], has_more: false },
    });
    act.payInvoice(world, id, { offStripe: 300 });
    const expand = ['data.payments', 'data.amount_paid_off_stripe'];
    const [listed] = (await stripe.invoices.list({ limit: 1, expand })).data;
    expect(listed).toMatchObject({ id, amount_paid_off_stripe: 300 });
    const types = listed?.payments?.data.map(({ payment }) => payment.type).sort();
    expect(types).toEqual(['payment_intent', 'payment_record']);
    expect((await stripe.paymentIntents.retrieve(paymentIntent)).amount_received).toBe(700);
    // Expanding does not change the world, and null stays null.
    const latest = await stripe.subscriptions.list({ limit: 1, expand: ['data.latest_invoice'] });
    expect(latest.data).toHaveLength(1);
    expect((await stripe.invoices.retrieve(id)).customer).toBe(customer);
    const [payment] = (await stripe.invoicePayments.list({ invoice: id })).data;
    expect(payment?.payment.payment_intent).not.toBeInstanceOf(Object);
  });

  test('refunds, disputes and credit notes are expanded too', async () => {
    const { invoice, payment_intent, charge } = paid(1000);
    const { id: refund } = act.refundPayment(world, { invoice, amount: 100 }).object;
    const { id: dispute } = act.openDispute(world, { invoice, inquiry: true }).object;
    const expand = ['charge', 'payment_intent.customer'];
    const amounts = { amount: 1000, amount_refunded: 100, refunded: false, disputed: true };
    const expanded = {
      charge: { id: charge, object: 'charge', ...amounts },
      payment_intent: { id: payment_intent, customer: { id: customer } },
    };
    const found = [
      await stripe.refunds.retrieve(refund, { expand }),
      await stripe.disputes.retrieve(dispute, { expand }),
    ];
    expect(found).toMatchObject([
      { id: refund, object: 'refund', ...expanded },
      { id: dispute, object: 'dispute', ...expanded },
    ]);
    const note = act.createCreditNote(world, { invoice, amount: 50, outOfBandAmount: 50 }).object;
    const list = await stripe.creditNotes.list({ invoice, expand: ['data.invoice.customer'] });
    expect(list.data).toMatchObject([{ id: note.id, invoice: { id: invoice, customer: { id: customer } } }]);
    expect((await stripe.refunds.retrieve(refund)).charge).toBe(charge);
    expect(await stripe.creditNotes.retrieve(note.id)).toMatchObject({ object: 'credit_note', invoice });
  });
});

describe('refusals of the local Stripe API', () => {
  const refusalOf = async (path: string) => {
    const { status, body } = await ask(`/v1/${path}`);
    const { error } = body as { error: Record<string, string> };
    expect(error.type).toBe('invalid_request_error');
    return [status, error.code, error.message, error.param];
  };

  test.each([
    ['subscriptions/sub_no', 404, "subscription: 'sub_no'", 'id'],
    ['invoices/in_no/lines', 404, "invoice: 'in_no'", 'id'],
    ['customers/cus_no', 404, "customer: 'cus_no'", 'id'],
    ['events/evt_no', 404, "event: 'evt_no'", 'id'],
    ['refunds/re_no', 404, "refund: 're_no'", 'id'],
    ['disputes/dp_no', 404, "dispute: 'dp_no'", 'id'],
    ['credit_notes/cn_no', 404, "credit_note: 'cn_no'", 'id'],
    ['invoices?starting_after=in_no', 400, "invoice: 'in_no'", 'starting_after'],
    ['invoices?ending_before=in_no', 400, "invoice: 'in_no'", 'ending_before'],
    ['invoices?customer=cus_no', 400, "customer: 'cus_no'", 'customer'],
    ['refunds?charge=ch_x', 400, "charge: 'ch_x'", 'charge'],
    ['disputes?payment_intent=pi_x', 400, "payment_intent: 'pi_x'", 'payment_intent'],
    ['disputes?starting_after=dp_x', 400, "dispute: 'dp_x'", 'starting_after'],
    ['credit_notes?invoice=in_x', 400, "invoice: 'in_x'", 'invoice'],
    ['subscription_items?subscription=sub_x', 400, "subscription: 'sub_x'", 'subscription'],
    [
      'invoice_payments?payment[type]=payment_intent&payment[payment_intent]=pi_x',
      400,
      "payment_intent: 'pi_x'",
      'payment[payment_intent]',
    ],
  ])('the unknown object of %s is reported with %i', async (path, status, object, param) => {
    expect(await refusalOf(path)).toEqual([status, 'resource_missing', `No such ${object}`, param]);
  });

  test.each([
    ['invoices?created[from]=1', ': created[from]', 'created[from]'],
    ['invoices?foo=1&bar=2', 's: foo, bar', 'foo'],
    ['invoices/in_no?limit=1', ': limit', 'limit'],
    ['disputes?status=lost', ': status', 'status'],
    ['refunds?status=failed', ': status', 'status'],
    ['refunds?customer=cus_x', ': customer', 'customer'],
    ['credit_notes?status=void', ': status', 'status'],
    ['invoice_payments?payment=pi_x', ': payment', 'payment'],
    ['invoice_payments?payment[type]=charge&payment[charge]=x', ': payment[charge]', 'payment[charge]'],
  ])('the unknown parameter of %s is refused', async (path, named, param) => {
    const message = `Received unknown parameter${named}`;
    expect(await refusalOf(path)).toEqual([400, 'parameter_unknown', message, param]);
  });

  test.each([
    ['charges', 404, undefined, /^Unrecognized request URL \(GET: \/v1\/charges\)\.$/, undefined],
    ['subscription_items', 400, 'parameter_missing', /subscription/, 'subscription'],
    ['invoice_payments?payment[payment_intent]=x', 400, 'parameter_missing', /\[type\]\.$/, 'payment[type]'],
    ['invoice_payments?payment[type]=charge', 400, undefined, /one of payment_intent or/, 'payment[type]'],
    ['invoices?limit=ten', 400, 'parameter_invalid_integer', /^Invalid integer: ten$/, 'limit'],
    ['invoices?created[gte]=x', 400, 'parameter_invalid_integer', /^Invalid integer: x$/, 'created[gte]'],
    ['subscriptions?status=cancelled', 400, undefined, /^Invalid status: .* active, .*, or ended$/, 'status'],
    ['invoices?starting_after=a&ending_before=b', 400, undefined, /both starting_after and/, undefined],
    ['invoices?expand[]=data.payments.data.payment.payment_intent', 400, undefined, /4 levels/, undefined],
    ['invoices?expand[]=payments', 400, undefined, /expanded \(payments\).*'data.payments'/, undefined],
    ['invoices?expand[]=data.charge', 400, undefined, /cannot be expanded \(charge\)/, undefined],
    ['subscriptions?expand[0]=data.payments', 400, undefined, /expanded \(payments\)/, undefined],
    [
      'refunds?expand[]=data.invoice',
      400,
      undefined,
      /^This .* cannot be expanded \(invoice\)\.$/,
      undefined,
    ],
    ['credit_notes?expand[]=data.refund', 400, undefined, /cannot be expanded \(refund\)\.$/, undefined],
  ])('the request %s is refused: %i %s', async (path, status, code, message, param) => {
    expect(await refusalOf(path)).toEqual([status, code, expect.stringMatching(message), param]);
  });

  test('a wrong key, a wrong version and a wrong method are refused', async () => {
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
    'path %s is not found',
    async (path) => {
      const headers = { authorization: `Bearer ${KEY}`, 'stripe-version': Stripe.API_VERSION };
      const status = await new Promise((done, failed) => {
        get({ port: local.port, path, headers }, (res) => done(res.statusCode)).on('error', failed);
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

  test('a local Stripe with an older version answers in its shape', async () => {
    const old = await startStripeLocal({ world, secretKey: KEY, apiVersion: '2023-10-16' });
    const headers = { 'stripe-version': '2023-10-16' };
    const path = '/v1/invoices?limit=1&expand[]=data.payment_intent&expand[]=data.subscription';
    const { body } = await ask(path, headers, old.url);
    expect((body as { data: object[] }).data[0]).toHaveProperty('paid_out_of_band');
    expect((await ask('/v1/invoices?expand[]=data.payments', headers, old.url)).status).toBe(400);
    await old.close();
  });
});
