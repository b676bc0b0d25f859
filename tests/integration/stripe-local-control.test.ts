import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import Stripe from 'stripe';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  completeCheckout,
  createCheckoutSession,
  createCreditNote,
  createCustomer,
  createInvoice,
  createSubscription,
  finalizeInvoice,
  openDispute,
  payInvoice,
  refundPayment,
  voidInvoice,
} from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import { deliverEvent, signBody, signEvent } from '@/lib/stripe-local/deliver';
import { EVENT_TYPES } from '@/lib/stripe-local/happenings';
import { loadWorld } from '@/lib/stripe-local/persist';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { createWorld, type World } from '@/lib/stripe-local/world';

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

  const happen = async (body: object | string, key = KEY) => {
    const response = await fetch(`${local.url}/_local/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Happened };
  };
  interface Happened {
    action: string;
    objects: { object: string; id: string; number: string | null }[];
    deliveries: {
      event_id: string;
      type: string;
      status: number | null;
      outcome: string | null;
      body: unknown;
    }[];
    error?: { message: string };
  }

  const makeInvoice = (amount: number) =>
    finalizeInvoice(world, createInvoice(world, { customer, lines: [{ amount }] }).object.id).object;
  /** What must be there before something of this type can happen. */
  const prepare = (type: string) => {
    if (type.startsWith('customer.subscription')) {
      createSubscription(world, { customer, items: [{ unitAmount: 990 }] });
    }
    if (type === 'credit_note.created') makeInvoice(100);
    if (type === 'credit_note.voided') createCreditNote(world, { invoice: makeInvoice(100).id, amount: 40 });
    if (!/^(refund|charge)\./.test(type)) return;
    const invoice = payInvoice(world, makeInvoice(100).id).object.id;
    if (/^refund\.(updated|failed)$/.test(type)) refundPayment(world, { invoice, status: 'pending' });
    if (/dispute\.(updated|closed|funds)/.test(type)) {
      openDispute(world, { invoice, inquiry: type.endsWith('withdrawn') });
    }
  };

  beforeAll(async () => {
    webhook = createServer(async (req, res) => {
      const event = Stripe.webhooks.constructEvent(
        await text(req),
        req.headers['stripe-signature'] ?? '',
        SECRET,
      );
      received.push(event);
      res.end(JSON.stringify({ received: true, outcome: 'processed' }));
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
    world = createWorld({ now: () => now, chance: seededChance(11) });
    customer = createCustomer(world, { metadata: { customer_number: 'K00001' } }).object.id;
    local = await startStripeLocal({
      world,
      secretKey: KEY,
      webhook: { url: webhookUrl, secret: SECRET, apiVersion: '2023-10-16' },
      file: join(folder, 'stripe-local.json'),
    });
  });
  afterEach(async () => {
    await local.close();
    await rm(folder, { recursive: true });
  });

  test.each(EVENT_TYPES)('%s happens, and the webhook hears all of it in order', async (type) => {
    prepare(type);
    const { status, body } = await happen({ type, customer_number: 'K00001' });
    expect(status).toBe(200);
    expect(body.deliveries.map((delivery) => delivery.type)).toContain(type);
    expect(received.map(({ id }) => id)).toEqual(body.deliveries.map(({ event_id }) => event_id));
    expect(received.every(({ api_version }) => api_version === '2023-10-16')).toBe(true);
    expect(body.deliveries.every(({ status, outcome }) => status === 200 && outcome === 'processed')).toBe(
      true,
    );
    expect(body.action).toMatch(/^[A-Z].*\.$/);
    expect(body.objects[0]?.id).toMatch(/^(in|sub|cs_test|re|dp|cn)_/);
  });

  test('silent: it happens, but nobody is told', async () => {
    const { body } = await happen({ type: 'invoice.payment_succeeded', silent: true });
    expect(received).toEqual([]);
    expect(body.deliveries.every(({ status }) => status === null)).toBe(true);
    expect(world.invoices.get(body.objects[0]?.id ?? '')?.status).toBe('paid');
  });

  test('the newest fitting object is taken, and an open checkout before a new one', async () => {
    const open = createInvoice(world, { customer, lines: [{ amount: 100 }] }).object.id;
    finalizeInvoice(world, open);
    expect((await happen({ type: 'invoice.payment_failed' })).body.objects[0]?.id).toBe(open);
    const session = createCheckoutSession(world, { customer, items: [{ unitAmount: 5 }] });
    const done = await happen({ type: 'checkout.session.completed', customer_number: 'K00001' });
    expect(done.body.objects[0]?.id).toBe(session.id);
  });

  test('an invoice is named by its number', async () => {
    const invoice = finalizeInvoice(
      world,
      createInvoice(world, { customer, lines: [{ amount: 100 }] }).object.id,
    );
    const number = invoice.object.number ?? '';
    const other = createCustomer(world, { metadata: { customer_number: 'K00002' } }).object.id;
    const twin = createInvoice(world, { customer: other, lines: [{ amount: 7 }] }).object.id;
    finalizeInvoice(world, twin, { number });
    const type = 'invoice.payment_succeeded';
    expect(await happen({ type, invoice_number: number })).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining('name the customer too') } },
    });
    const paid = await happen({ type, invoice_number: number, customer_number: 'K00001' });
    expect(paid.body.objects).toEqual([{ object: 'invoice', id: invoice.object.id, number }]);
  });

  test('what cannot happen is refused with a sentence', async () => {
    const paid = payInvoice(world, makeInvoice(1).id).object.number;
    const voided = voidInvoice(world, makeInvoice(2).id).object.number;
    const open = makeInvoice(3).number;
    createCustomer(world, { metadata: { customer_number: 'K00002' } });
    const refused = async (body: object) => {
      const answer = await happen(body);
      return [answer.status, answer.body.error?.message];
    };
    const pay = (invoice_number: unknown) => refused({ type: 'invoice.paid', invoice_number });
    expect(await pay(paid)).toEqual([409, `The invoice ${paid} is already paid at Stripe.`]);
    expect(await pay(voided)).toEqual([409, `The invoice ${voided} is voided at Stripe.`]);
    expect(await pay('R1')).toEqual([
      404,
      'No invoice at Stripe has the number R1: it is unknown, or an invoice that is not billed through Stripe.',
    ]);
    expect(await refused({ type: 'invoice.finalized', invoice_number: open })).toEqual([
      409,
      `The invoice ${open} is already finalized and open at Stripe.`,
    ]);
    expect(await refused({ type: 'invoice.paid', invoice_number: open, customer_number: 'K00002' })).toEqual([
      404,
      `The invoice ${open} belongs to another customer.`,
    ]);
    expect(await refused({ type: 'customer.subscription.deleted', customer_number: 'K00001' })).toEqual([
      404,
      'Customer K00001 has no live subscription at Stripe.',
    ]);
    expect(await refused({ type: 'customer.subscription.updated' })).toEqual([
      404,
      'There is no subscription that renews itself at Stripe.',
    ]);
    expect(await refused({ type: 'invoice.paid', customer_number: 'K9' })).toEqual([
      404,
      'No customer at Stripe has the customer number K9.',
    ]);
    expect((await refused({ type: 'customer.subscription.deleted', invoice_number: 'R1' }))[0]).toBe(422);
    expect((await refused({ type: 'charge.succeeded' }))[1]).toMatch(/^type: must be one of checkout/);
    expect((await refused({ type: 'invoice.paid', customer: 'K1' }))[0]).toBe(422);
    expect((await happen('{')).status).toBe(400);
    expect((await happen(JSON.stringify('x'.repeat(70_000)))).status).toBe(413);
    expect((await happen({ type: 'invoice.paid' }, 'sk_test_other')).status).toBe(401);
    expect(
      (await fetch(`${local.url}/_local/events`, { headers: { authorization: `Bearer ${KEY}` } })).status,
    ).toBe(404);
    expect(received).toEqual([]);
  });

  test('money comes back for the invoice that is named, with the status that is asked for', async () => {
    const [one, other] = [100, 200].map((amount) => payInvoice(world, makeInvoice(amount).id).object);
    const invoice_number = one?.number;
    const status = async (type: string, asked?: string) => {
      const { body } = await happen({ type, invoice_number, status: asked });
      const [object] = body.objects;
      return world.refunds.get(object?.id ?? '')?.status ?? world.disputes.get(object?.id ?? '')?.status;
    };
    expect(await status('refund.created', 'pending')).toBe('pending');
    expect(await status('refund.updated')).toBe('succeeded');
    expect(await status('refund.failed')).toBe('failed');
    expect(await status('refund.created', 'requires_action')).toBe('requires_action');
    expect(await status('refund.updated', 'canceled')).toBe('canceled');
    expect(await status('charge.dispute.created', 'warning_needs_response')).toBe('warning_needs_response');
    expect(await status('charge.dispute.updated')).toBe('warning_under_review');
    expect(await status('charge.dispute.closed')).toBe('warning_closed');
    expect(await status('charge.dispute.created', 'warning_needs_response')).toBe('warning_needs_response');
    expect(await status('charge.dispute.funds_withdrawn')).toBe('needs_response');
    expect(await status('charge.dispute.updated')).toBe('under_review');
    expect(await status('charge.dispute.closed', 'won')).toBe('won');
    expect(await status('charge.dispute.created')).toBe('needs_response');
    expect(await status('charge.dispute.funds_reinstated')).toBe('won');
    expect(await status('charge.dispute.created')).toBe('needs_response');
    expect(await status('charge.dispute.closed')).toBe('lost');
    const returned = await happen({
      type: 'charge.dispute.created',
      invoice_number: other?.number,
      status: 'lost',
    });
    expect(returned.body.deliveries.map(({ type }) => type)).toEqual([
      'charge.dispute.created',
      'charge.dispute.funds_withdrawn',
      'charge.dispute.closed',
    ]);
    const touched = [...world.refunds.values(), ...world.disputes.values()].map(({ charge }) => charge);
    expect(touched.filter((charge) => charge === other?.charge)).toHaveLength(1);
  });

  test('an open invoice is credited by half, a paid one wholly, as far as it can be refunded', async () => {
    const open = makeInvoice(101);
    const type = 'credit_note.created';
    await happen({ type, invoice_number: open.number });
    expect(world.invoices.get(open.id)).toMatchObject({ status: 'open', amountDue: 51 });
    await happen({ type: 'credit_note.voided', invoice_number: open.number });
    expect(world.invoices.get(open.id)).toMatchObject({ status: 'open', amountDue: 101 });
    const paid = payInvoice(world, makeInvoice(300).id, { offStripe: 100 }).object;
    const { body } = await happen({ type, invoice_number: paid.number });
    expect(world.creditNotes.get(body.objects[0]?.id ?? '')).toMatchObject({
      postPaymentAmount: 300,
      outOfBandAmount: 100,
      refunds: [{ amount: 200 }],
    });
    expect(await happen({ type, invoice_number: paid.number })).toMatchObject({
      status: 409,
      body: { error: { message: `Nothing is left of the invoice ${paid.number} to credit.` } },
    });
  });

  test('money that cannot come back is refused with a sentence', async () => {
    const uncreditable = await happen({ type: 'credit_note.created' });
    expect(uncreditable.body.error?.message).toBe('There is no creditable invoice at Stripe.');
    const cash = payInvoice(world, makeInvoice(100).id, { offStripe: true }).object.number;
    const refused = async (body: object) => {
      const answer = await happen(body);
      return [answer.status, answer.body.error?.message];
    };
    const nothing: [string, string][] = [
      ['refund.created', 'There is no refundable invoice at Stripe.'],
      ['charge.dispute.created', 'There is no disputable invoice at Stripe.'],
      ['refund.updated', 'There is no unsettled refund at Stripe.'],
      ['refund.failed', 'There is no refund that could fail at Stripe.'],
      ['charge.dispute.updated', 'There is no dispute that waits for evidence at Stripe.'],
      ['charge.dispute.funds_withdrawn', 'There is no inquiry that could become a dispute at Stripe.'],
      ['charge.dispute.funds_reinstated', 'There is no open dispute that could be won at Stripe.'],
      ['credit_note.voided', 'There is no voidable credit note at Stripe.'],
    ];
    for (const [type, message] of nothing) expect(await refused({ type })).toEqual([404, message]);
    const type = 'charge.dispute.closed';
    expect((await refused({ type, customer_number: 'K00001', status: 'won' }))[1]).toBe(
      'Customer K00001 has no open dispute that could end as won at Stripe.',
    );
    expect((await refused({ type, invoice_number: cash }))[1]).toBe(
      `The invoice ${cash} has no open dispute that could end as lost or warning_closed at Stripe.`,
    );
    for (const type of ['refund.created', 'charge.refunded', 'charge.dispute.created']) {
      expect(await refused({ type, invoice_number: cash })).toEqual([
        409,
        `Stripe collected nothing for the invoice ${cash}.`,
      ]);
    }
    expect(await refused({ type, status: 'prevented' })).toEqual([
      422,
      'The status of charge.dispute.closed must be one of lost, won, warning_closed.',
    ]);
    expect(await refused({ type: 'invoice.paid', status: 'paid' })).toEqual([
      422,
      'No status can be asked for with invoice.paid.',
    ]);
    expect(received).toEqual([]);
  });

  test('a webhook that is not there is told, and the world keeps what happened', async () => {
    await local.close();
    local = await startStripeLocal({
      world,
      secretKey: KEY,
      webhook: { url: 'http://127.0.0.1:9', secret: SECRET },
      file: join(folder, 'stripe-local.json'),
    });
    const { body } = await happen({ type: 'invoice.paid' });
    expect(body.deliveries[0]).toMatchObject({ status: null, outcome: null, body: expect.any(String) });
    await local.close();
    const saved = await loadWorld(join(folder, 'stripe-local.json'), { now: () => now });
    expect(saved?.invoices.get(body.objects[0]?.id ?? '')?.status).toBe('paid');
    expect(saved?.history.map(({ id }) => id)).toEqual(world.history.map(({ id }) => id));
  });

  test('signed deliveries verify in every shape, and altered ones do not', async () => {
    const { events } = completeCheckout(
      world,
      createCheckoutSession(world, { customer, items: [{ unitAmount: 990 }] }).id,
    );
    for (const apiVersion of ['2020-08-27', '2023-10-16', Stripe.API_VERSION]) {
      for (const event of events) {
        const { body, headers } = signEvent(event, { secret: SECRET, now, apiVersion });
        const verified = Stripe.webhooks.constructEvent(body, headers['stripe-signature'], SECRET);
        expect(verified).toMatchObject({ id: event.id, api_version: apiVersion, livemode: false });
        expect(() =>
          Stripe.webhooks.constructEvent(`${body} `, headers['stripe-signature'], SECRET),
        ).toThrow();
      }
    }
    const old = signBody('{}', { secret: SECRET, now: new Date(now.getTime() - 301_000) });
    expect(() => Stripe.webhooks.constructEvent(old.body, old.headers['stripe-signature'], SECRET)).toThrow(
      /outside the tolerance/,
    );
    const [event] = events;
    if (!event) throw new Error('no event');
    expect(await deliverEvent({ url: webhookUrl, secret: SECRET, event, now })).toEqual({
      status: 200,
      body: { received: true, outcome: 'processed' },
    });
  });

  describe('npm run stripe:event', () => {
    const run = (...args: string[]) =>
      new Promise<{ code: number; out: string; err: string }>((done) => {
        execFile(
          process.execPath,
          ['--import', 'tsx', 'lib/cli/stripe-event.ts', ...args],
          { env: { ...process.env, DATA_DIR: folder }, timeout: 30_000 },
          (error, out, err) => done({ code: error ? Number(error.code) : 0, out, err }),
        );
      });
    const demo = () =>
      writeFile(
        join(folder, 'demo.json'),
        JSON.stringify({ stripeLocalUrl: local.url, stripeSecretKey: KEY }),
      );

    test('prints what happened and what the webhook said', async () => {
      await demo();
      const { code, out } = await run('invoice.payment_succeeded', '--customer', 'K00001');
      expect(out).toMatch(/^Stripe collected the invoice \S+-0001\.$/m);
      expect(out).toMatch(/^ {2}invoice in_\w+ \(\S+-0001\)$/m);
      expect(out).toMatch(/^ {2}invoice\.payment_succeeded +evt_\w+ {2}200 processed$/m);
      expect(code).toBe(0);
      const silent = await run('invoice.payment_failed', '--silent');
      expect(silent.out).toMatch(/^Not delivered:$/m);
      expect(silent.code).toBe(0);
    });

    test('says which status, and of which invoice', async () => {
      await demo();
      const { number } = payInvoice(world, makeInvoice(100).id).object;
      const made = await run('refund.created', '--invoice', number ?? '', '--status', 'pending');
      expect(made.out).toMatch(/^The payment of the invoice \S+ was refunded; the refund is pending\.$/m);
      expect(made.out).toMatch(/^ {2}charge\.refunded +evt_\w+ {2}200 processed$/m);
      const settled = await run('refund.updated', '--status', 'canceled', '--invoice', number ?? '');
      expect(settled).toMatchObject({ code: 0, out: expect.stringContaining('is canceled now.') });
      const refused = await run('refund.updated', '--status', 'failed');
      expect(refused).toMatchObject({
        code: 1,
        err: 'The status of refund.updated must be one of succeeded, canceled.\n',
      });
      expect((await run('--help')).out).toMatch(/^ {2}charge\.dispute\.closed: lost, won, warning_closed$/m);
    });

    test('is refused with a sentence and 1', async () => {
      expect(await run('invoice.paid')).toEqual({
        code: 1,
        out: '',
        err: 'No demo is running: start it with npm run demo.\n',
      });
      await demo();
      const refused = await run('invoice.paid', '--invoice', 'R1');
      expect(refused).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringMatching(/^No invoice at Stripe has/),
      });
      const unknown = await run('charge.succeeded');
      expect(unknown.code).toBe(1);
      for (const type of EVENT_TYPES) expect(unknown.err).toContain(type);
      expect((await run('--nonsense')).err).toMatch(/^Unknown option '--nonsense'/);
      expect((await run()).code).toBe(1);
      const help = await run('--help');
      expect([help.code, help.out.startsWith('Usage: ')]).toEqual([0, true]);
    });

    test('a demo that has stopped is no running demo', async () => {
      await demo();
      await local.close();
      expect(await run('invoice.paid')).toMatchObject({
        code: 1,
        err: expect.stringContaining('No demo is running'),
      });
    });
  });
});
