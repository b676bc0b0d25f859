import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createCreditNote,
  createCustomer,
  createInvoice,
  finalizeInvoice,
  moveDispute,
  openDispute,
  payInvoice,
  payInvoicePart,
  refundPayment,
  returnDebit,
  settleRefund,
  voidCreditNote,
} from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import { loadWorld, saveWorld } from '@/lib/stripe-local/persist';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { createWorld } from '@/lib/stripe-local/world';

const KEY = 'sk_test_local';

describe('money that comes back, as the local Stripe API tells it', () => {
  let now = Date.parse('2026-03-15T12:00:00Z');
  const world = createWorld({ now: () => new Date(now), chance: seededChance(5) });
  const customer = createCustomer(world, { email: 'ada@example.com' }).object.id;
  let local: StripeLocal;
  let stripe: Stripe;

  const tick = () => {
    now += 1000;
  };
  const open = (amount: number, owner = customer) => {
    const { object } = createInvoice(world, { customer: owner, lines: [{ amount }] });
    return finalizeInvoice(world, object.id).object.id;
  };
  const paid = (amount: number) => {
    const { id, paymentIntent, charge } = payInvoice(world, open(amount)).object;
    if (!paymentIntent || !charge) throw new Error('Stripe collected nothing');
    return { invoice: id, payment_intent: paymentIntent, charge };
  };
  const ids = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
  const ask = async (path: string) => {
    const response = await fetch(local.url + path, {
      headers: { authorization: `Bearer ${KEY}`, 'stripe-version': Stripe.API_VERSION },
    });
    return { status: response.status, body: await response.json() };
  };

  beforeAll(async () => {
    local = await startStripeLocal({ world, secretKey: KEY });
    stripe = new Stripe(KEY, { host: '127.0.0.1', port: local.port, protocol: 'http', telemetry: false });
  });
  afterAll(() => local.close());

  test('refunds are paged newest first, and found by charge, payment intent and time', async () => {
    const { invoice, payment_intent, charge } = paid(1000);
    refundPayment(world, { invoice: paid(5).invoice });
    const made = Array.from({ length: 25 }, () => {
      tick();
      return refundPayment(world, { invoice, amount: 1 }).object;
    });
    const newestFirst = made.map(({ id }) => id).reverse();
    const before = local.requestCount();
    const listed = await stripe.refunds.list({ payment_intent, limit: 10 }).autoPagingToArray({ limit: 100 });
    expect(listed.map(({ id }) => id)).toEqual(newestFirst);
    expect(local.requestCount() - before).toBe(3);
    expect(ids(await stripe.refunds.list({ charge, limit: 100 }))).toEqual(newestFirst);
    const last = made.at(-1);
    expect(ids(await stripe.refunds.list({ created: { gte: last?.created ?? 0 } }))).toEqual([last?.id]);
    const first = await stripe.refunds.list({ charge, limit: 2 });
    expect([first.has_more, first.url]).toEqual([true, '/v1/refunds']);
    const back = await stripe.refunds.list({ charge, ending_before: newestFirst[2] ?? '' });
    expect(ids(back)).toEqual(newestFirst.slice(0, 2));
  });

  test('a refund is pending, and fails', async () => {
    const { invoice, payment_intent, charge } = paid(1000);
    const { id } = refundPayment(world, { invoice, amount: 400, status: 'pending' }).object;
    const pending = await stripe.refunds.retrieve(id);
    expect(pending).toMatchObject({
      object: 'refund',
      amount: 400,
      charge,
      payment_intent,
      customer,
      currency: 'eur',
      status: 'pending',
      pending_reason: 'processing',
      reason: null,
      metadata: {},
    });
    expect(pending).not.toHaveProperty('failure_reason');
    settleRefund(world, id, 'failed');
    expect(await stripe.refunds.retrieve(id)).toMatchObject({
      status: 'failed',
      failure_reason: 'expired_or_canceled_card',
      failure_balance_transaction: expect.stringMatching(/^txn_/),
    });
    const { data } = await stripe.events.list({ type: 'refund.*', limit: 3 });
    expect(data.map(({ type }) => type).sort()).toEqual([
      'refund.created',
      'refund.failed',
      'refund.updated',
    ]);
  });

  test('a dispute shows what moved on our balance', async () => {
    const { invoice, payment_intent, charge } = paid(1000);
    const { object: dispute } = openDispute(world, { invoice, reason: 'product_not_received' });
    expect(await stripe.disputes.retrieve(dispute.id)).toMatchObject({
      object: 'dispute',
      amount: 1000,
      charge,
      payment_intent,
      reason: 'product_not_received',
      status: 'needs_response',
      is_charge_refundable: false,
      evidence_details: {
        due_by: dispute.evidenceDueBy,
        has_evidence: false,
        past_due: false,
        submission_count: 0,
      },
      balance_transactions: [
        { amount: -1000, net: -2500, reporting_category: 'dispute', type: 'adjustment', source: dispute.id },
      ],
    });
    moveDispute(world, dispute.id, 'under_review');
    tick();
    moveDispute(world, dispute.id, 'won');
    expect(await stripe.disputes.retrieve(dispute.id)).toMatchObject({
      status: 'won',
      evidence_details: { has_evidence: true, submission_count: 1 },
      balance_transactions: [
        { amount: -1000, created: dispute.created },
        {
          amount: 1000,
          net: 1000,
          created: dispute.created + 1,
          reporting_category: 'dispute_reversal',
          type: 'adjustment',
        },
      ],
    });
  });

  test('disputes are found by charge, payment intent and time, not by status', async () => {
    tick();
    const { invoice, payment_intent, charge } = paid(1000);
    const asked = openDispute(world, { invoice, amount: 400, inquiry: true }).object;
    tick();
    const returned = returnDebit(world, { invoice }).object;
    expect(ids(await stripe.disputes.list({ payment_intent }))).toEqual([returned.id, asked.id]);
    expect(ids(await stripe.disputes.list({ charge, limit: 1, starting_after: returned.id }))).toEqual([
      asked.id,
    ]);
    expect(ids(await stripe.disputes.list({ created: { gt: asked.created } }))).toEqual([returned.id]);
    expect(await stripe.disputes.retrieve(asked.id)).toMatchObject({
      status: 'warning_needs_response',
      is_charge_refundable: true,
      balance_transactions: [],
    });
    expect(await stripe.disputes.retrieve(returned.id)).toMatchObject({
      status: 'lost',
      amount: 600,
      evidence_details: { due_by: 0 },
    });
  });

  test('credit notes are found by customer, invoice and time', async () => {
    const other = createCustomer(world).object.id;
    const invoices = [open(1000, other), open(500, other)] as const;
    const notes = [invoices[0], invoices[1], invoices[0]].map((invoice) => {
      tick();
      return createCreditNote(world, { invoice, amount: 100 }).object;
    });
    const all = notes.map(({ id }) => id).reverse();
    expect(ids(await stripe.creditNotes.list({ customer: other }))).toEqual(all);
    expect(ids(await stripe.creditNotes.list({ invoice: invoices[1] }))).toEqual([notes[1]?.id]);
    expect(ids(await stripe.creditNotes.list({ customer: other, invoice: invoices[0] }))).toEqual([
      notes[2]?.id,
      notes[0]?.id,
    ]);
    expect(ids(await stripe.creditNotes.list({ created: { gte: notes[2]?.created ?? 0 } }))).toEqual([
      notes[2]?.id,
    ]);
    const paged = stripe.creditNotes.list({ customer: other, limit: 1 });
    expect((await paged.autoPagingToArray({ limit: 9 })).map(({ id }) => id)).toEqual(all);
  });

  test('a credit note before the payment, and its invoice', async () => {
    const invoice = open(1000);
    const { id } = createCreditNote(world, { invoice, amount: 300 }).object;
    expect(await stripe.creditNotes.retrieve(id)).toMatchObject({
      object: 'credit_note',
      invoice,
      customer,
      amount: 300,
      total: 300,
      status: 'issued',
      type: 'pre_payment',
      pre_payment_amount: 300,
      post_payment_amount: 0,
      out_of_band_amount: null,
      customer_balance_transaction: null,
      refunds: [],
      voided_at: null,
    });
    expect(await stripe.invoices.retrieve(invoice)).toMatchObject({
      total: 1000,
      amount_due: 700,
      amount_remaining: 700,
      pre_payment_credit_notes_amount: 300,
      post_payment_credit_notes_amount: 0,
    });
    const [waiting] = (await stripe.invoicePayments.list({ invoice })).data;
    expect(waiting?.amount_requested).toBe(700);
    voidCreditNote(world, id);
    expect(await stripe.creditNotes.retrieve(id)).toMatchObject({
      status: 'void',
      voided_at: expect.any(Number),
    });
    expect(await stripe.invoices.retrieve(invoice)).toMatchObject({
      amount_due: 1000,
      amount_remaining: 1000,
      pre_payment_credit_notes_amount: 0,
    });
  });

  test('a credit note after the payment, and a mixed one', async () => {
    const { invoice } = paid(1000);
    const parts = { refundAmount: 300, balanceAmount: 200, outOfBandAmount: 100 };
    const { object: note } = createCreditNote(world, { invoice, amount: 600, ...parts });
    expect(await stripe.creditNotes.retrieve(note.id)).toMatchObject({
      type: 'post_payment',
      pre_payment_amount: 0,
      post_payment_amount: 600,
      out_of_band_amount: 100,
      customer_balance_transaction: expect.stringMatching(/^cbtxn_/),
      refunds: [
        {
          amount_refunded: 300,
          refund: note.refunds[0]?.refund,
          type: 'refund',
          payment_record_refund: null,
        },
      ],
    });
    expect((await stripe.refunds.retrieve(note.refunds[0]?.refund ?? '')).amount).toBe(300);
    expect(await stripe.invoices.retrieve(invoice)).toMatchObject({
      status: 'paid',
      amount_due: 1000,
      amount_remaining: 0,
      post_payment_credit_notes_amount: 600,
    });
    const half = open(1000);
    payInvoicePart(world, half, 400);
    const { object: mixed } = createCreditNote(world, { invoice: half, amount: 700, refundAmount: 100 });
    expect(await stripe.creditNotes.retrieve(mixed.id)).toMatchObject({
      type: 'mixed',
      pre_payment_amount: 600,
      post_payment_amount: 100,
    });
    expect(await stripe.invoices.retrieve(half)).toMatchObject({
      status: 'paid',
      amount_due: 400,
      amount_paid: 400,
      amount_remaining: 0,
      pre_payment_credit_notes_amount: 600,
      post_payment_credit_notes_amount: 100,
    });
  });

  test('the invoice of a payment is found through its invoice payment', async () => {
    const { invoice, payment_intent } = paid(1000);
    const find = (payment: Stripe.InvoicePaymentListParams.Payment) =>
      stripe.invoicePayments.list({ payment });
    const found = await find({ type: 'payment_intent', payment_intent });
    expect(found.data).toMatchObject([{ invoice, payment: { type: 'payment_intent', payment_intent } }]);
    payInvoice(world, open(70), { offStripe: true });
    const [record] = (await find({ type: 'payment_record' })).data;
    const payment_record = String(record?.payment.payment_record);
    expect(ids(await find({ type: 'payment_record', payment_record }))).toEqual([record?.id]);
    expect(ids(await find({ type: 'payment_intent', payment_record }))).toEqual([]);
    expect(ids(await find({ type: 'payment_record', payment_intent }))).toEqual([]);
  });

  test('charges, payment intents, customers and invoices can be expanded', async () => {
    const { invoice, payment_intent, charge } = paid(1000);
    const { id: refund } = refundPayment(world, { invoice, amount: 100 }).object;
    const { id: dispute } = openDispute(world, { invoice, inquiry: true }).object;
    const expand = ['charge', 'payment_intent.customer'];
    const seen = {
      charge: {
        id: charge,
        object: 'charge',
        amount: 1000,
        amount_refunded: 100,
        refunded: false,
        disputed: true,
      },
      payment_intent: { id: payment_intent, customer: { id: customer } },
    };
    expect(await stripe.refunds.retrieve(refund, { expand })).toMatchObject(seen);
    expect(await stripe.disputes.retrieve(dispute, { expand })).toMatchObject(seen);
    const noted = createCreditNote(world, { invoice, amount: 50, outOfBandAmount: 50 }).object;
    const list = await stripe.creditNotes.list({ invoice, expand: ['data.invoice.customer'] });
    expect(list.data).toMatchObject([{ id: noted.id, invoice: { id: invoice, customer: { id: customer } } }]);
    expect((await stripe.refunds.retrieve(refund)).charge).toBe(charge);
  });

  test.each([
    ['/v1/disputes?status=lost', 'parameter_unknown', 'Received unknown parameter: status', 'status'],
    ['/v1/refunds?status=failed', 'parameter_unknown', 'Received unknown parameter: status', 'status'],
    ['/v1/refunds?customer=cus_x', 'parameter_unknown', 'Received unknown parameter: customer', 'customer'],
    ['/v1/credit_notes?status=void', 'parameter_unknown', 'Received unknown parameter: status', 'status'],
    ['/v1/refunds?charge=ch_x', 'resource_missing', "No such charge: 'ch_x'", 'charge'],
    [
      '/v1/disputes?payment_intent=pi_x',
      'resource_missing',
      "No such payment_intent: 'pi_x'",
      'payment_intent',
    ],
    ['/v1/credit_notes?invoice=in_x', 'resource_missing', "No such invoice: 'in_x'", 'invoice'],
    ['/v1/disputes?starting_after=dp_x', 'resource_missing', "No such dispute: 'dp_x'", 'starting_after'],
    [
      '/v1/invoice_payments?payment[payment_intent]=pi_x',
      'parameter_missing',
      'Missing required param: payment[type].',
      'payment[type]',
    ],
    [
      '/v1/invoice_payments?payment[type]=payment_intent&payment[payment_intent]=pi_x',
      'resource_missing',
      "No such payment_intent: 'pi_x'",
      'payment[payment_intent]',
    ],
    [
      '/v1/invoice_payments?payment[type]=charge',
      undefined,
      'Invalid payment[type]: must be one of payment_intent or payment_record',
      'payment[type]',
    ],
    [
      '/v1/invoice_payments?payment[type]=charge&payment[charge]=ch_x',
      'parameter_unknown',
      'Received unknown parameter: payment[charge]',
      'payment[charge]',
    ],
    [
      '/v1/invoice_payments?payment=pi_x',
      'parameter_unknown',
      'Received unknown parameter: payment',
      'payment',
    ],
    [
      '/v1/refunds?expand[]=data.invoice',
      undefined,
      'This property cannot be expanded (invoice).',
      undefined,
    ],
    [
      '/v1/credit_notes?expand[]=data.refund',
      undefined,
      'This property cannot be expanded (refund).',
      undefined,
    ],
  ])('%s is refused', async (path, code, message, param) => {
    const { status, body } = await ask(path);
    expect(status).toBe(400);
    const { error } = body as { error: Record<string, string> };
    expect([error.code, error.message, error.param]).toEqual([code, message, param]);
  });

  test.each(['refunds/re', 'disputes/dp', 'credit_notes/cn'])('/v1/%s_no is not there', async (path) => {
    expect(await ask(`/v1/${path}_no`)).toMatchObject({
      status: 404,
      body: { error: { code: 'resource_missing', param: 'id' } },
    });
  });

  describe('over a restart', () => {
    let folder: string;
    let file: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'w5t-returns-'));
      file = join(folder, 'stripe-local.json');
    });
    afterAll(() => rm(folder, { recursive: true }));

    test('all of it is kept', async () => {
      await saveWorld(world, file);
      const loaded = await loadWorld(file, { now: world.now });
      expect(world.refunds.size * world.disputes.size * world.creditNotes.size).toBeGreaterThan(0);
      for (const name of ['refunds', 'disputes', 'creditNotes', 'invoices', 'events'] as const) {
        expect([...(loaded?.[name].values() ?? [])]).toEqual([...world[name].values()]);
      }
    });

    test('a file of before loads, and its invoices have no credit notes', async () => {
      const old = createWorld({ now: world.now, chance: seededChance(1) });
      const { id } = createCustomer(old).object;
      const { object: draft } = createInvoice(old, { customer: id, lines: [{ amount: 5 }] });
      finalizeInvoice(old, draft.id);
      await saveWorld(old, file);
      const saved = JSON.parse(await readFile(file, 'utf8'), (key, value) =>
        ['refunds', 'disputes', 'creditNotes'].includes(key) || key.endsWith('CreditNotesAmount')
          ? undefined
          : value,
      );
      expect(Object.keys(saved.objects)).not.toContain('refunds');
      await writeFile(file, JSON.stringify(saved));
      const loaded = await loadWorld(file, { now: world.now });
      if (!loaded) throw new Error('nothing was loaded');
      expect([...loaded.invoices.values()]).toEqual([...old.invoices.values()]);
      expect(loaded.history).toEqual(old.history);
      payInvoice(loaded, draft.id);
      expect(refundPayment(loaded, { invoice: draft.id }).object.amount).toBe(5);
    });
  });
});
