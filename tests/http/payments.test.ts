import { and, eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { auditLog, paymentTombstones } from '@/db/schema';
import { createPayment } from '../support/factories';
import { fieldsOf, usePayments } from '../support/payments-server';

const api = usePayments();
const { call, openInvoice, stateOf } = api;

describe('the five operations', () => {
  test('create, read, upsert, change, delete', async () => {
    const { invoice, body } = await openInvoice();
    const created = await call('POST', '', body);
    expect(created.status).toBe(201);
    expect(created.headers.get('location')).toBe(`/api/w5t/payments/${created.body.id}`);
    expect(created.body).toEqual({
      id: expect.any(Number),
      ...body,
      currency: 'eur',
      refunded_amount: 0,
      source: 'api',
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    expect(await stateOf(invoice.id)).toEqual({ status: 'paid', paid: 119, due: 0 });
    const path = `/${created.body.id}`;
    expect((await call('GET', path)).body).toEqual(created.body);

    const again = await call('POST', '', { ...body, amount: 19.5 });
    expect([again.status, again.body.id, again.body.amount]).toEqual([200, created.body.id, 19.5]);
    expect(await stateOf(invoice.id)).toEqual({ status: 'sent', paid: 19.5, due: 99.5 });

    expect((await call('PATCH', path, { status: 'refunded' })).body.status).toBe('refunded');
    expect((await call('PUT', path, { amount: 1 })).body).toMatchObject({ amount: 1, status: 'refunded' });
    expect(await stateOf(invoice.id)).toEqual({ status: 'sent', paid: 0, due: 119 });

    expect((await call('DELETE', path)).status).toBe(204);
    expect((await call('GET', path)).status).toBe(404);
    const trail = await api.server.runtime.db
      .select()
      .from(auditLog)
      .where(and(eq(auditLog.entity, 'payment'), eq(auditLog.entity_id, created.body.id)));
    expect(trail.map((row) => row.action)).toEqual([
      'payment.create',
      'payment.update',
      'payment.update',
      'payment.update',
      'payment.delete',
    ]);
    expect(trail.at(-1)).toMatchObject({ actor_type: 'token', before: { amount: '1.000' }, after: null });
  });

  test('the same body again is no write', async () => {
    const { body } = await openInvoice();
    const first = await call('POST', '', body);
    const second = await call('POST', '', body);
    expect(second.status).toBe(200);
    expect(second.body).toEqual(first.body);
  });

  test('without a status a new payment is completed and a refunded one stays refunded', async () => {
    const { status: _, ...body } = (await openInvoice()).body;
    expect((await call('POST', '', body)).body.status).toBe('completed');
    await call('POST', '', { ...body, status: 'refunded' });
    expect((await call('POST', '', body)).body.status).toBe('refunded');
  });

  test('a payment moved to another invoice settles both', async () => {
    const from = await openInvoice();
    const to = await openInvoice({ customer_id: from.invoice.customer_id });
    const { body } = await call('POST', '', from.body);
    await call('PATCH', `/${body.id}`, { invoice_id: to.invoice.id });
    expect(await stateOf(from.invoice.id)).toEqual({ status: 'sent', paid: 0, due: 119 });
    expect(await stateOf(to.invoice.id)).toEqual({ status: 'paid', paid: 119, due: 0 });
  });

  test('an uncovered invoice past its due date is overdue, an overpaid one owes nothing', async () => {
    const { invoice, body } = await openInvoice({ due_date: '2026-03-14' });
    const { body: payment } = await call('POST', '', { ...body, amount: 500 });
    expect(await stateOf(invoice.id)).toEqual({ status: 'paid', paid: 500, due: 0 });
    await call('DELETE', `/${payment.id}`);
    expect(await stateOf(invoice.id)).toEqual({ status: 'overdue', paid: 0, due: 119 });
  });

  test('an invoice that Stripe manages keeps its state', async () => {
    const { invoice, body } = await openInvoice({ stripe_invoice_id: 'in_managed' });
    expect((await call('POST', '', body)).status).toBe(201);
    expect(await stateOf(invoice.id)).toEqual({ status: 'sent', paid: 0, due: 119 });
  });

  test('a deleted or renamed Stripe payment leaves a tombstone', async () => {
    const { invoice } = await openInvoice({ stripe_invoice_id: 'in_buried' });
    const bury = { invoice_id: invoice.id, customer_id: invoice.customer_id, source: 'stripe' as const };
    const gone = await createPayment(api.server.runtime.db, { ...bury, payment_reference: 'in_gone' });
    const renamed = await createPayment(api.server.runtime.db, { ...bury, payment_reference: 'in_renamed' });
    await call('DELETE', `/${gone.id}`);
    await call('PATCH', `/${renamed.id}`, { payment_reference: 'BANK-renamed' });
    const stones = await api.server.runtime.db
      .select()
      .from(paymentTombstones)
      .orderBy(paymentTombstones.reference);
    expect(stones.map((stone) => stone.reference)).toEqual(['in_gone', 'in_renamed']);
  });

  test('a payment moved into another currency says how much it is there', async () => {
    const euro = await openInvoice();
    const yen = await openInvoice({ customer_id: euro.invoice.customer_id, currency: 'jpy', total: '1200' });
    const { body } = await call('POST', '', { ...euro.body, amount: 12 });
    const silent = await call('PATCH', `/${body.id}`, { invoice_id: yen.invoice.id });
    expect([silent.status, fieldsOf(silent)]).toEqual([422, ['amount']]);
    const told = await call('PATCH', `/${body.id}`, { invoice_id: yen.invoice.id, amount: 1200 });
    expect(told.body).toMatchObject({ currency: 'jpy', amount: 1200 });
  });

  test('payments that add up to more than can be kept are refused', async () => {
    const { body } = await openInvoice();
    expect((await call('POST', '', { ...body, amount: 999_999_999_999 })).status).toBe(201);
    const more = await call('POST', '', { ...body, amount: 999_999_999_999, payment_reference: 'OVERFLOW' });
    expect([more.status, fieldsOf(more)]).toEqual([422, ['amount']]);
  });

  test('drafts and cancelled invoices take no payment', async () => {
    for (const status of ['draft', 'cancelled'] as const) {
      const { body } = await openInvoice({ status });
      const answer = await call('POST', '', body);
      expect([answer.status, fieldsOf(answer)]).toEqual([422, ['invoice_id']]);
    }
  });

  test('yen have no decimals, sums of cents are exact', async () => {
    const yen = await openInvoice({ currency: 'jpy', total: '1200', subtotal: '1200', tax: '0' });
    expect((await call('POST', '', { ...yen.body, amount: 1200.5 })).status).toBe(422);
    expect((await call('POST', '', { ...yen.body, amount: 1200 })).body).toMatchObject({
      amount: 1200,
      currency: 'jpy',
    });
    const { invoice, body } = await openInvoice({ total: '0.3' });
    await call('POST', '', { ...body, amount: 0.1 });
    await call('POST', '', { ...body, amount: 0.2, payment_reference: 'CENTS' });
    expect(await stateOf(invoice.id)).toEqual({ status: 'paid', paid: 0.3, due: 0 });
  });
});
