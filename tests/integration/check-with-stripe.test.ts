import { desc } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { auditLog } from '@/db/schema';
import { commandActor } from '@/lib/audit/record-audit';
import { recordPayment } from '@/lib/payments/record-payment';
import * as act from '@/lib/stripe-local/actions';
import type { Checked } from '@/lib/sync/staff/check';
import { type Checkable, checkWithStripe } from '@/lib/sync/staff/check-with-stripe';
import { createInvoice, createPayment } from '../support/factories';
import { useSilentStripe } from '../support/silent-stripe';

const at = useSilentStripe();

describe('a check with Stripe does the same for one record at once', () => {
  const check = (entity: Checkable, id: number) =>
    checkWithStripe(at.deps(), commandActor('test'), entity, id);
  const fields = ({ changes }: Checked) => changes.map(({ entity, field }) => `${entity} ${field}`);

  test('a payment with its refunds and disputes', async () => {
    const invoice = await at.paid();
    const payment = await at.paymentOf(invoice);
    act.refundPayment(at.world, { invoice, amount: 1_900 });
    act.openDispute(at.world, { invoice });
    at.later(60);
    const found = await check('payment', payment.id);
    expect([found.failures, fields(found)]).toEqual([
      [],
      ['refund created', 'payment refunded_amount', 'dispute created'],
    ]);
    expect(fields(await check('payment', payment.id))).toEqual([]);
    const [logged] = await at.db.select().from(auditLog).orderBy(desc(auditLog.id)).offset(1).limit(1);
    expect(logged).toMatchObject({ action: 'payment.check', entity_id: payment.id });
    expect(await at.bringInSync()).toEqual([]);
  });

  test('an invoice with its credit notes and the payment that is missing', async () => {
    const invoice = await at.paid();
    const row = await at.invoiceOf(invoice);
    act.createCreditNote(at.world, { invoice, amount: 1_900, refundAmount: 1_900 });
    at.later(60);
    expect(fields(await check('invoice', row.id))).toEqual([
      'invoice amount_credited',
      'refund created',
      'payment refunded_amount',
    ]);
  });

  test('a payment that was recorded after its refund was met', async () => {
    const other = await at.paid();
    const intent = at.collectAlone('pi_later');
    act.refundPayment(at.world, { paymentIntent: intent.id, amount: 500 });
    await at.bringInSync();
    const { invoice_id, customer_id } = await at.paymentOf(other);
    const given = { invoice_id, customer_id, amount: 119, payment_date: '2026-03-15' };
    const { payment } = await recordPayment(at.db, { ...given, payment_reference: intent.id }, at.writer());
    expect(fields(await check('payment', payment.id))).toContain('payment refunded_amount');
    expect(await at.paymentOf(intent.id)).toMatchObject({ refunded_amount: '5.000' });
  });

  test('refuses what Stripe does not know, and what is not there', async () => {
    const own = await createInvoice(at.db);
    await expect(check('invoice', own.id)).rejects.toMatchObject({ code: 'conflict' });
    const cash = await createPayment(at.db, { invoice_id: own.id, customer_id: own.customer_id });
    await expect(check('payment', cash.id)).rejects.toMatchObject({ code: 'conflict' });
    await expect(check('subscription', 999_999)).rejects.toMatchObject({ code: 'not_found' });
    const keyless = { ...at.deps(), stripe: null };
    const row = await at.invoiceOf(await at.paid());
    await expect(checkWithStripe(keyless, commandActor('test'), 'invoice', row.id)).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  test('says why Stripe did not tell', async () => {
    const row = await at.invoiceOf(await at.paid());
    at.faults.add({ fault: { kind: 'status', status: 500 } });
    const found = await check('invoice', row.id);
    at.faults.clear();
    expect(found.failures).toContain('stripe_api');
  });
});
