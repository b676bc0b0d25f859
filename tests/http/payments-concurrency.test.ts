import { and, eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { auditLog, payments } from '@/db/schema';
import { readRows } from '../support/database';
import { usePayments } from '../support/payments-server';

// A failed race is hard to reproduce, so log its errors.
const { server, call, openInvoice, recorded, stateOf } = usePayments({ LOG_LEVEL: 'error' });

/** Number of requests. It exceeds the number of connections in the database pool. */
const MANY = 30;

const times = <T>(count: number, send: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => send(i)));

/** Counts the responses by status. */
function counted(answers: { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

async function actionsOn(id: number): Promise<string[]> {
  const ofPayment = and(eq(auditLog.entity, 'payment'), eq(auditLog.entity_id, id));
  const trail = await readRows(server.runtime.db, auditLog, ofPayment);
  return trail.map(({ action }) => action.replace('payment.', ''));
}

const rowsOf = (reference: string) =>
  readRows(server.runtime.db, payments, eq(payments.payment_reference, reference));

test('concurrent POSTs of one new payment reference create one payment', async () => {
  const { invoice, body } = await openInvoice();
  const answers = await times(MANY, () => call('POST', '', body));
  expect(counted(answers)).toEqual({ 201: 1, 200: MANY - 1 });
  expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
  expect(await rowsOf(body.payment_reference)).toHaveLength(1);
  expect(await actionsOn(answers[0]?.body.id)).toEqual(['create']);
  expect(await stateOf(invoice.id)).toEqual({ status: 'paid', paid: 119, due: 0 });
});

test('concurrent payments for one invoice all count towards its paid amount', async () => {
  const { invoice, body } = await openInvoice({ total: '3' });
  const answers = await times(MANY, (i) =>
    call('POST', '', { ...body, amount: 0.1, payment_reference: `PART-${i}` }),
  );
  expect(counted(answers)).toEqual({ 201: MANY });
  expect(await stateOf(invoice.id)).toEqual({ status: 'paid', paid: 3, due: 0 });
});

test('only one of 30 concurrent POSTs with If-None-Match creates the payment', async () => {
  const { body } = await openInvoice();
  const answers = await times(MANY, (i) =>
    call('POST', '', { ...body, amount: i + 1 }, { 'If-None-Match': '*' }),
  );
  expect(counted(answers)).toEqual({ 201: 1, 412: MANY - 1 });
  const [row] = (await call('GET', `?payment_reference=${body.payment_reference}`)).body.data;
  expect(row).toEqual(answers.find(({ status }) => status === 201)?.body);
});

test.each(['POST', 'PATCH'])(
  'only one of 30 concurrent %s requests with the same If-Match succeeds',
  async (method) => {
    const { invoice, body, path, payment, etag } = await recorded();
    const answers = await times(MANY, (i) =>
      method === 'POST'
        ? call('POST', '', { ...body, amount: i + 1 }, { 'If-Match': etag })
        : call('PATCH', path, { amount: i + 1 }, { 'If-Match': etag }),
    );
    expect(counted(answers)).toEqual({ 200: 1, 412: MANY - 1 });
    const amount = answers.find(({ status }) => status === 200)?.body.amount;
    expect(await stateOf(invoice.id)).toMatchObject({ paid: amount });
    expect(await actionsOn(payment.id)).toEqual(['create', 'update']);
  },
);

test('only one of 30 concurrent DELETEs of a payment is answered with 204', async () => {
  const { invoice, path, payment } = await recorded();
  expect(counted(await times(MANY, () => call('DELETE', path)))).toEqual({ 204: 1, 404: MANY - 1 });
  expect(await actionsOn(payment.id)).toEqual(['create', 'delete']);
  expect(await stateOf(invoice.id)).toEqual({ status: 'sent', paid: 0, due: 119 });
});

test('concurrent POSTs of one payment reference for two invoices create one payment', async () => {
  const a = await openInvoice();
  const b = await openInvoice({ customer_id: a.invoice.customer_id });
  const answers = await times(MANY, (i) =>
    call('POST', '', { ...a.body, invoice_id: i % 2 ? a.invoice.id : b.invoice.id }),
  );
  expect(counted(answers)).toEqual({ 201: 1, 200: MANY - 1 });
  const paid = [await stateOf(a.invoice.id), await stateOf(b.invoice.id)].map((state) => state.paid);
  expect(paid.sort()).toEqual([0, 119]);
});

test('payments moved and renamed concurrently each count towards only one invoice', async () => {
  const { invoice, path } = await recorded();
  const { customer_id } = invoice;
  const second = await recorded({ customer_id });
  const all = [invoice, second.invoice, (await openInvoice({ customer_id })).invoice];
  const answers = await times(MANY, (i) => {
    const changes = { invoice_id: all[i % 3]?.id, payment_reference: `NAME-${i % 2}-${i % 5}` };
    return call('PATCH', i % 2 ? path : second.path, changes);
  });
  expect(counted(answers)).toEqual({ 200: MANY });
  const paid = await Promise.all(all.map(async ({ id }) => (await stateOf(id)).paid));
  expect(paid.reduce((sum, amount) => sum + amount)).toBe(2 * 119);
});

test('concurrent updates cannot give two payments the same reference', async () => {
  const both = [await recorded(), await recorded()];
  const payment_reference = 'WANTED-BY-BOTH';
  const answers = await times(20, (i) => call('PATCH', both[i % 2]?.path, { payment_reference }));
  expect(counted(answers)).toEqual({ 200: 10, 409: 10 });
});

test('concurrent POSTs, PATCHes and DELETEs of one payment reference leave at most one payment', async () => {
  const { invoice, body, path } = await recorded();
  const answers = await times(MANY, (i) =>
    i % 3 === 0
      ? call('POST', '', { ...body, amount: i + 1 })
      : i % 3 === 1
        ? call('PATCH', path, { amount: i })
        : call('DELETE', path),
  );
  const expected = ['200', '201', '204', '404'];
  expect(Object.keys(counted(answers)).filter((status) => !expected.includes(status))).toEqual([]);
  const rows = await rowsOf(body.payment_reference);
  expect(rows.length).toBeLessThanOrEqual(1);
  expect(await stateOf(invoice.id)).toMatchObject({ paid: Number(rows[0]?.amount ?? 0) });
});
