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
  createCustomer,
  createInvoice,
  createSubscription,
  finalizeInvoice,
  payInvoice,
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
    if (type.startsWith('customer.subscription')) {
      createSubscription(world, { customer, items: [{ unitAmount: 990 }] });
    }
    const { status, body } = await happen({ type, customer_number: 'K00001' });
    expect(status).toBe(200);
    expect(body.deliveries.map((delivery) => delivery.type)).toContain(type);
    expect(received.map(({ id }) => id)).toEqual(body.deliveries.map(({ event_id }) => event_id));
    expect(received.every(({ api_version }) => api_version === '2023-10-16')).toBe(true);
    expect(body.deliveries.every(({ status, outcome }) => status === 200 && outcome === 'processed')).toBe(
      true,
    );
    expect(body.action).toMatch(/^[A-Z].*\.$/);
    expect(body.objects[0]?.id).toMatch(/^(in|sub|cs_test)_/);
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
    const make = (amount: number) =>
      finalizeInvoice(world, createInvoice(world, { customer, lines: [{ amount }] }).object.id).object;
    const paid = payInvoice(world, make(1).id).object.number;
    const voided = voidInvoice(world, make(2).id).object.number;
    const open = make(3).number;
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
