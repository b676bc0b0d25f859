import { beforeEach, describe, expect, test } from 'vitest';
import { seededChance } from '@/lib/chance';
import type { WorldEvent, WorldObject } from '@/lib/stripe-local/model';
import { createWorld, type World } from '@/lib/stripe-local/world';
import * as act from '../support/stripe-actions';
import { renderEvent, renderObject, shapeOf } from '../support/stripe-versions';

const DAY = 86_400;
const NEWEST = '2026-10-28.endive';
const types = ({ events }: { events: WorldEvent[] }) => events.map(({ type }) => type);
/** Expects an action to cause these events in this order. */
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
/** Returns an object as the API shows it. */
const shown = (object: WorldObject | undefined) => object && renderObject(object, shapeOf(NEWEST));
const refund = (given: Parameters<typeof act.refundPayment>[1]) => act.refundPayment(world, given);
const dispute = (given: Parameters<typeof act.openDispute>[1]) => act.openDispute(world, given);
const move = (...given: DisputeMove) => act.moveDispute(world, ...given);
type DisputeMove = [id: string, status: Parameters<typeof act.moveDispute>[2]];

describe('refunds of the local Stripe', () => {
  test('a payment in the local Stripe can be refunded in parts up to its amount', () => {
    const invoice = paid();
    const part = refund({ invoice, amount: 400, reason: 'duplicate' });
    expectEvents(part, 'refund.created charge.refunded');
    const { charge, paymentIntent } = invoiceOf(invoice);
    const of = { charge, payment_intent: paymentIntent, customer, currency: 'eur' };
    const made = { object: 'refund', amount: 400, status: 'succeeded', reason: 'duplicate', metadata: {} };
    expect(shown(part.object)).toMatchObject({ ...of, ...made });
    const [, event] = part.events;
    expect(event && renderEvent(event, NEWEST).data).toMatchObject({
      object: { object: 'charge', id: charge, amount_refunded: 400, refunded: false },
      previous_attributes: { amount_refunded: 0 },
    });
    const tooMuch = 'Refund amount (601) is greater than unrefunded amount on charge (600)';
    expect(() => refund({ invoice, amount: 601 })).toThrow(tooMuch);
    expect(() => refund({ invoice, amount: 0 })).toThrow('Invalid positive integer');
    expect(refund({ paymentIntent: paymentIntent ?? '' }).object.amount).toBe(600);
    expect(() => refund({ invoice })).toThrow(`Charge ${charge} has already been refunded.`);
    expect(invoiceOf(invoice)).toMatchObject({ status: 'paid', amountPaid: 1000 });
  });

  test('a succeeded refund in the local Stripe can fail later', () => {
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
    const failure_balance_transaction = expect.stringMatching(/^txn_/);
    const failure = { failure_reason: 'expired_or_canceled_card', failure_balance_transaction };
    expect(shown(failed.object)).toMatchObject({ status: 'failed', ...failure });
    const late = pending().id;
    const settle = (status: 'succeeded' | 'canceled' | 'failed') => act.settleRefund(world, late, status);
    expectEvents(settle('succeeded'), 'refund.updated');
    expect(() => settle('canceled')).toThrow(/is succeeded and cannot become canceled/);
    expect(() => refund({ invoice })).toThrow(/already been refunded/);
    settle('failed');
    expect(() => settle('succeeded')).toThrow(/is failed/);
    expect(refund({ invoice, status: 'requires_action' }).object.amount).toBe(1000);
    expect(() => act.settleRefund(world, 're_no', 'failed')).toThrow("No such refund: 're_no'");
  });

  test('an invoice paid outside Stripe cannot be refunded in the local Stripe', () => {
    for (const { id, number, paymentIntent } of [invoiceOf(paidOffStripe()), invoiceOf(open())]) {
      for (const take of [refund, dispute, (given: { invoice: string }) => act.returnDebit(world, given)]) {
        expect(() => take({ invoice: id })).toThrow(`Stripe collected nothing for the invoice ${number}.`);
      }
      expect(() => refund({ paymentIntent: paymentIntent ?? '' })).toThrow(/no successful charge/);
    }
    const half = act.payInvoice(world, open(), { offStripe: 400 }).object.id;
    expect(refund({ invoice: half }).object.amount).toBe(600);
  });

  test('the local Stripe refunds the payment that has enough left', () => {
    const invoice = open();
    act.payInvoicePart(world, invoice, 300);
    act.payInvoice(world, invoice);
    expect(refund({ invoice, amount: 500 }).object.charge).toBe(invoiceOf(invoice).charge);
    const rest = [refund({ invoice }), refund({ invoice })];
    expect(rest.map(({ object }) => object.amount).sort()).toEqual([200, 300]);
    expect(() => refund({ invoice })).toThrow(/already been refunded/);
  });
});

describe('disputes of the local Stripe', () => {
  test('opening a dispute in the local Stripe withdraws the funds', () => {
    const invoice = paid();
    const opened = dispute({ invoice });
    expectEvents(opened, 'charge.dispute.created charge.dispute.funds_withdrawn');
    const { id, created, evidenceDueBy } = opened.object;
    const evidence = { due_by: evidenceDueBy, has_evidence: false, past_due: false, submission_count: 0 };
    const { charge, paymentIntent: payment_intent } = invoiceOf(invoice);
    const withdrawn = { amount: -1000, net: -2500, reporting_category: 'dispute', type: 'adjustment' };
    expect(shown(opened.object)).toMatchObject({
      ...{ object: 'dispute', amount: 1000, charge, payment_intent, reason: 'fraudulent' },
      ...{ status: 'needs_response', is_charge_refundable: false, evidence_details: evidence },
      balance_transactions: [{ ...withdrawn, source: id }],
    });
    const days = (evidenceDueBy - created) / DAY;
    expect([days >= 9, days <= 20]).toEqual([true, true]);
    expect(() => refund({ invoice })).toThrow(/has been charged back/);
    expect(() => dispute({ invoice })).toThrow(/Nothing is left/);
    const submitted = move(id, 'under_review');
    expectEvents(submitted, 'charge.dispute.updated');
    expect(submitted.object).toMatchObject({ submissionCount: 1, pastDue: false });
    now += 40 * DAY * 1000;
    const won = move(id, 'won');
    expectEvents(won, 'charge.dispute.closed charge.dispute.funds_reinstated');
    const reversal = { amount: 1000, net: 1000, reporting_category: 'dispute_reversal', type: 'adjustment' };
    expect(shown(won.object)).toMatchObject({
      ...{ status: 'won', evidence_details: { has_evidence: true, submission_count: 1 } },
      balance_transactions: [{ created }, { ...reversal, created: created + 40 * DAY }],
    });
    expect(() => move(id, 'lost')).toThrow(`The dispute ${id} is won and cannot become lost.`);
  });

  test('an inquiry in the local Stripe withdraws no funds until it is escalated', () => {
    const invoice = paid();
    const asked = dispute({ invoice, amount: 600, inquiry: true, reason: 'duplicate' });
    expectEvents(asked, 'charge.dispute.created');
    const { id } = asked.object;
    const harmless = { is_charge_refundable: true, balance_transactions: [] };
    expect(shown(asked.object)).toMatchObject({ status: 'warning_needs_response', ...harmless });
    expect(refund({ invoice, amount: 100 }).object.status).toBe('succeeded');
    expect(move(id, 'warning_under_review').object.submissionCount).toBe(1);
    const escalated = move(id, 'needs_response');
    expectEvents(escalated, 'charge.dispute.updated charge.dispute.funds_withdrawn');
    expect(escalated.object.balanceTransactions).toMatchObject([{ amount: -600 }]);
    expect(() => refund({ invoice })).toThrow(/charged back/);
    now += 30 * DAY * 1000;
    expect(move(id, 'under_review').object).toMatchObject({ submissionCount: 2, pastDue: true });
    const lost = move(id, 'lost');
    expectEvents(lost, 'charge.dispute.closed');
    expect(lost.object.balanceTransactions).toHaveLength(1);
  });

  test.each(['warning_closed', 'prevented'] as const)(
    'an inquiry in the local Stripe can end with the status %s',
    (status) => {
      const invoice = paid();
      const { id } = dispute({ invoice, inquiry: true }).object;
      const closed = move(id, status);
      expectEvents(closed, 'charge.dispute.closed');
      expect(closed.object.balanceTransactions).toEqual([]);
      expect(() => move(id, 'needs_response')).toThrow(/cannot become/);
      expect(dispute({ invoice }).object.amount).toBe(1000);
    },
  );

  test('a dispute without an amount covers the undisputed, unrefunded rest of the payment', () => {
    const invoice = paid();
    refund({ invoice, amount: 300 });
    const amounts = [200, undefined, 300].map(
      (amount) => dispute({ invoice, ...(amount && { amount }) }).object.amount,
    );
    expect(amounts).toEqual([200, 500, 300]);
    expect(() => dispute({ invoice, amount: 1 })).toThrow(/has 0 left to dispute, not 1/);
  });

  test('a returned debit in the local Stripe is a lost dispute at once', () => {
    const returned = act.returnDebit(world, { invoice: paid() });
    expectEvents(returned, 'charge.dispute.created charge.dispute.funds_withdrawn charge.dispute.closed');
    const reason = 'insufficient_funds';
    expect(returned.object).toMatchObject({ amount: 1000, status: 'lost', reason, evidenceDueBy: 0 });
    expect(returned.object.balanceTransactions).toMatchObject([{ amount: -1000 }]);
    expect(() => move(returned.object.id, 'under_review')).toThrow(/is lost/);
  });
});

describe('credit notes of the local Stripe', () => {
  const credit = (invoice: string, amount: number, parts: Partial<CreditNote> = {}) =>
    act.createCreditNote(world, { invoice, amount, ...parts });
  type CreditNote = Parameters<typeof act.createCreditNote>[1];

  test('a credit note on an unpaid invoice lowers the amount due', () => {
    const invoice = open();
    const noted = credit(invoice, 300, { reason: 'order_change' });
    expectEvents(noted, 'credit_note.created invoice.updated');
    const { number, paymentIntent } = invoiceOf(invoice);
    const amounts = { amount: 300, total: 300, pre_payment_amount: 300, post_payment_amount: 0 };
    const none = {
      out_of_band_amount: null,
      customer_balance_transaction: null,
      refunds: [],
      voided_at: null,
    };
    expect(shown(noted.object)).toMatchObject({
      ...{ object: 'credit_note', number: `${number}-CN-01`, status: 'issued', type: 'pre_payment' },
      ...{ invoice, customer, ...amounts, ...none },
    });
    const credited = { pre_payment_credit_notes_amount: 300, post_payment_credit_notes_amount: 0 };
    const left = { total: 1000, amount_due: 700, amount_remaining: 700 };
    expect(shown(invoiceOf(invoice))).toMatchObject({ status: 'open', ...left, ...credited });
    const [waiting] = world.invoicePayments.where('invoice', invoice);
    expect(shown(waiting)).toMatchObject({ amount_requested: 700 });
    expect(world.paymentIntents.get(paymentIntent ?? '')?.amount).toBe(700);

    const voided = act.voidCreditNote(world, noted.object.id);
    expectEvents(voided, 'credit_note.updated credit_note.voided invoice.updated');
    expect(shown(voided.object)).toMatchObject({ status: 'void', voided_at: Math.floor(now / 1000) });
    const restored = { amount_due: 1000, amount_remaining: 1000, pre_payment_credit_notes_amount: 0 };
    expect(shown(invoiceOf(invoice))).toMatchObject(restored);
    expect(() => act.voidCreditNote(world, noted.object.id)).toThrow(/already void/);
    credit(invoice, 100);
    expect(act.payInvoice(world, invoice).object).toMatchObject({ amountDue: 900, amountPaid: 900 });
    expect(world.paymentIntents.get(paymentIntent ?? '')?.amountReceived).toBe(900);
  });

  test('a credit note over the whole amount due marks the invoice as paid', () => {
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

  test('a credit note on a paid invoice can refund a part to the customer', () => {
    const invoice = paid();
    const noted = credit(invoice, 600, { refundAmount: 300, balanceAmount: 200, outOfBandAmount: 100 });
    expectEvents(noted, 'refund.created charge.refunded credit_note.created invoice.updated');
    const [made] = world.refunds.values();
    expect(made).toMatchObject({ amount: 300, charge: invoiceOf(invoice).charge });
    const customer_balance_transaction = expect.stringMatching(/^cbtxn_/);
    expect(shown(noted.object)).toMatchObject({
      ...{ type: 'post_payment', pre_payment_amount: 0, post_payment_amount: 600, out_of_band_amount: 100 },
      customer_balance_transaction,
      refunds: [{ amount_refunded: 300, type: 'refund', payment_record_refund: null, refund: made?.id }],
    });
    const amounts = { amount_due: 1000, amount_paid: 1000, amount_remaining: 0 };
    const credited = { status: 'paid', post_payment_credit_notes_amount: 600 };
    expect(shown(invoiceOf(invoice))).toMatchObject({ ...amounts, ...credited });
    expect(() => credit(invoice, 401, { outOfBandAmount: 401 })).toThrow(/has 400 left to credit, not 401/);
    refund({ invoice, amount: 150 });
    expect(() => credit(invoice, 400, { outOfBandAmount: 400 })).toThrow(/has 250 left to credit/);
    expect(() => act.voidCreditNote(world, noted.object.id)).toThrow(/gave money back/);
  });

  test('a credit note on a partly paid invoice refunds every payment', () => {
    const invoice = open();
    for (const amount of [300, 200]) act.payInvoicePart(world, invoice, amount);
    const noted = credit(invoice, 900, { refundAmount: 400 });
    const shares = { type: 'mixed', pre_payment_amount: 500, post_payment_amount: 400 };
    expect(shown(noted.object)).toMatchObject(shares);
    const refunded = noted.object.refunds.map(({ amount }) => amount);
    expect([refunded.length, refunded.reduce((sum, amount) => sum + amount, 0)]).toEqual([2, 400]);
    const credited = { pre_payment_credit_notes_amount: 500, post_payment_credit_notes_amount: 400 };
    const amounts = { amount_due: 500, amount_paid: 500, amount_remaining: 0 };
    expect(shown(invoiceOf(invoice))).toMatchObject({ status: 'paid', ...amounts, ...credited });
    expect(types(noted)).toContain('invoice.paid');
    expect(types(noted)).not.toContain('invoice.payment_succeeded');
  });

  test('the local Stripe refuses a credit note whose parts do not add up', () => {
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
});
