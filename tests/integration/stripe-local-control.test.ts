import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import Stripe from 'stripe';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { seededChance } from '@/lib/chance';
import { stripeEvent } from '@/lib/cli/demo/stripe-event';
import { sentencesOf } from '@/lib/commands/command';
import type { TriggerAnswer } from '@/lib/stripe-local/control';
import { EVENT_TYPES } from '@/lib/stripe-local/happenings';
import { createWorld, type World } from '@/lib/stripe-local/world';
import { runCommandFile } from '../support/command-server';
import * as act from '../support/stripe-actions';
import { type Fault, type StripeLocal, startStripeLocal } from '../support/stripe-server';

const KEY = 'sk_test_local';
const SECRET = 'whsec_local';
const now = new Date();

describe('the control API of the local Stripe', () => {
  let folder: string;
  let webhook: Server;
  let webhookUrl: string;
  let received: Stripe.Event[];
  let world: World;
  let local: StripeLocal;
  let customer: string;
  let refusal: { status: number; outcome: string } | null;

  const happen = async (body: object | string, key = KEY) => {
    const response = await fetch(`${local.url}/_local/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
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
    webhook = createServer(async (req, res) => {
      const signature = req.headers['stripe-signature'] ?? '';
      received.push(Stripe.webhooks.constructEvent(await text(req), signature, SECRET));
      res.statusCode = refusal?.status ?? 200;
      res.end(JSON.stringify({ received: true, outcome: refusal?.outcome ?? 'processed' }));
    });
    await new Promise<void>((done) => webhook.listen(0, '127.0.0.1', done));
    webhookUrl = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}/api/stripe/webhook`;
  });
  afterAll(() => {
    webhook.close();
  });

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'w5t-local-'));
    received = [];
    refusal = null;
    world = createWorld({ now: () => now, chance: seededChance(11) });
    customer = act.createCustomer(world, { metadata: { customer_number: 'K00001' } }).object.id;
    local = await startStripeLocal({
      world,
      secretKey: KEY,
      apiVersion: '2023-10-16',
      webhook: { url: webhookUrl, secret: SECRET },
      file: join(folder, 'stripe-local.json'),
    });
  });
  afterEach(async () => {
    await local.close();
    await rm(folder, { recursive: true });
  });

  test.each(EVENT_TYPES)(
    'the local Stripe triggers the event %s and delivers it to the webhook',
    async (type) => {
      prepare(type);
      const { status, body } = await happen({ type, customer_number: 'K00001' });
      expect(status).toBe(200);
      expect(body.deliveries.map((delivery) => delivery.type)).toContain(type);
      expect(received.map(({ id }) => id)).toEqual(body.deliveries.map(({ event_id }) => event_id));
      for (const { api_version } of received) expect(api_version).toBe('2023-10-16');
      for (const { status, outcome } of body.deliveries) {
        expect([status, outcome]).toEqual([200, 'processed']);
      }
      expect(body.action).toMatch(/^[A-Z].*\.$/);
      expect(body.objects[0]?.id).toMatch(/^(in|sub|cs_test|re|dp|cn)_/);
    },
  );

  test('the local Stripe refuses to trigger an event without a matching object', async () => {
    expect(await refusalOf('refund.created')).toBe('404 There is no refundable invoice at Stripe.');
    const paid = act.payInvoice(world, makeInvoice(1).id, { offStripe: true }).object.number;
    const open = makeInvoice(3).number;
    act.createCustomer(world, { metadata: { customer_number: 'K00002' } });
    const [K1, K2] = [{ customer_number: 'K00001' }, { customer_number: 'K00002' }];
    const of = (invoice_number: string | null) => ({ invoice_number });
    const missing = 'it is unknown, or an invoice that is not billed through Stripe.';
    const closing = 'charge.dispute.closed';
    const cases: [type: string, more: object, refusal: string | RegExp][] = [
      ['invoice.paid', of(paid), `409 The invoice ${paid} is already paid at Stripe.`],
      ['invoice.paid', of('R1'), `404 No invoice at Stripe has the number R1: ${missing}`],
      ['invoice.paid', { ...of(open), ...K2 }, `404 The invoice ${open} belongs to another customer.`],
      ['invoice.paid', { customer_number: 'K9' }, '404 No customer at Stripe has the customer number K9.'],
      ['invoice.paid', { customer: 'K1' }, /^422 /],
      [
        'invoice.paid',
        { status: 'paid' },
        '422 A status cannot be combined with invoice.paid: leave it out.',
      ],
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

  test('a triggered refund or dispute of the local Stripe has the requested status', async () => {
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
      return writeFile(join(folder, 'demo.json'), JSON.stringify(settings));
    };

    test('npm run stripe:event prints the action and the webhook’s outcome', async () => {
      await demo();
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
      await demo();
      refusal = { status: 500, outcome: 'failed' };
      const { code, out } = await run('invoice.paid');
      expect([code, out]).toEqual([1, expect.stringMatching(/invoice\.paid +evt_\w+ {2}500 failed$/m)]);
    });

    test('npm run stripe:event explains why it refuses invalid arguments', async () => {
      const noDemo = { code: undefined, out: 'No demo is running: start it with npm run demo.' };
      expect(await run('invoice.paid')).toEqual(noDemo);
      await demo();
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

describe('faults of the local Stripe', () => {
  const world = createWorld({ now: () => now, chance: seededChance(3) });
  const { id } = act.createCustomer(world, { name: 'Ada' }).object;
  let local: StripeLocal;
  beforeAll(async () => {
    local = await startStripeLocal({ world, secretKey: KEY });
  });
  afterAll(() => local.close());
  beforeEach(() => local.faults.clear());
  afterEach(() => vi.useRealTimers());

  const client = (maxNetworkRetries = 0, timeout = 5000) => {
    const { port } = local;
    return new Stripe(KEY, { host: '127.0.0.1', port, protocol: 'http', maxNetworkRetries, timeout });
  };
  const retrieve = (retries?: number, timeout?: number) => client(retries, timeout).customers.retrieve(id);
  const nameOf = async () => ((await retrieve()) as Stripe.Customer).name;
  const outcomeOf = async (asked: Promise<unknown>) =>
    asked.then(
      () => 'ok',
      (error: Error) => error.constructor.name,
    );

  test.each<[Fault, retries: number, outcome: string, requests: number]>([
    [{ kind: 'status', status: 500 }, 1, 'ok', 2],
    [{ kind: 'status', status: 503 }, 1, 'ok', 2],
    [{ kind: 'status', status: 409 }, 1, 'ok', 2],
    [{ kind: 'status', status: 429 }, 1, 'StripeRateLimitError', 1],
    [{ kind: 'status', status: 429, shouldRetry: true, retryAfter: 1 }, 1, 'ok', 2],
    [{ kind: 'status', status: 500, shouldRetry: false }, 1, 'StripeAPIError', 1],
    [{ kind: 'reset' }, 1, 'ok', 2],
    [{ kind: 'timeout' }, 0, 'StripeConnectionError', 1],
    [{ kind: 'garbage' }, 0, 'StripeAPIError', 1],
  ])(
    'a request to the local Stripe with the fault %j and %d retries ends as %s',
    async (fault, retries, outcome, requests) => {
      // Fake timers skip the half second or more that the SDK waits before a retry.
      vi.useFakeTimers({ toFake: ['setTimeout'] }).setTimerTickMode('nextTimerAsync');
      local.faults.add({ fault, times: 1 });
      const before = local.requestCount();
      const timeout = fault.kind === 'timeout' ? 50 : 5000;
      expect(await outcomeOf(retrieve(retries, timeout))).toBe(outcome);
      expect(local.requestCount() - before).toBe(requests);
    },
  );

  test('a delayed response of the local Stripe contains the state at the time of the request', async () => {
    let release = () => {};
    const gate = new Promise<void>((done) => {
      release = done;
    });
    local.faults.add({ fault: { kind: 'latency', ms: 20 }, times: 1 });
    local.faults.add({ fault: { kind: 'hold', until: () => gate }, times: 1 });
    for (const [before, after] of [
      ['Ada', 'Eve'],
      ['Eve', 'Zoe'],
    ] as const) {
      const count = local.requestCount();
      const asked = nameOf();
      await expect.poll(() => local.requestCount(), { interval: 1 }).toBe(count + 1);
      act.updateCustomer(world, id, { name: after });
      if (after === 'Zoe') release();
      expect(await asked).toBe(before);
    }
    expect(await nameOf()).toBe('Zoe');
  });
});
