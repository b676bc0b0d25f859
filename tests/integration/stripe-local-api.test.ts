import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import Stripe from 'stripe';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { seededChance } from '@/lib/chance';
import { stripeEvent } from '@/lib/cli/demo/stripe-event';
import { sentencesOf } from '@/lib/commands/command';
import { fetchObject } from '@/lib/stripe/fetch';
import type { TriggerAnswer } from '@/lib/stripe-local/control';
import { EVENT_TYPES } from '@/lib/stripe-local/happenings';
import { createWorld, type World } from '@/lib/stripe-local/world';
import { runCommandFile } from '../support/command-server';
import { temporaryFolder } from '../support/run-command';
import { serveHandler } from '../support/serve-handler';
import * as act from '../support/stripe-actions';
import { type StripeLocal, startStripeLocal } from '../support/stripe-server';

const KEY = 'sk_test_local';
const SECRET = 'whsec_local';
const parent = temporaryFolder();

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
const ask = async (path: string, headers: Record<string, string> = {}) => {
  const own = { authorization: `Bearer ${KEY}`, 'stripe-version': Stripe.API_VERSION };
  const response = await fetch(local.url + path, { headers: { ...own, ...headers } });
  return { status: response.status, body: await response.json() };
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

/** Expects the list for each filter to contain exactly the given objects, in this order. */
async function expectLists(base: string, lists: [filters: string, ({ id: string } | undefined)[]][]) {
  for (const [filters, objects] of lists) {
    const { data } = (await ask(`/v1/${base}${filters}`)).body as { data: { id: string }[] };
    expect([filters, idsOf(data)]).toEqual([filters, idsOf(objects)]);
  }
}

const newCustomer = () => act.createCustomer(world).object.id;
const subscribe = (owner = customer) =>
  act.createSubscription(world, { customer: owner, items: [{ unitAmount: 990 }] });
const open = (amount: number, owner = customer) => {
  const { object } = act.createInvoice(world, { customer: owner, lines: [{ amount }] });
  return act.finalizeInvoice(world, object.id).object.id;
};

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

test('the local Stripe API refuses a cursor that the filter excludes, but not that of a deleted object', async () => {
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

test('the local Stripe API returns payments and other referenced objects only if a request expands them', async () => {
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

describe('refused requests to the local Stripe API', () => {
  const UNKNOWN = 'Received unknown parameter: created[from]';
  const unknown = (object: string, id: string, param: string) =>
    ['resource_missing', `No such ${object}: '${id}'`, param] as const;

  test.each<[string, number, code: string | undefined, message: string | RegExp, param: string | undefined]>([
    ['subscriptions/sub_no', 404, ...unknown('subscription', 'sub_no', 'id')],
    ['invoices?starting_after=in_no', 400, ...unknown('invoice', 'in_no', 'starting_after')],
    ['invoices?customer=cus_no', 400, ...unknown('customer', 'cus_no', 'customer')],
    ['invoices?created[from]=1', 400, 'parameter_unknown', UNKNOWN, 'created[from]'],
    ['charges', 404, undefined, 'Unrecognized request URL (GET: /v1/charges).', undefined],
    ['subscription_items', 400, 'parameter_missing', /subscription/, 'subscription'],
    ['invoices?limit=ten', 400, 'parameter_invalid_integer', 'Invalid integer: ten', 'limit'],
    ['subscriptions?status=cancelled', 400, undefined, /^Invalid status: .* active, .*, or ended$/, 'status'],
    ['invoices?starting_after=a&ending_before=b', 400, undefined, /both starting_after and/, undefined],
    ['invoices?expand[]=data.payments.data.payment.payment_intent', 400, undefined, /4 levels/, undefined],
    ['events?type=invoice.(', 400, undefined, 'Invalid type: invoice.(', 'type'],
    ['events?types[]=[', 400, undefined, 'Invalid type: [', 'types'],
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

  test('the local Stripe API refuses a wrong API key, another API version and writes', async () => {
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

describe('the control API of the local Stripe', () => {
  const now = new Date();
  let folder: string;
  let webhook: Awaited<ReturnType<typeof serveHandler>>;
  let received: Stripe.Event[];
  let world: World;
  let local: StripeLocal;
  let customer: string;
  let refusal: { status: number; outcome: string } | null;

  const happen = async (given: object | string, key = KEY) => {
    const body = typeof given === 'string' ? given : JSON.stringify(given);
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${local.url}/_local/events`, { method: 'POST', headers, body });
    return { status: response.status, body: (await response.json()) as Happened };
  };
  type Happened = TriggerAnswer & { error?: { message: string } };

  /** Triggers an event. @returns the status and the error message */
  const refusalOf = async (type: string, more: object = {}): Promise<string> => {
    const answer = await happen({ type, ...more });
    return `${answer.status} ${answer.body.error?.message}`;
  };
  const makeInvoice = (amount: number) =>
    act.finalizeInvoice(world, act.createInvoice(world, { customer, lines: [{ amount }] }).object.id).object;
  /** Makes the objects that an event of this type needs. */
  const prepare = (type: string) => {
    if (type.startsWith('customer.subscription')) {
      act.createSubscription(world, { customer, items: [{ unitAmount: 990 }] });
    }
    if (type === 'credit_note.created') makeInvoice(100);
    if (type === 'credit_note.voided')
      act.createCreditNote(world, { invoice: makeInvoice(100).id, amount: 40 });
    if (!/^(refund|charge)\./.test(type)) return;
    const invoice = act.payInvoice(world, makeInvoice(100).id).object.id;
    if (/^refund\.(updated|failed)$/.test(type)) act.refundPayment(world, { invoice, status: 'pending' });
    if (/dispute\.(updated|closed|funds)/.test(type)) {
      act.openDispute(world, { invoice, inquiry: type.endsWith('withdrawn') });
    }
  };

  beforeAll(async () => {
    webhook = await serveHandler(async (req, res) => {
      const signature = req.headers['stripe-signature'] ?? '';
      received.push(Stripe.webhooks.constructEvent(await text(req), signature, SECRET));
      res.statusCode = refusal?.status ?? 200;
      res.end(JSON.stringify({ received: true, outcome: refusal?.outcome ?? 'processed' }));
    });
  });
  afterAll(() => webhook.close());

  beforeEach(async () => {
    folder = mkdtempSync(join(parent, 'local-'));
    received = [];
    refusal = null;
    world = createWorld({ now: () => now, chance: seededChance(11) });
    customer = act.createCustomer(world, { metadata: { customer_number: 'K00001' } }).object.id;
    local = await startStripeLocal({
      world,
      secretKey: KEY,
      apiVersion: '2023-10-16',
      webhook: { url: `${webhook.url}/api/stripe/webhook`, secret: SECRET },
      file: join(folder, 'stripe-local.json'),
    });
  });
  afterEach(() => local.close());

  test.each(EVENT_TYPES)(
    'the local Stripe triggers the event %s and delivers it to the webhook',
    async (type) => {
      prepare(type);
      const { status, body } = await happen({ type, customer_number: 'K00001' });
      expect(status).toBe(200);
      expect(body.deliveries.map((delivery) => delivery.type)).toContain(type);
      const api_version = '2023-10-16';
      const events = body.deliveries.map(({ event_id }) => ({ id: event_id, api_version }));
      expect(received.map(({ id, api_version }) => ({ id, api_version }))).toEqual(events);
      const isTaken = { status: 200, outcome: 'processed' };
      expect(body.deliveries).toMatchObject(Array(events.length).fill(isTaken));
      expect(body.action).toMatch(/^[A-Z].*\.$/);
      expect(body.objects[0]?.id).toMatch(/^(in|sub|cs_test|re|dp|cn)_/);
    },
  );

  test('the local Stripe refuses to trigger an event for an invalid request or without a matching object', async () => {
    expect(await refusalOf('refund.created')).toBe('404 There is no refundable invoice at Stripe.');
    const paid = act.payInvoice(world, makeInvoice(1).id, { offStripe: true }).object.number;
    const open = makeInvoice(3).number;
    act.createCustomer(world, { metadata: { customer_number: 'K00002' } });
    const [K1, K2] = [{ customer_number: 'K00001' }, { customer_number: 'K00002' }];
    const of = (invoice_number: string | null) => ({ invoice_number });
    const missing = 'it is unknown, or an invoice that is not billed through Stripe.';
    const combined = 'A status cannot be combined with invoice.paid: leave it out.';
    const closing = 'charge.dispute.closed';
    const cases: [type: string, more: object, refusal: string | RegExp][] = [
      ['invoice.paid', of(paid), `409 The invoice ${paid} is already paid at Stripe.`],
      ['invoice.paid', of('R1'), `404 No invoice at Stripe has the number R1: ${missing}`],
      ['invoice.paid', { ...of(open), ...K2 }, `404 The invoice ${open} belongs to another customer.`],
      ['invoice.paid', { customer_number: 'K9' }, '404 No customer at Stripe has the customer number K9.'],
      ['invoice.paid', { customer: 'K1' }, /^422 /],
      ['invoice.paid', { status: 'paid' }, `422 ${combined}`],
      ['customer.subscription.deleted', K1, '404 Customer K00001 has no live subscription at Stripe.'],
      ['charge.succeeded', {}, /^422 type: must be one of checkout/],
      ['refund.created', of(paid), `409 Stripe collected nothing for the invoice ${paid}.`],
      [closing, { status: 'prevented' }, /^422 The status of .* must be one of lost, won, warning_closed\.$/],
    ];
    for (const [type, more, refusal] of cases) {
      const expected = typeof refusal === 'string' ? refusal : expect.stringMatching(refusal);
      expect(await refusalOf(type, more)).toEqual(expected);
    }
    expect((await happen('{')).status).toBe(400);
    expect((await happen(JSON.stringify('x'.repeat(70_000)))).status).toBe(413);
    expect((await happen({ type: 'invoice.paid' }, 'sk_test_other')).status).toBe(401);
    const headers = { authorization: `Bearer ${KEY}` };
    expect((await fetch(`${local.url}/_local/events`, { headers })).status).toBe(404);
    expect(received).toEqual([]);
  });

  test('a triggered refund or dispute of the local Stripe has the requested status, or else the usual next one', async () => {
    const invoice_number = act.payInvoice(world, makeInvoice(100).id).object.number;
    const status = async (type: string, asked?: string) => {
      const { body } = await happen({ type, invoice_number, status: asked });
      const [object] = body.objects;
      return world.refunds.get(object?.id ?? '')?.status ?? world.disputes.get(object?.id ?? '')?.status;
    };
    for (const [type, asked, becomes] of [
      ['refund.created', 'pending', 'pending'],
      ['refund.updated', undefined, 'succeeded'],
      ['refund.failed', undefined, 'failed'],
      ['refund.created', 'requires_action', 'requires_action'],
      ['refund.updated', 'canceled', 'canceled'],
      ['charge.dispute.created', 'warning_needs_response', 'warning_needs_response'],
      ['charge.dispute.updated', undefined, 'warning_under_review'],
      ['charge.dispute.closed', undefined, 'warning_closed'],
      ['charge.dispute.created', 'warning_needs_response', 'warning_needs_response'],
      ['charge.dispute.funds_withdrawn', undefined, 'needs_response'],
      ['charge.dispute.updated', undefined, 'under_review'],
      ['charge.dispute.closed', 'won', 'won'],
      ['charge.dispute.created', undefined, 'needs_response'],
      ['charge.dispute.funds_reinstated', undefined, 'won'],
      ['charge.dispute.created', undefined, 'needs_response'],
      ['charge.dispute.closed', undefined, 'lost'],
    ] as const) {
      expect([type, await status(type, asked)]).toEqual([type, becomes]);
    }
  });

  describe('npm run stripe:event', () => {
    const run = async (...args: string[]) => {
      const lines: string[] = [];
      const code = await stripeEvent(args, folder, (line) => void lines.push(line)).then(
        (isTaken) => (isTaken ? 0 : 1),
        (error: unknown) => void lines.push(...sentencesOf(error)),
      );
      return { code, out: lines.join('\n') };
    };
    const demo = () => {
      const settings = { stripeLocalUrl: local.url, stripeSecretKey: KEY };
      writeFileSync(join(folder, 'demo.json'), JSON.stringify(settings));
    };

    test('npm run stripe:event prints the action and the webhook’s outcome', async () => {
      demo();
      const { number } = act.payInvoice(world, makeInvoice(100).id).object;
      const named = ['--customer', 'K00001', '--invoice', number ?? ''];
      const args = ['refund.created', ...named, '--status', 'pending'];
      const { code, out } = await runCommandFile('stripe-event', args, { DATA_DIR: folder });
      expect(out).toMatch(/^The payment of the invoice \S+ was refunded; the refund is pending\.$/m);
      expect(out).toMatch(/^ {2}refund re_\w+$/m);
      expect(out).toMatch(/^ {2}charge\.refunded +evt_\w+ {2}200 processed$/m);
      expect(code).toBe(0);
      const settled = await run('refund.updated', '--status', 'canceled', '--invoice', number ?? '');
      expect(settled).toEqual({ code: 0, out: expect.stringContaining('is canceled now.') });
      const collected = await run('invoice.payment_succeeded', '--customer', 'K00001');
      expect(collected.out).toMatch(/^ {2}invoice in_\w+ \(\S+-0002\)$/m);
      const silent = await run('invoice.payment_failed', '--silent');
      expect(silent).toEqual({ code: 0, out: expect.stringMatching(/^Not delivered:$/m) });
    });

    test('npm run stripe:event exits with code 1 if the webhook refuses a delivery', async () => {
      demo();
      refusal = { status: 500, outcome: 'failed' };
      const { code, out } = await run('invoice.paid');
      expect([code, out]).toEqual([1, expect.stringMatching(/invoice\.paid +evt_\w+ {2}500 failed$/m)]);
    });

    test('npm run stripe:event explains invalid arguments, and says if no demo is running', async () => {
      const noDemo = { code: undefined, out: 'No demo is running: start it with npm run demo.' };
      expect(await run('invoice.paid')).toEqual(noDemo);
      demo();
      expect((await run('invoice.paid', '--invoice', 'R1')).out).toMatch(/^No invoice at Stripe has/);
      expect((await run('refund.updated', '--status', 'failed')).out).toBe(
        'The status of refund.updated must be one of succeeded, canceled.',
      );
      const unknown = await run('charge.succeeded');
      for (const type of EVENT_TYPES) expect(unknown.out).toContain(type);
      expect((await run('--nonsense')).out).toMatch(/^Unknown option '--nonsense'/);
      expect((await run()).out).toMatch(/^ {2}charge\.dispute\.closed: lost, won, warning_closed$/m);
      await local.close();
      expect(await run('invoice.paid')).toEqual(noDemo);
    });
  });
});
