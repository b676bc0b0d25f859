import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { refunds } from '@/db/schema';
import { listAudit } from '@/lib/audit/audit-log';
import { type Checkable, checkWithStripe, getLastCheck } from '@/lib/sync/staff/check-with-stripe';
import { readRows } from '../support/database';
import { createInvoice, createPayment } from '../support/factories';
import * as act from '../support/stripe-actions';
import { DAY, GRACE, useSync } from '../support/sync';

const sync = useSync({ withKey: true });
const check = (entity: Checkable, id: number, deps = sync.deps()) => checkWithStripe(deps, GRACE, entity, id);
/** Checks a record, and returns the changed fields. */
const fieldsOf = async (entity: Checkable, id = 0) =>
  (await check(entity, id)).changes.map((change) => `${change.entity} ${change.field}`);

test('checking a payment with Stripe records its refunds and disputes', async () => {
  const { invoice, payment } = await sync.collect();
  const { id, customer_id } = payment;
  await check('payment', id);
  act.refundPayment(sync.world, { invoice, amount: 1_900 });
  act.openDispute(sync.world, { invoice });
  sync.later(60);
  const { failures, changes } = await check('payment', id);
  expect(failures).toEqual([]);
  const [refund] = await readRows(sync.db, refunds, eq(refunds.payment_id, id));
  expect(changes).toMatchObject([
    { entity: 'refund', field: 'created', entity_id: refund?.id },
    { entity: 'payment', field: 'refunded_amount', entity_id: id },
    { entity: 'dispute', field: 'created' },
  ]);
  const history = await listAudit(sync.db, 'payment', id);
  expect(history[0]).toMatchObject({ action: 'payment.check', after: { customer_id, changes } });
  const last = await getLastCheck(sync.db, history);
  expect(last?.changes.map(({ record }) => record?.name)).toEqual([invoice, invoice, invoice]);
  sync.later(60);
  expect(await check('payment', id)).toEqual({ changes: [], failures: [] });
  expect(await sync.bringInSync()).toEqual([]);
});

test.each(['pi', 'ch', 'py'])(
  'checking a payment whose reference is a Stripe id that starts with %s_ records its refunds',
  async (prefix) => {
    await sync.collect();
    const intent = `pi_named_${prefix}`;
    const latestCharge = `${prefix === 'pi' ? 'ch' : prefix}_named_${prefix}`;
    sync.world.paymentIntents.put({ ...sync.collectAlone(intent), latestCharge });
    act.refundPayment(sync.world, { paymentIntent: intent, amount: 500 });
    const { id } = await createPayment(sync.db, { payment_reference: `${prefix}_named_${prefix}` });
    const settled = ['invoice amount_paid', 'invoice amount_due'];
    expect(await fieldsOf('payment', id)).toEqual(['refund created', 'payment refunded_amount', ...settled]);
  },
);

test('checking an invoice with Stripe records its credit notes and their refunds', async () => {
  const { invoice } = await sync.collect();
  await sync.run();
  const row = await sync.invoiceOf(invoice);
  act.createCreditNote(sync.world, { invoice, amount: 1_900, refundAmount: 1_900 });
  sync.later(60);
  const changed = ['invoice amount_credited', 'refund created', 'payment refunded_amount'];
  expect(await fieldsOf('invoice', row?.id)).toEqual(changed);
});

describe('a refund found before its payment intent belongs to an invoice', () => {
  /**
   * Refunds a payment intent that belongs to no invoice, and records the refund by a reconciliation. The returned
   * function `belong` assigns the payment intent to an invoice at Stripe.
   */
  async function refundEarly(intent: string) {
    const { invoice, payment } = await sync.collect();
    sync.collectAlone(intent);
    act.refundPayment(sync.world, { paymentIntent: intent, amount: 500 });
    await sync.bringInSync();
    const refundsOf = () => readRows(sync.db, refunds, eq(refunds.stripe_payment_intent_id, intent));
    const expectUnknown = async () => expect(await refundsOf()).toMatchObject([{ payment_id: null }]);
    expect(await refundsOf()).toMatchObject([{ payment_id: null, stripe_invoice_id: null }]);
    const belong = () => {
      const [paid] = sync.world.invoicePayments.where('invoice', invoice);
      if (!paid) throw new Error(`${invoice} was not paid`);
      const payment = { type: 'payment_intent', payment_intent: intent } as const;
      sync.world.invoicePayments.put({ ...paid, payment });
    };
    const expectFound = async () => {
      expect(await refundsOf()).toMatchObject([{ payment_id: payment.id, stripe_invoice_id: invoice }]);
      expect(await sync.paymentOf(invoice)).toMatchObject({ refunded_amount: '5.000' });
    };
    return { invoice, belong, expectUnknown, expectFound };
  }

  test.each(['invoice', 'payment'] as const)(
    'checking the %s with Stripe assigns a refund found earlier to its payment',
    async (entity) => {
      const { invoice, belong, expectFound } = await refundEarly(`pi_early_${entity}`);
      belong();
      const record = entity === 'invoice' ? await sync.invoiceOf(invoice) : await sync.paymentOf(invoice);
      expect(await fieldsOf(entity, record?.id)).toContain('payment refunded_amount');
      await expectFound();
      expect(await sync.bringInSync()).toEqual([]);
    },
  );

  test('the daily reconciliation assigns a recent refund to its payment, and a check of the invoice assigns an old one', async () => {
    const early = await refundEarly('pi_early_run');
    await sync.night();
    await early.expectUnknown();
    early.belong();
    await sync.night();
    await early.expectFound();

    const late = await refundEarly('pi_late_run');
    sync.later(40 * DAY);
    late.belong();
    await sync.night();
    await late.expectUnknown();
    const { id } = (await sync.invoiceOf(late.invoice)) ?? {};
    expect(await fieldsOf('invoice', id)).toContain('payment refunded_amount');
    await late.expectFound();
  });
});

test('checking a record with Stripe is refused if it does not come from Stripe or does not exist', async () => {
  const own = await createInvoice(sync.db);
  const cash = await createPayment(sync.db, { invoice_id: own.id, customer_id: own.customer_id });
  await expect(check('invoice', own.id)).rejects.toMatchObject({ code: 'conflict' });
  await expect(check('payment', cash.id)).rejects.toMatchObject({ code: 'conflict' });
  await expect(check('subscription', 999_999)).rejects.toMatchObject({ code: 'not_found' });
  expect(await listAudit(sync.db, 'invoice', own.id)).toEqual([]);
});

test('checking an invoice with Stripe is refused without an API key, and reports an error of Stripe', async () => {
  const { invoice } = await sync.collect();
  const id = (await sync.invoiceOf(invoice))?.id ?? 0;
  const keyless = sync.deps({ withKey: false });
  await expect(check('invoice', id, keyless)).rejects.toMatchObject({ code: 'conflict' });
  sync.api.faults.add({ fault: { kind: 'status', status: 500, shouldRetry: false } });
  const found = await check('invoice', id);
  sync.api.faults.clear();
  expect(found.failures).toContain('stripe_api');
});
