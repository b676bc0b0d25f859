import { beforeEach, describe, expect, test } from 'vitest';
import * as act from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import type { WorldEvent, WorldObject } from '@/lib/stripe-local/model';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { renderObject } from '@/lib/stripe-local/render/object';
import { shapeOf } from '@/lib/stripe-local/render/shape';
import { createWorld, type World } from '@/lib/stripe-local/world';

const DAY = 86_400;
const NEWEST = '2026-10-28.endive';
const types = ({ events }: { events: WorldEvent[] }) => events.map(({ type }) => type);
/** Expects an action to cause these events, in their order. */
const expectEvents = (done: { events: WorldEvent[] }, expected: string) =>
  expect(types(done)).toEqual(expected.split(/\s+/));

let world: World;
let now: number;
let customer: string;

beforeEach(() => {
  now = Date.parse('2026-03-31T12:00:00Z');
  world = createWorld({ now: () => new Date(now), chance: seededChance(7) });
  customer = act.createCustomer(world, { email: 'ada@example.com' }).object.id;
});

const open = (total = 1000) => {
  const { object } = act.createInvoice(world, { customer, lines: [{ amount: total }] });
  return act.finalizeInvoice(world, object.id).object.id;
};
const paid = () => act.payInvoice(world, open()).object.id;
const paidOffStripe = () => act.payInvoice(world, open(), { offStripe: true }).object.id;
const invoiceOf = (id: string) => {
  const invoice = world.invoices.get(id);
  if (!invoice) throw new Error(`no invoice ${id}`);
  return invoice;
};
/** An object as the API shows it. */
const shown = (object: WorldObject | undefined) => object && renderObject(object, shapeOf(NEWEST));

describe('refunds at the local Stripe', () => {
  const refund = (given: Parameters<typeof act.refundPayment>[1]) => act.refundPayment(world, given);

  test('a payment is refunded in part, then completely, and no further', () => {
    const invoice = paid();
    const part = refund({ invoice, amount: 400, reason: 'duplicate' });
    expectEvents(part, 'refund.created charge.refunded');
    const { charge, paymentIntent } = invoiceOf(invoice);
    expect(shown(part.object)).toMatchObject({
      object: 'refund',
      amount: 400,
      charge,
      payment_intent: paymentIntent,
      customer,
      currency: 'eur',
      status: 'succeeded',
      reason: 'duplicate',
      metadata: {},
    });
    expect(() => refund({ invoice, amount: 601 })).toThrow(
      'Refund amount (601) is greater than unrefunded amount on charge (600)',
    );
    expect(() => refund({ invoice, amount: 0 })).toThrow('Invalid positive integer');
    expect(refund({ paymentIntent: paymentIntent ?? '' }).object.amount).toBe(600);
    expect(() => refund({ invoice })).toThrow(`Charge ${charge} has already been refunded.`);
    expect(invoiceOf(invoice)).toMatchObject({ status: 'paid', amountPaid: 1000 });
  });

  test('the event of a refunded charge shows what was refunded before', () => {
    const invoice = paid();
    const [, event] = refund({ invoice, amount: 250 }).events;
    expect(event && renderEvent(event, NEWEST).data).toMatchObject({
      object: { object: 'charge', id: invoiceOf(invoice).charge, amount_refunded: 250, refunded: false },
      previous_attributes: { amount_refunded: 0 },
    });
  });

  test('a pending refund succeeds, fails or is canceled, and one that succeeded may fail weeks later', () => {
    const invoice = paid();
    const pending = () => refund({ invoice, status: 'pending' }).object;
    const first = pending();
    expect(shown(first)).toMatchObject({ status: 'pending', pending_reason: 'processing', reason: null });
    expect(shown(first)).not.toHaveProperty('failure_reason');
    const canceled = act.settleRefund(world, first.id, 'canceled');
    expectEvents(canceled, 'refund.updated');
    expect(canceled.object).toMatchObject({ status: 'canceled', failureReason: null });

    const failed = act.settleRefund(world, pending().id, 'failed');
    expectEvents(failed, 'refund.updated refund.failed');
    expect(shown(failed.object)).toMatchObject({
      status: 'failed',
      failure_reason: 'expired_or_canceled_card',
      failure_balance_transaction: expect.stringMatching(/^txn_/),
    });

    const late = pending().id;
    expectEvents(act.settleRefund(world, late, 'succeeded'), 'refund.updated');
    expect(() => act.settleRefund(world, late, 'canceled')).toThrow(
      /is succeeded and cannot become canceled/,
    );
    expect(() => refund({ invoice })).toThrow(/already been refunded/);
    now += 21 * DAY * 1000;
    act.settleRefund(world, late, 'failed');
    expect(() => act.settleRefund(world, late, 'succeeded')).toThrow(/is failed/);
    expect(refund({ invoice, status: 'requires_action' }).object.amount).toBe(1000);
    expect(() => act.settleRefund(world, 're_no', 'failed')).toThrow("No such refund: 're_no'");
  });

  test('an invoice that Stripe collected nothing for can be neither refunded nor disputed', () => {
    for (const { id, number, paymentIntent } of [invoiceOf(paidOffStripe()), invoiceOf(open())]) {
      const message = `Stripe collected nothing for the invoice ${number}.`;
      expect(() => refund({ invoice: id })).toThrow(message);
      expect(() => act.openDispute(world, { invoice: id })).toThrow(message);
      expect(() => act.returnDebit(world, { invoice: id })).toThrow(message);
      expect(() => refund({ paymentIntent: paymentIntent ?? '' })).toThrow(/no successful charge/);
    }
    const half = act.payInvoice(world, open(), { offStripe: 400 }).object.id;
    expect(refund({ invoice: half }).object.amount).toBe(600);
  });

  test('a refund of an invoice paid in parts takes the payment that has enough left', () => {
    const invoice = open();
    act.payInvoicePart(world, invoice, 300);
    act.payInvoice(world, invoice);
    const { charge } = invoiceOf(invoice);
    expect(refund({ invoice, amount: 500 }).object.charge).toBe(charge);
    const rest = [refund({ invoice }), refund({ invoice })];
    expect(rest.map(({ object }) => object.amount).sort()).toEqual([200, 300]);
    expect(() => refund({ invoice })).toThrow(/already been refunded/);
  });
});

describe('disputes at the local Stripe', () => {
  const dispute = (given: Parameters<typeof act.openDispute>[1]) => act.openDispute(world, given);
  const moved = (id: string) =>
    world.disputes.get(id)?.balanceTransactions.map(({ amount, created }) => [amount, created]);

  test('a dispute takes the money at once, and winning it brings the money back', () => {
    const invoice = paid();
    const opened = dispute({ invoice });
    expectEvents(opened, 'charge.dispute.created charge.dispute.funds_withdrawn');
    const { id, created, evidenceDueBy } = opened.object;
    const withdrawn = { amount: -1000, net: -2500, reporting_category: 'dispute', type: 'adjustment' };
    expect(shown(opened.object)).toMatchObject({
      object: 'dispute',
      amount: 1000,
      charge: invoiceOf(invoice).charge,
      payment_intent: invoiceOf(invoice).paymentIntent,
      status: 'needs_response',
      reason: 'fraudulent',
      is_charge_refundable: false,
      evidence_details: { due_by: evidenceDueBy, has_evidence: false, past_due: false, submission_count: 0 },
      balance_transactions: [{ ...withdrawn, source: id }],
    });
    expect((evidenceDueBy - created) / DAY).toBeGreaterThanOrEqual(9);
    expect((evidenceDueBy - created) / DAY).toBeLessThanOrEqual(20);
    expect(() => act.refundPayment(world, { invoice })).toThrow(/has been charged back/);
    expect(() => dispute({ invoice })).toThrow(/Nothing is left/);

    const submitted = act.moveDispute(world, id, 'under_review');
    expectEvents(submitted, 'charge.dispute.updated');
    expect(submitted.object).toMatchObject({ submissionCount: 1, pastDue: false });
    now += 40 * DAY * 1000;
    const won = act.moveDispute(world, id, 'won');
    expectEvents(won, 'charge.dispute.closed charge.dispute.funds_reinstated');
    const reversal = { amount: 1000, net: 1000, reporting_category: 'dispute_reversal', type: 'adjustment' };
    expect(shown(won.object)).toMatchObject({
      status: 'won',
      evidence_details: { has_evidence: true, submission_count: 1 },
      balance_transactions: [{ created }, { ...reversal, created: created + 40 * DAY }],
    });
    expect(() => act.moveDispute(world, id, 'lost')).toThrow(
      `The dispute ${id} is won and cannot become lost.`,
    );
  });

  test('an inquiry takes no money until it is escalated and lost', () => {
    const invoice = paid();
    const asked = dispute({ invoice, amount: 600, inquiry: true, reason: 'duplicate' });
    expectEvents(asked, 'charge.dispute.created');
    const { id } = asked.object;
    expect(shown(asked.object)).toMatchObject({
      status: 'warning_needs_response',
      is_charge_refundable: true,
      balance_transactions: [],
    });
    expect(act.refundPayment(world, { invoice, amount: 100 }).object.status).toBe('succeeded');
    expect(act.moveDispute(world, id, 'warning_under_review').object.submissionCount).toBe(1);
    const escalated = act.moveDispute(world, id, 'needs_response');
    expectEvents(escalated, 'charge.dispute.updated charge.dispute.funds_withdrawn');
    expect(moved(id)).toMatchObject([[-600, expect.any(Number)]]);
    expect(() => act.refundPayment(world, { invoice })).toThrow(/charged back/);
    now += 30 * DAY * 1000;
    const late = { submissionCount: 2, pastDue: true };
    expect(act.moveDispute(world, id, 'under_review').object).toMatchObject(late);
    expectEvents(act.moveDispute(world, id, 'lost'), 'charge.dispute.closed');
    expect(moved(id)).toHaveLength(1);
  });

  test.each(['warning_closed', 'prevented'] as const)('an inquiry may just end as %s', (status) => {
    const invoice = paid();
    const { id } = dispute({ invoice, inquiry: true }).object;
    const closed = act.moveDispute(world, id, status);
    expectEvents(closed, 'charge.dispute.closed');
    expect(closed.object.balanceTransactions).toEqual([]);
    expect(() => act.moveDispute(world, id, 'needs_response')).toThrow(/cannot become/);
    expect(dispute({ invoice }).object.amount).toBe(1000);
  });

  test('a dispute takes all that was neither refunded nor disputed, unless its amount is given', () => {
    const invoice = paid();
    act.refundPayment(world, { invoice, amount: 300 });
    expect(dispute({ invoice, amount: 200 }).object.amount).toBe(200);
    expect(dispute({ invoice }).object.amount).toBe(500);
    expect(dispute({ invoice, amount: 300 }).object.amount).toBe(300);
    expect(() => dispute({ invoice, amount: 1 })).toThrow(/has 0 left to dispute, not 1/);
  });

  test('a debit that the bank returns is a lost dispute at once', () => {
    const invoice = paid();
    const returned = act.returnDebit(world, { invoice });
    expectEvents(returned, 'charge.dispute.created charge.dispute.funds_withdrawn charge.dispute.closed');
    const reason = 'insufficient_funds';
    expect(returned.object).toMatchObject({ amount: 1000, status: 'lost', reason, evidenceDueBy: 0 });
    expect(moved(returned.object.id)).toMatchObject([[-1000, returned.object.created]]);
    expect(invoiceOf(invoice)).toMatchObject({ status: 'paid', amountPaid: 1000 });
    expect(() => act.moveDispute(world, returned.object.id, 'under_review')).toThrow(/is lost/);
  });
});

describe('credit notes at the local Stripe', () => {
  const credit = (invoice: string, amount: number, parts: Partial<CreditNote> = {}) =>
    act.createCreditNote(world, { invoice, amount, ...parts });
  type CreditNote = Parameters<typeof act.createCreditNote>[1];

  test('a credit note before the payment lowers what is collected', () => {
    const invoice = open();
    const noted = credit(invoice, 300, { reason: 'order_change' });
    expectEvents(noted, 'credit_note.created invoice.updated');
    const { number, paymentIntent } = invoiceOf(invoice);
    expect(shown(noted.object)).toMatchObject({
      object: 'credit_note',
      number: `${number}-CN-01`,
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
    expect(shown(invoiceOf(invoice))).toMatchObject({
      status: 'open',
      total: 1000,
      amount_due: 700,
      amount_remaining: 700,
      pre_payment_credit_notes_amount: 300,
      post_payment_credit_notes_amount: 0,
    });
    const [waiting] = world.invoicePayments.where('invoice', invoice);
    expect(shown(waiting)).toMatchObject({ amount_requested: 700 });
    expect(world.paymentIntents.get(paymentIntent ?? '')?.amount).toBe(700);
    act.payInvoice(world, invoice);
    expect(invoiceOf(invoice)).toMatchObject({ status: 'paid', amountDue: 700, amountPaid: 700 });
    expect(world.paymentIntents.get(paymentIntent ?? '')?.amountReceived).toBe(700);
  });

  test('a credit note over the whole balance makes the invoice paid without collecting anything', () => {
    const items = [{ unitAmount: 990 }];
    const { id } = act.createSubscription(world, { customer, items, status: 'incomplete' }).object;
    const { invoice } = act.invoiceSubscription(world, id).object;
    act.finalizeInvoice(world, invoice.id);
    const noted = credit(invoice.id, 990);
    expectEvents(
      noted,
      `credit_note.created payment_intent.canceled invoice.updated invoice.paid
      customer.subscription.updated`,
    );
    expect(invoiceOf(invoice.id)).toMatchObject({ status: 'paid', amountDue: 0, amountPaid: 0 });
    expect(world.subscriptions.get(id)?.status).toBe('active');
    expect(() => act.voidCreditNote(world, noted.object.id)).toThrow(/is paid, not open/);
  });

  test('a credit note after the payment gives money back by refund, to the balance and off Stripe', () => {
    const invoice = paid();
    const noted = credit(invoice, 600, { refundAmount: 300, balanceAmount: 200, outOfBandAmount: 100 });
    expectEvents(noted, 'refund.created charge.refunded credit_note.created invoice.updated');
    const [refund] = world.refunds.values();
    expect(refund).toMatchObject({ amount: 300, charge: invoiceOf(invoice).charge });
    const refunded = { amount_refunded: 300, type: 'refund', payment_record_refund: null };
    expect(shown(noted.object)).toMatchObject({
      type: 'post_payment',
      pre_payment_amount: 0,
      post_payment_amount: 600,
      out_of_band_amount: 100,
      customer_balance_transaction: expect.stringMatching(/^cbtxn_/),
      refunds: [{ ...refunded, refund: refund?.id }],
    });
    expect(shown(invoiceOf(invoice))).toMatchObject({
      status: 'paid',
      amount_due: 1000,
      amount_paid: 1000,
      amount_remaining: 0,
      post_payment_credit_notes_amount: 600,
    });
    expect(() => credit(invoice, 401, { outOfBandAmount: 401 })).toThrow(/has 400 left to credit, not 401/);
    act.refundPayment(world, { invoice, amount: 150 });
    expect(() => credit(invoice, 400, { outOfBandAmount: 400 })).toThrow(/has 250 left to credit/);
    expect(() => act.voidCreditNote(world, noted.object.id)).toThrow(/gave money back/);
  });

  test('a credit note on an invoice paid in part credits the balance and refunds every payment', () => {
    const invoice = open();
    act.payInvoicePart(world, invoice, 300);
    act.payInvoicePart(world, invoice, 200);
    const noted = credit(invoice, 900, { refundAmount: 400 });
    const shares = { type: 'mixed', pre_payment_amount: 500, post_payment_amount: 400 };
    expect(shown(noted.object)).toMatchObject(shares);
    expect(noted.object.refunds).toHaveLength(2);
    expect(noted.object.refunds.reduce((sum, { amount }) => sum + amount, 0)).toBe(400);
    expect(shown(invoiceOf(invoice))).toMatchObject({
      status: 'paid',
      amount_due: 500,
      amount_paid: 500,
      amount_remaining: 0,
      pre_payment_credit_notes_amount: 500,
      post_payment_credit_notes_amount: 400,
    });
    expect(types(noted)).toContain('invoice.paid');
    expect(types(noted)).not.toContain('invoice.payment_succeeded');
  });

  test('a credit note whose parts do not add up is refused and changes nothing', () => {
    const [invoice, cash, unpaid] = [paid(), paidOffStripe(), open()];
    const draft = act.createInvoice(world, { customer, lines: [{ amount: 5 }] }).object.id;
    const before = world.history.length;
    const wrong: [string, number, Partial<CreditNote>, RegExp][] = [
      [invoice, 100, {}, /must be 100 together, not 0/],
      [invoice, 100, { refundAmount: 60 }, /not 60/],
      [invoice, 100, { refundAmount: 200, balanceAmount: -100 }, /together/],
      [invoice, 0, {}, /Invalid positive integer/],
      [cash, 9, { refundAmount: 9 }, /has 0 to refund, not 9/],
      [unpaid, 10, { outOfBandAmount: 10 }, /must be 0 together/],
      [draft, 5, {}, /is draft/],
    ];
    for (const [id, amount, parts, message] of wrong) {
      expect(() => credit(id, amount, parts)).toThrow(message);
    }
    expect(world.history.slice(before)).toEqual([]);
    expect(credit(cash, 9, { outOfBandAmount: 9 }).object.amount).toBe(9);
  });

  test('voiding a credit note puts the amounts of its invoice back', () => {
    const invoice = open();
    const { id } = credit(invoice, 300).object;
    const voided = act.voidCreditNote(world, id);
    expectEvents(voided, 'credit_note.updated credit_note.voided invoice.updated');
    expect(shown(voided.object)).toMatchObject({ status: 'void', voided_at: Math.floor(now / 1000) });
    const amounts = { amount_due: 1000, amount_remaining: 1000, pre_payment_credit_notes_amount: 0 };
    expect(shown(invoiceOf(invoice))).toMatchObject(amounts);
    expect(() => act.voidCreditNote(world, id)).toThrow(/already void/);
    expect(act.payInvoice(world, invoice).object.amountPaid).toBe(1000);
  });
});
