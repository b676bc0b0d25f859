import { beforeEach, describe, expect, test } from 'vitest';
import {
  createCreditNote,
  createCustomer,
  createInvoice,
  createSubscription,
  finalizeInvoice,
  invoiceSubscription,
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
import type { WorldEvent } from '@/lib/stripe-local/model';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { createWorld, type World } from '@/lib/stripe-local/world';

const DAY = 86_400;
const types = ({ events }: { events: WorldEvent[] }) => events.map(({ type }) => type);

let world: World;
let now: number;
let customer: string;

const open = (total = 1000) => {
  const { object } = createInvoice(world, { customer, lines: [{ amount: total }] });
  return finalizeInvoice(world, object.id).object.id;
};
const paid = (total = 1000) => payInvoice(world, open(total)).object.id;
const invoiceOf = (id: string) => {
  const invoice = world.invoices.get(id);
  if (!invoice) throw new Error(`no invoice ${id}`);
  return invoice;
};
const charges = (done: { events: WorldEvent[] }) =>
  done.events.filter(({ type }) => type.startsWith('charge.')).map(({ about }) => about);

beforeEach(() => {
  now = Date.parse('2026-03-31T12:00:00Z');
  world = createWorld({ now: () => new Date(now), chance: seededChance(7) });
  customer = createCustomer(world, { email: 'ada@example.com' }).object.id;
});

describe('refunds', () => {
  test('give back a part, then the rest, and no more', () => {
    const invoice = paid();
    const part = refundPayment(world, { invoice, amount: 400, reason: 'duplicate' });
    expect(types(part)).toEqual(['refund.created', 'charge.refunded']);
    const { charge, paymentIntent } = invoiceOf(invoice);
    expect(part.object).toMatchObject({
      amount: 400,
      charge,
      paymentIntent,
      status: 'succeeded',
      reason: 'duplicate',
    });
    expect(charges(part)).toMatchObject([{ id: charge, amount: 1000, amountRefunded: 400 }]);
    expect(() => refundPayment(world, { invoice, amount: 601 })).toThrow(
      'Refund amount (601) is greater than unrefunded amount on charge (600)',
    );
    expect(() => refundPayment(world, { invoice, amount: 0 })).toThrow('Invalid positive integer');
    expect(refundPayment(world, { paymentIntent: paymentIntent ?? '' }).object.amount).toBe(600);
    expect(() => refundPayment(world, { invoice })).toThrow(`Charge ${charge} has already been refunded.`);
    expect(invoiceOf(invoice)).toMatchObject({ status: 'paid', amountPaid: 1000 });
  });

  test('a charge that was refunded says what it was before', () => {
    const [, event] = refundPayment(world, { invoice: paid(), amount: 250 }).events;
    if (!event) throw new Error('no event');
    expect(renderEvent(event, '2026-10-28.endive').data).toMatchObject({
      object: { object: 'charge', amount_refunded: 250, refunded: false },
      previous_attributes: { amount_refunded: 0 },
    });
  });

  test('a pending one succeeds, fails or is canceled, and a succeeded one fails weeks later', () => {
    const invoice = paid();
    const pending = () => refundPayment(world, { invoice, status: 'pending' }).object.id;
    const canceled = settleRefund(world, pending(), 'canceled');
    expect(types(canceled)).toEqual(['refund.updated']);
    expect(canceled.object).toMatchObject({ status: 'canceled', failureReason: null });

    const failed = settleRefund(world, pending(), 'failed');
    expect(types(failed)).toEqual(['refund.updated', 'refund.failed']);
    expect(failed.object).toMatchObject({ status: 'failed', failureReason: 'expired_or_canceled_card' });

    const late = pending();
    expect(types(settleRefund(world, late, 'succeeded'))).toEqual(['refund.updated']);
    expect(() => settleRefund(world, late, 'canceled')).toThrow(/is succeeded and cannot become canceled/);
    expect(() => refundPayment(world, { invoice })).toThrow(/already been refunded/);
    now += 21 * DAY * 1000;
    settleRefund(world, late, 'failed');
    expect(() => settleRefund(world, late, 'succeeded')).toThrow(/is failed/);
    expect(refundPayment(world, { invoice, status: 'requires_action' }).object.amount).toBe(1000);
    expect(() => settleRefund(world, 're_no', 'failed')).toThrow("No such refund: 're_no'");
  });

  test('nothing that was paid off Stripe, or not at all', () => {
    const cash = payInvoice(world, open(), { offStripe: true }).object;
    const unpaid = invoiceOf(open());
    for (const { id, number, paymentIntent } of [cash, unpaid]) {
      expect(() => refundPayment(world, { invoice: id })).toThrow(
        `Stripe collected nothing for the invoice ${number}.`,
      );
      expect(() => openDispute(world, { invoice: id })).toThrow(/collected nothing/);
      expect(() => returnDebit(world, { invoice: id })).toThrow(/collected nothing/);
      expect(() => refundPayment(world, { paymentIntent: paymentIntent ?? '' })).toThrow(
        /no successful charge/,
      );
    }
    const half = payInvoice(world, open(), { offStripe: 400 }).object.id;
    expect(refundPayment(world, { invoice: half }).object.amount).toBe(600);
  });

  test('of an invoice that was paid in parts, the payment that has enough', () => {
    const invoice = open();
    payInvoicePart(world, invoice, 300);
    payInvoice(world, invoice);
    const { charge } = invoiceOf(invoice);
    expect(refundPayment(world, { invoice, amount: 500 }).object.charge).toBe(charge);
    const rest = [refundPayment(world, { invoice }), refundPayment(world, { invoice })];
    expect(rest.map(({ object }) => object.amount).sort()).toEqual([200, 300]);
    expect(() => refundPayment(world, { invoice })).toThrow(/already been refunded/);
  });
});

describe('disputes', () => {
  const moved = (id: string) =>
    world.disputes.get(id)?.balanceTransactions.map(({ amount, created }) => [amount, created]);

  test('take the money at once, and one that is won brings it back', () => {
    const invoice = paid();
    const opened = openDispute(world, { invoice });
    expect(types(opened)).toEqual(['charge.dispute.created', 'charge.dispute.funds_withdrawn']);
    const { id, created, evidenceDueBy } = opened.object;
    expect(opened.object).toMatchObject({ amount: 1000, status: 'needs_response', reason: 'fraudulent' });
    expect((evidenceDueBy - created) / DAY).toBeGreaterThanOrEqual(9);
    expect((evidenceDueBy - created) / DAY).toBeLessThanOrEqual(20);
    expect(() => refundPayment(world, { invoice })).toThrow(/has been charged back/);
    expect(() => openDispute(world, { invoice })).toThrow(/Nothing is left/);

    const submitted = moveDispute(world, id, 'under_review');
    expect(types(submitted)).toEqual(['charge.dispute.updated']);
    expect(submitted.object).toMatchObject({ submissionCount: 1, pastDue: false });
    now += 40 * DAY * 1000;
    const won = moveDispute(world, id, 'won');
    expect(types(won)).toEqual(['charge.dispute.closed', 'charge.dispute.funds_reinstated']);
    expect(moved(id)).toEqual([
      [-1000, created],
      [1000, created + 40 * DAY],
    ]);
    expect(() => moveDispute(world, id, 'lost')).toThrow(`The dispute ${id} is won and cannot become lost.`);
  });

  test('an inquiry takes nothing until it is escalated and lost', () => {
    const invoice = paid();
    const asked = openDispute(world, { invoice, amount: 600, inquiry: true, reason: 'duplicate' });
    expect(types(asked)).toEqual(['charge.dispute.created']);
    const { id } = asked.object;
    expect([asked.object.status, moved(id)]).toEqual(['warning_needs_response', []]);
    expect(refundPayment(world, { invoice, amount: 100 }).object.status).toBe('succeeded');
    expect(moveDispute(world, id, 'warning_under_review').object.submissionCount).toBe(1);
    const escalated = moveDispute(world, id, 'needs_response');
    expect(types(escalated)).toEqual(['charge.dispute.updated', 'charge.dispute.funds_withdrawn']);
    expect(moved(id)).toMatchObject([[-600, expect.any(Number)]]);
    expect(() => refundPayment(world, { invoice })).toThrow(/charged back/);
    now += 30 * DAY * 1000;
    expect(moveDispute(world, id, 'under_review').object).toMatchObject({
      submissionCount: 2,
      pastDue: true,
    });
    expect(types(moveDispute(world, id, 'lost'))).toEqual(['charge.dispute.closed']);
    expect(moved(id)).toHaveLength(1);
  });

  test('an inquiry may just end', () => {
    for (const status of ['warning_closed', 'prevented'] as const) {
      const invoice = paid();
      const { id } = openDispute(world, { invoice, inquiry: true }).object;
      const closed = moveDispute(world, id, status);
      expect(types(closed)).toEqual(['charge.dispute.closed']);
      expect(closed.object.balanceTransactions).toEqual([]);
      expect(() => moveDispute(world, id, 'needs_response')).toThrow(/cannot become/);
      expect(openDispute(world, { invoice }).object.amount).toBe(1000);
    }
  });

  test('a bank takes what was neither refunded nor disputed, unless it says how much', () => {
    const invoice = paid();
    refundPayment(world, { invoice, amount: 300 });
    expect(openDispute(world, { invoice, amount: 200 }).object.amount).toBe(200);
    expect(openDispute(world, { invoice }).object.amount).toBe(500);
    expect(openDispute(world, { invoice, amount: 300 }).object.amount).toBe(300);
    expect(() => openDispute(world, { invoice, amount: 1 })).toThrow(/has 0 left to dispute, not 1/);
  });

  test('a debit that the bank returns is lost at once, after the invoice was paid', () => {
    const invoice = paid();
    const returned = returnDebit(world, { invoice });
    expect(types(returned)).toEqual([
      'charge.dispute.created',
      'charge.dispute.funds_withdrawn',
      'charge.dispute.closed',
    ]);
    expect(returned.object).toMatchObject({
      amount: 1000,
      status: 'lost',
      reason: 'insufficient_funds',
      evidenceDueBy: 0,
    });
    expect(moved(returned.object.id)).toMatchObject([[-1000, returned.object.created]]);
    expect(invoiceOf(invoice)).toMatchObject({ status: 'paid', amountPaid: 1000 });
    expect(() => moveDispute(world, returned.object.id, 'under_review')).toThrow(/is lost/);
  });
});

describe('credit notes', () => {
  test('before the payment take off what is left to pay, and no more is collected', () => {
    const invoice = open();
    const noted = createCreditNote(world, { invoice, amount: 300, reason: 'order_change' });
    expect(types(noted)).toEqual(['credit_note.created', 'invoice.updated']);
    const { number, paymentIntent } = invoiceOf(invoice);
    expect(noted.object).toMatchObject({
      number: `${number}-CN-01`,
      prePaymentAmount: 300,
      postPaymentAmount: 0,
      refunds: [],
      status: 'issued',
    });
    expect(invoiceOf(invoice)).toMatchObject({
      status: 'open',
      total: 1000,
      amountDue: 700,
      prePaymentCreditNotesAmount: 300,
    });
    expect(world.paymentIntents.get(paymentIntent ?? '')?.amount).toBe(700);
    payInvoice(world, invoice);
    expect(invoiceOf(invoice)).toMatchObject({ status: 'paid', amountDue: 700, amountPaid: 700 });
    expect(world.paymentIntents.get(paymentIntent ?? '')?.amountReceived).toBe(700);
  });

  test('over all that is left make the invoice paid, with nothing collected', () => {
    const { id } = createSubscription(world, {
      customer,
      items: [{ unitAmount: 990 }],
      status: 'incomplete',
    }).object;
    const { invoice } = invoiceSubscription(world, id).object;
    finalizeInvoice(world, invoice.id);
    const noted = createCreditNote(world, { invoice: invoice.id, amount: 990 });
    expect(types(noted)).toEqual([
      'credit_note.created',
      'payment_intent.canceled',
      'invoice.updated',
      'invoice.paid',
      'customer.subscription.updated',
    ]);
    expect(invoiceOf(invoice.id)).toMatchObject({ status: 'paid', amountDue: 0, amountPaid: 0 });
    expect(world.subscriptions.get(id)?.status).toBe('active');
    expect(() => voidCreditNote(world, noted.object.id)).toThrow(/is paid, not open/);
  });

  test('after the payment give it back: refunded, to the balance, off Stripe', () => {
    const invoice = paid();
    const noted = createCreditNote(world, {
      invoice,
      amount: 600,
      refundAmount: 300,
      balanceAmount: 200,
      outOfBandAmount: 100,
    });
    expect(types(noted)).toEqual([
      'refund.created',
      'charge.refunded',
      'credit_note.created',
      'invoice.updated',
    ]);
    const [refund] = world.refunds.values();
    expect(refund).toMatchObject({ amount: 300, charge: invoiceOf(invoice).charge });
    expect(noted.object).toMatchObject({
      prePaymentAmount: 0,
      postPaymentAmount: 600,
      outOfBandAmount: 100,
      customerBalanceTransaction: expect.stringMatching(/^cbtxn_/),
      refunds: [{ refund: refund?.id, amount: 300 }],
    });
    expect(invoiceOf(invoice)).toMatchObject({
      status: 'paid',
      amountDue: 1000,
      amountPaid: 1000,
      postPaymentCreditNotesAmount: 600,
    });
    expect(() => createCreditNote(world, { invoice, amount: 401, outOfBandAmount: 401 })).toThrow(
      /has 400 left to credit, not 401/,
    );
    refundPayment(world, { invoice, amount: 150 });
    expect(() => createCreditNote(world, { invoice, amount: 400, outOfBandAmount: 400 })).toThrow(
      /has 250 left to credit/,
    );
    expect(() => voidCreditNote(world, noted.object.id)).toThrow(/gave money back/);
  });

  test('over an invoice paid in part do both, and refund every payment', () => {
    const invoice = open();
    payInvoicePart(world, invoice, 300);
    payInvoicePart(world, invoice, 200);
    const noted = createCreditNote(world, { invoice, amount: 900, refundAmount: 400 });
    expect(noted.object).toMatchObject({ prePaymentAmount: 500, postPaymentAmount: 400 });
    expect(noted.object.refunds).toHaveLength(2);
    expect(noted.object.refunds.reduce((sum, { amount }) => sum + amount, 0)).toBe(400);
    expect(invoiceOf(invoice)).toMatchObject({
      status: 'paid',
      amountDue: 500,
      amountPaid: 500,
      prePaymentCreditNotesAmount: 500,
      postPaymentCreditNotesAmount: 400,
    });
    expect(types(noted)).toContain('invoice.paid');
    expect(types(noted)).not.toContain('invoice.payment_succeeded');
  });

  test('what does not add up is refused, and nothing happens', () => {
    const invoice = paid();
    const cash = payInvoice(world, open(), { offStripe: true }).object.id;
    const before = world.history.length;
    expect(() => createCreditNote(world, { invoice, amount: 100 })).toThrow(/must be 100 together, not 0/);
    expect(() => createCreditNote(world, { invoice, amount: 100, refundAmount: 60 })).toThrow(/not 60/);
    expect(() =>
      createCreditNote(world, { invoice, amount: 100, refundAmount: 200, balanceAmount: -100 }),
    ).toThrow(/together/);
    expect(() => createCreditNote(world, { invoice: cash, amount: 9, refundAmount: 9 })).toThrow(
      /has 0 to refund, not 9/,
    );
    expect(() => createCreditNote(world, { invoice: open(), amount: 10, outOfBandAmount: 10 })).toThrow(
      /must be 0 together/,
    );
    expect(() => createCreditNote(world, { invoice, amount: 0 })).toThrow('Invalid positive integer');
    const draft = createInvoice(world, { customer, lines: [{ amount: 5 }] }).object.id;
    expect(() => createCreditNote(world, { invoice: draft, amount: 5 })).toThrow(/is draft/);
    const happened = types({ events: world.history.slice(before) });
    expect(happened.filter((type) => /^(credit_note|refund|charge)/.test(type))).toEqual([]);
    expect(createCreditNote(world, { invoice: cash, amount: 9, outOfBandAmount: 9 }).object.amount).toBe(9);
  });

  test('a voided one puts the amounts back', () => {
    const invoice = open();
    const { id } = createCreditNote(world, { invoice, amount: 300 }).object;
    const voided = voidCreditNote(world, id);
    expect(types(voided)).toEqual(['credit_note.updated', 'credit_note.voided', 'invoice.updated']);
    expect(voided.object).toMatchObject({ status: 'void', voidedAt: Math.floor(now / 1000) });
    expect(invoiceOf(invoice)).toMatchObject({ amountDue: 1000, prePaymentCreditNotesAmount: 0 });
    expect(() => voidCreditNote(world, id)).toThrow(/already void/);
    expect(payInvoice(world, invoice).object.amountPaid).toBe(1000);
  });
});
