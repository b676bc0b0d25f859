import { and, asc, eq } from 'drizzle-orm';
import { expect, test, vi } from 'vitest';
import { auditLog, payments } from '@/db/schema';
import { usePayments } from '../support/payments-server';

vi.setConfig({ testTimeout: 120_000 }); // hundreds of transactions, on a machine that may be busy
// What fails here, fails seldom: the log says why.
const { server, call, openInvoice, stateOf } = usePayments({ LOG_LEVEL: 'error' });

const times = <T>(count: number, send: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => send(i)));

/** How often each status was answered. */
function counted(answers: { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

async function actionsOn(id: number): Promise<string[]> {
  const trail = await server.runtime.db
    .select({ action: auditLog.action })
    .from(auditLog)
    .where(and(eq(auditLog.entity, 'payment'), eq(auditLog.entity_id, id)))
    .orderBy(asc(auditLog.id));
  return trail.map(({ action }) => action);
}

test('200 posts at once of one new reference make one row, one 201 and one audit entry', async () => {
  const { invoice, body } = await openInvoice();
  const answers = await times(200, () => call('POST', '', body));
  expect(counted(answers)).toEqual({ 201: 1, 200: 199 });
  expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
  const rows = await server.runtime.db
    .select()
    .from(payments)
    .where(eq(payments.payment_reference, body.payment_reference));
  expect(rows).toHaveLength(1);
  expect(await actionsOn(answers[0]?.body.id)).toEqual(['payment.create']);
  expect(await stateOf(invoice.id)).toEqual({ status: 'paid', paid: 119, due: 0 });
});

test('200 posts at once of as many references for one invoice all count', async () => {
  const { invoice, body } = await openInvoice({ total: '20' });
  const answers = await times(200, (i) =>
    call('POST', '', { ...body, amount: 0.1, payment_reference: `PART-${i}` }),
  );
  expect(counted(answers)).toEqual({ 201: 200 });
  expect(await stateOf(invoice.id)).toEqual({ status: 'paid', paid: 20, due: 0 });
});

test('of 50 changes at once with the same If-Match one succeeds', async () => {
  const { invoice, body } = await openInvoice();
  const { body: payment, headers } = await call('POST', '', body);
  const tag = { 'If-Match': headers.get('etag') ?? '' };
  const answers = await times(50, (i) => call('PATCH', `/${payment.id}`, { amount: i + 1 }, tag));
  expect(counted(answers)).toEqual({ 200: 1, 412: 49 });
  const amount = answers.find(({ status }) => status === 200)?.body.amount;
  expect(await stateOf(invoice.id)).toMatchObject({ paid: amount });
  expect(await actionsOn(payment.id)).toEqual(['payment.create', 'payment.update']);
});

test('of 50 deletions at once one finds the payment', async () => {
  const { invoice, body } = await openInvoice();
  const { body: payment } = await call('POST', '', body);
  expect(counted(await times(50, () => call('DELETE', `/${payment.id}`)))).toEqual({ 204: 1, 404: 49 });
  expect(await actionsOn(payment.id)).toEqual(['payment.create', 'payment.delete']);
  expect(await stateOf(invoice.id)).toEqual({ status: 'sent', paid: 0, due: 119 });
});

test('posts of one new reference for two invoices in turn never fail', async () => {
  const a = await openInvoice();
  const b = await openInvoice({ customer_id: a.invoice.customer_id });
  const answers = await times(40, (i) =>
    call('POST', '', { ...a.body, invoice_id: i % 2 ? a.invoice.id : b.invoice.id }),
  );
  expect(counted(answers)).toEqual({ 201: 1, 200: 39 });
  const paid = [await stateOf(a.invoice.id), await stateOf(b.invoice.id)].map((state) => state.paid);
  expect(paid.sort()).toEqual([0, 119]);
});

test('two invoices written crosswise at once never fail', async () => {
  const a = await openInvoice();
  const b = await openInvoice({ customer_id: a.invoice.customer_id });
  const [x, y] = [(await call('POST', '', a.body)).body.id, (await call('POST', '', b.body)).body.id];
  const answers = await times(40, (i) =>
    call('PATCH', `/${i % 2 ? x : y}`, { invoice_id: i % 3 ? a.invoice.id : b.invoice.id }),
  );
  expect(counted(answers)).toEqual({ 200: 40 });
});

test('a payment renamed by many at once takes their names one after the other', async () => {
  const { body } = await openInvoice();
  const { body: payment } = await call('POST', '', body);
  const rename = (to: string) => call('PATCH', `/${payment.id}`, { payment_reference: to });
  expect(counted(await times(40, (i) => rename(`NAME-${i}`)))).toEqual({ 200: 40 });
  // In turn among few names: who waits for one while holding another meets in a circle, at a second each.
  expect(counted(await times(100, (i) => rename(`NAME-${i % 5}`)))).toEqual({ 200: 100 });
});

test('a payment moved by many at once from invoice to invoice ends on one of them', async () => {
  const opened = [await openInvoice()];
  const customer_id = opened[0]?.invoice.customer_id ?? 0;
  for (let i = 0; i < 4; i += 1) opened.push(await openInvoice({ customer_id }));
  const { body: payment } = await call('POST', '', opened[0]?.body);
  const answers = await times(40, (i) =>
    call('PATCH', `/${payment.id}`, { invoice_id: opened[i % opened.length]?.invoice.id }),
  );
  expect(counted(answers)).toEqual({ 200: 40 });
  const paid = await Promise.all(opened.map(async ({ invoice }) => (await stateOf(invoice.id)).paid));
  expect(paid.sort()).toEqual([0, 0, 0, 0, 119]);
});

test('two payments that take one reference at once: one is refused', async () => {
  const [a, b] = [await openInvoice(), await openInvoice()];
  const ids = [(await call('POST', '', a.body)).body.id, (await call('POST', '', b.body)).body.id];
  const payment_reference = 'WANTED-BY-BOTH';
  const answers = await times(20, (i) => call('PATCH', `/${ids[i % 2]}`, { payment_reference }));
  expect(counted(answers)).toEqual({ 200: 10, 409: 10 });
});

test('posts, changes and deletions of one reference at once leave no more than one row', async () => {
  const { invoice, body } = await openInvoice();
  const { body: payment } = await call('POST', '', body);
  const answers = await times(60, (i) =>
    i % 3 === 0
      ? call('POST', '', { ...body, amount: i + 1 })
      : i % 3 === 1
        ? call('PATCH', `/${payment.id}`, { amount: i })
        : call('DELETE', `/${payment.id}`),
  );
  expect(
    Object.keys(counted(answers)).filter((status) => !['200', '201', '204', '404'].includes(status)),
  ).toEqual([]);
  const rows = await server.runtime.db
    .select()
    .from(payments)
    .where(eq(payments.payment_reference, body.payment_reference));
  expect(rows.length).toBeLessThanOrEqual(1);
  expect(await stateOf(invoice.id)).toMatchObject({ paid: Number(rows[0]?.amount ?? 0) });
});
