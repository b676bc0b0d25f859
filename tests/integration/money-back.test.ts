import { describe, expect } from 'vitest';
import { isCollected } from '@/lib/stripe-local/charges';
import type { Refund } from '@/lib/stripe-local/model';
import type { NewPayment } from '../simulation/stage';
import * as act from '../support/stripe-actions';
import { DAY, named } from '../support/stripe-events';
import { customer, expectRow, type Rule, type Scene, testRules } from '../support/sync-rules';

// These tests deliver no events about refunds or disputes. Reconciliation has to find them.

const REFUNDED = { status: 'refunded', refunded_amount: '119.000' };
const KEPT = { status: 'completed', refunded_amount: '0.000' };

/** An invoice of 119 EUR that Stripe collected, and the id of the latest refund or dispute that a step created. */
interface Case {
  scene: Scene;
  invoice: string;
  id: string;
}
type Step = (at: Case) => unknown;

/** Returns a rule that pays an invoice, runs the steps, and expects the invoice to stay paid. */
const inMemory = (...steps: Step[]): Rule => ({
  events: [
    async (scene) => {
      const at = { scene, invoice: await collect(scene), id: '' };
      await scene.night();
      for (const step of steps) await step(at);
      await expectRow('invoices', at.invoice, { status: 'paid', amount_paid: '119.000' })(scene);
    },
  ],
});
const inSql = (...steps: Step[]): Rule => ({ ...inMemory(...steps), inSql: true });

async function bill(scene: Scene, customer = act.createCustomer(scene.world).object.id) {
  const { id } = act.createInvoice(scene.world, { customer, lines: [{ amount: 11_900 }] }).object;
  await scene.deliverAction(act.finalizeInvoice(scene.world, id));
  return id;
}

async function collect(scene: Scene) {
  const invoice = await bill(scene);
  await scene.deliverAction(act.payInvoice(scene.world, invoice));
  return invoice;
}

/** Makes a payment intent that Stripe collected without an invoice. */
function collectAlone({ world }: Scene) {
  const like = [...world.paymentIntents.values()].find(isCollected);
  if (!like) throw new Error('nothing was collected yet');
  world.paymentIntents.put({ ...like, id: 'pi_alone', latestCharge: 'ch_alone', invoice: null });
  return 'pi_alone';
}

const refund =
  (input: { amount?: number; status?: 'pending' } = {}): Step =>
  (at) => {
    at.id = act.refundPayment(at.scene.world, { invoice: at.invoice, ...input }).object.id;
  };
const settle =
  (status: 'succeeded' | 'failed'): Step =>
  ({ scene, id }) =>
    act.settleRefund(scene.world, id, status);
const dispute =
  (input: { amount?: number; inquiry?: boolean } = {}): Step =>
  (at) => {
    at.id = act.openDispute(at.scene.world, { invoice: at.invoice, ...input }).object.id;
  };
const move =
  (...statuses: Parameters<typeof act.moveDispute>[2][]): Step =>
  ({ scene, id }) => {
    for (const status of statuses) act.moveDispute(scene.world, id, status);
  };
const later =
  (days: number): Step =>
  ({ scene }) =>
    scene.later(days * DAY);
/**
 * Runs the reconciliation twice. The second run must change nothing.
 *
 * @param row expected columns of the payment afterwards
 * @param changes expected changes of the first run; not checked if empty
 */
const run =
  (row: object = {}, ...changes: (string | null)[][]): Step =>
  async (at) => {
    const first = await at.scene.night(60);
    expect(first.status).toBe('completed');
    if (changes.length > 0) expect(first.changes).toEqual(changes);
    expect(await at.scene.night(60)).toEqual({ status: 'completed', changes: [], failures: [] });
    await payment(row)(at);
  };
/** Changes the payment as the payments API does. */
const write =
  (changes: { amount?: number; status: 'refunded' | 'completed' }): Step =>
  async ({ scene, invoice }) =>
    scene.hands().updatePayment(Number((await scene.rows()).payments[invoice]?.id), changes);
const payment =
  (row: object): Step =>
  ({ scene, invoice }) =>
    expectRow('payments', invoice, row)(scene);
/** Expects these refunds of the payment. `true` stands for the Stripe id of the latest refund. */
const refunds =
  (...expected: { stripe_refund_id?: true | null; [column: string]: unknown }[]): Step =>
  async ({ scene, invoice, id }) => {
    const found = Object.values((await scene.rows()).refunds).filter(({ of }) => of === invoice);
    found.sort((a, b) => Number(a.id) - Number(b.id));
    const rows = expected.map((row) => (row.stripe_refund_id ? { ...row, stripe_refund_id: id } : row));
    expect(found).toMatchObject(rows);
  };
const openDispute =
  (row: object): Step =>
  ({ scene, id }) =>
    expectRow('disputes', id, row)(scene);
/** Expects a run to report something about a refund without changing it. */
const reports =
  (...change: (string | null)[]): Step =>
  async ({ scene }) =>
    expect((await scene.night()).changes).toContainEqual(['refund', ...change, 'reported']);

const EXCESS = ['payment', 'refunded_amount', '119.00 EUR', '238.00 EUR', 'reported'];
const TAKEN_BACK = ['dispute', 'money_came_back', null, null, 'reported'];
const DATED = expect.any(Date);

describe('refunds and disputes at Stripe without webhook events', () => {
  testRules({
    'a partial refund leaves its payment completed until the rest is refunded': inSql(
      refund({ amount: 1_900 }),
      run({ status: 'completed', refunded_amount: '19.000' }),
      refund(),
      run(
        { ...REFUNDED, amount: '119.000' },
        ['refund', 'created', null, '100.00 EUR'],
        ['payment', 'refunded_amount', '19.00 EUR', '119.00 EUR'],
        ['payment', 'status', 'completed', 'refunded'],
      ),
    ),
    'a refund that fails weeks later no longer reduces its payment': inSql(
      refund({ status: 'pending' }),
      run(KEPT, ['refund', 'created', null, '119.00 EUR']),
      settle('succeeded'),
      run(REFUNDED),
      later(25),
      settle('failed'),
      run(
        KEPT,
        ['refund', 'reason', null, 'expired_or_canceled_card'],
        ['refund', 'status', 'succeeded', 'failed'],
        ['payment', 'refunded_amount', '119.00 EUR', '0.00 EUR'],
        ['payment', 'status', 'refunded', 'completed'],
      ),
    ),
    'a pending refund that disappears at Stripe is reported': inMemory(
      refund({ status: 'pending' }),
      run(),
      later(60),
      run(KEPT),
      ({ scene, id }) => scene.world.refunds.delete(id),
      run({}, ['refund', 'provider_gone_at', null, expect.any(String), 'reported']),
    ),
    'an inquiry that becomes a lost dispute refunds its payment': inMemory(
      dispute({ inquiry: true }),
      run(KEPT),
      move('needs_response'),
      run(KEPT),
      openDispute({ status: 'needs_response', evidence_due_at: DATED, funds_withdrawn_at: DATED }),
      later(60),
      move('lost'),
      run(REFUNDED),
    ),
    'a dispute refunds its payment only while it is lost': inSql(
      dispute(),
      run(KEPT),
      openDispute({ status: 'needs_response', funds_withdrawn_at: DATED, funds_returned_at: null }),
      move('under_review', 'won'),
      run(KEPT),
      openDispute({ status: 'won', funds_returned_at: DATED }),
      later(10),
      move('lost'),
      run(REFUNDED),
      later(100),
      move('won'),
      run(KEPT),
    ),
    'the task about a returned direct debit is done when the dispute is won': inSql(
      (at) => {
        at.id = act.returnDebit(at.scene.world, { invoice: at.invoice }).object.id;
      },
      run(REFUNDED),
      async ({ scene, invoice, id }) => {
        const owed = /^The bank took back 119\.00 EUR of invoice .*: the customer owes 119\.00 EUR\.$/;
        const entity_id = (await scene.rows()).invoices[invoice]?.id;
        const task = { entity: 'invoice', entity_id, done_by: null, message: expect.stringMatching(owed) };
        await expectRow('tasks', `money_came_back ${id}`, task)(scene);
      },
      move('won'),
      run(KEPT),
      ({ scene, id }) => expectRow('tasks', `money_came_back ${id}`, { done_by: 'Stripe' })(scene),
    ),
    'a payment that replaces the money of a lost dispute is not too much': inSql(
      dispute(),
      run(KEPT),
      async (at) => {
        const { id, customer_id } = (await at.scene.rows()).invoices[at.invoice] ?? {};
        const given = { invoice_id: id, customer_id, amount: 119, payment_reference: 'BANK-119' };
        await record(at.scene, given);
        const closed = async () =>
          Object.values((await at.scene.rows()).tasks)
            .filter(({ entity }) => entity === 'payment')
            .map(({ done_by }) => done_by);
        expect(await closed()).toEqual([null]);
        move('under_review', 'lost')(at);
        await run(REFUNDED)(at);
        expect(await closed()).toEqual(['a later change']);
        await record(at.scene, { ...given, amount: 1, payment_reference: 'BANK-120' });
        expect(await closed()).toEqual(['a later change', null]);
      },
    ),
    'a lost dispute of an already refunded payment is reported as excess': inMemory(
      refund(),
      run(),
      dispute({ amount: 11_900 }),
      move('lost'),
      run(REFUNDED, ['dispute', 'created', null, '119.00 EUR'], EXCESS, TAKEN_BACK),
    ),
    'a credit note refunds only the part that Stripe paid back': inSql(
      later(40),
      run(),
      ({ scene, invoice }) => {
        const amounts = { amount: 11_900, refundAmount: 5_000, outOfBandAmount: 6_900 };
        act.createCreditNote(scene.world, { invoice, ...amounts });
      },
      run({ status: 'completed', refunded_amount: '50.000' }),
      ({ scene, invoice }) =>
        expectRow('invoices', invoice, { amount_due: '0.000', amount_credited: '119.000' })(scene),
    ),
    'a payment keeps its collection date if a later credit note settles the invoice': async (scene) => {
      const invoice = await bill(scene);
      act.payInvoicePart(scene.world, invoice, 5_000);
      scene.later(2 * DAY);
      act.createCreditNote(scene.world, { invoice, amount: 6_900 });
      await scene.night();
      await expectRow('invoices', invoice, { status: 'paid', amount_paid: '50.000' })(scene);
      await expectRow('payments', invoice, { amount: '50.000', payment_date: '2026-03-15' })(scene);
    },
    'a refund of an unknown payment is reported': inMemory(
      ({ scene }) => act.refundPayment(scene.world, { paymentIntent: collectAlone(scene), amount: 100 }),
      refund(),
      reports('payment_id', null, null),
      payment(REFUNDED),
    ),
    'a refund with another currency than its payment or an unknown status is reported': inMemory(
      refund({ amount: 1_900 }),
      (at) => change(at, { currency: 'usd' }),
      reports('currency', 'eur', 'usd'),
      payment(KEPT),
      (at) => change(at, { status: 'vanished' as never }),
      run({}, ['refund', 'status', 'succeeded', 'vanished', 'reported']),
    ),
  });

  function change({ scene, id }: Case, values: Partial<Refund>) {
    const found = scene.world.refunds.get(id);
    if (found) scene.world.refunds.put({ ...found, ...values });
  }
});

// These rules also run on the database, where lib/payments writes the refunds.
describe('a refund that the API recorded', () => {
  const [RECORD, COMPLETE] = [write({ status: 'refunded' }), write({ status: 'completed' })];
  testRules({
    'a refund recorded through the API fails when the matching Stripe refund fails': inSql(
      RECORD,
      payment(REFUNDED),
      refund({ status: 'pending' }),
      run(),
      refunds({ stripe_refund_id: true, amount: '119.000', source: 'api', status: 'pending' }),
      payment(REFUNDED),
      settle('failed'),
      run(),
      refunds({ stripe_refund_id: true, amount: '119.000', source: 'api', status: 'failed' }),
      payment(KEPT),
      // The customer gets the money in another way, so the refund is recorded again.
      RECORD,
      run(REFUNDED),
    ),
    'a refund recorded through the API fails when Stripe’s earlier pending refund fails': inSql(
      refund({ status: 'pending' }),
      run(),
      RECORD,
      settle('failed'),
      run(),
      refunds({ stripe_refund_id: true, status: 'failed' }),
      payment(KEPT),
    ),
    'a refund recorded through the API merges with Stripe’s pending refund once that succeeds': inSql(
      refund({ status: 'pending' }),
      run(),
      RECORD,
      run(),
      later(40), // Stripe’s lists no longer show the refund.
      run(),
      refunds({}, {}),
      settle('succeeded'),
      run(),
      refunds({ stripe_refund_id: true, source: 'api' }),
      payment(REFUNDED),
    ),
    'a Stripe refund of another day than a refund recorded through the API is reported as excess': inSql(
      RECORD,
      later(2),
      refund(),
      run(REFUNDED, ['refund', 'created', null, '119.00 EUR'], EXCESS),
      refunds({}, {}),
    ),
    'a withdrawn refund counts again when Stripe’s pending refund succeeds': inSql(
      RECORD,
      refund({ status: 'pending' }),
      run(),
      COMPLETE,
      payment(KEPT),
      settle('succeeded'),
      run(REFUNDED),
    ),
    'a refund recorded through the API grows with the amount of its payment': inSql(
      RECORD,
      write({ amount: 150, status: 'refunded' }),
      payment({ status: 'refunded', refunded_amount: '150.000' }),
    ),
    'a refunded payment that the API completed again stays completed after a run': inSql(
      refund(),
      run(),
      COMPLETE,
      dispute({ amount: 100, inquiry: true }),
      run({ status: 'completed', refunded_amount: '119.000' }),
    ),
    'deleting a payment keeps its Stripe refund for a payment recorded later': inSql(
      refund({ amount: 1_900 }),
      run(),
      RECORD,
      async ({ scene, invoice }) => {
        const { id, invoice_id, customer_id } = (await scene.rows()).payments[invoice] ?? {};
        await scene.hands().deletePayment(Number(id));
        expect(Object.values((await scene.rows()).refunds)).toMatchObject([{ of: null, source: 'stripe' }]);
        expect(await scene.night()).toMatchObject({ changes: [] });
        await record(scene, { invoice_id, customer_id, amount: 119, payment_reference: invoice });
      },
      run(),
      refunds({ amount: '19.000', source: 'stripe' }),
      payment({ source: 'api', refunded_amount: '19.000' }),
    ),
  });
});

const record = (scene: Scene, given: object) =>
  scene.hands().recordPayment({ payment_date: '2026-03-15', ...given } as NewPayment);

testRules({
  'an invoice that Stripe does not manage is open again after a refund of its payment': {
    inSql: true,
    given: [customer('C-1')],
    events: [
      async (scene) => {
        await collect(scene);
        const customer_id = Number((await scene.rows()).customers['C-1']?.id);
        const { id: invoice_id } = await scene.hands().makeInvoice(customer_id);
        const pay = (amount: number, payment_reference: string) =>
          record(scene, { invoice_id, customer_id, amount, payment_reference });
        const expectInvoice = async (row: object) =>
          expect(Object.values((await scene.rows()).invoices)).toContainEqual(
            expect.objectContaining({ id: invoice_id, ...row }),
          );
        const intent = collectAlone(scene);
        await pay(50, intent);
        await pay(50, 'cash');
        await expectInvoice({ status: 'paid', amount_due: '0.000' });
        act.refundPayment(scene.world, { paymentIntent: intent, amount: 2_000 });
        expect((await scene.night()).changes).toContainEqual(['invoice', 'status', 'paid', 'sent']);
        await expectInvoice({ status: 'sent', amount_paid: '80.000', amount_due: '20.000', paid_at: null });
        await pay(20, 'cash again');
        await expectInvoice({ status: 'paid', amount_due: '0.000' });
      },
    ],
  },
  'an invoice that Stripe does not manage follows a payment of Stripe that was moved to it': {
    inSql: true,
    withKey: true,
    given: [customer('C-1')],
    events: [
      async (scene) => {
        const stripeCustomer = act.createCustomer(scene.world, named('C-1')).object.id;
        const stripeInvoice = await bill(scene, stripeCustomer);
        const customer_id = Number((await scene.rows()).customers['C-1']?.id);
        const { id: invoice_id } = await scene.hands().makeInvoice(customer_id);
        const expectInvoice = async (row: object) =>
          expect(Object.values((await scene.rows()).invoices)).toContainEqual(
            expect.objectContaining({ id: invoice_id, ...row }),
          );
        act.payInvoicePart(scene.world, stripeInvoice, 5_000);
        await scene.night();
        const id = Number((await scene.rows()).payments[stripeInvoice]?.id);
        await scene.hands().updatePayment(id, { invoice_id });
        await expectInvoice({ status: 'sent', amount_due: '50.000' });
        // The event does not say that 50 were paid outside Stripe, and the next run subtracts them.
        scene.hasKey = false;
        await scene.deliverAction(act.payInvoice(scene.world, stripeInvoice, { offStripe: 5_000 }));
        await expectInvoice({ status: 'paid', amount_due: '0.000' });
        await scene.night();
        await expectInvoice({ status: 'sent', amount_due: '31.000' });
      },
    ],
  },
  'sync goes on updating a payment of Stripe whose reference staff changed': {
    inSql: true,
    withKey: true,
    events: [
      async (scene) => {
        const invoice = await bill(scene);
        act.payInvoicePart(scene.world, invoice, 5_000);
        await scene.night();
        const id = Number((await scene.rows()).payments[invoice]?.id);
        await scene.hands().updatePayment(id, { payment_reference: 'BANK-6' });
        await scene.hands().updatePayment(id, { payment_reference: 'BANK-7' });
        const expectPayment = async (row: object) =>
          expect((await scene.rows()).payments).toEqual({ 'BANK-7': expect.objectContaining(row) });
        // The event does not say that 50 were paid outside Stripe, and the next run subtracts them.
        scene.hasKey = false;
        await scene.deliverAction(act.payInvoice(scene.world, invoice, { offStripe: 5_000 }));
        await expectPayment({ id, amount: '119.000', refunded_amount: '0.000' });
        await scene.night();
        await expectPayment({ id, amount: '69.000', refunded_amount: '0.000' });
        scene.hasKey = true;
        act.refundPayment(scene.world, { invoice, amount: 1_900 });
        await scene.night();
        await expectPayment({ id, amount: '69.000', refunded_amount: '19.000' });
        expect(await scene.night()).toMatchObject({ changes: [] });
      },
    ],
  },
});
