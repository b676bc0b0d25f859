import { expect, test } from 'vitest';
import { usePayments } from '../support/payments-server';
import { expectProblem } from '../support/problem';

const { call, openInvoice } = usePayments();

async function recorded() {
  const { body } = await openInvoice();
  const { body: payment, headers } = await call('POST', '', body);
  return { body, payment, path: `/${payment.id}`, etag: headers.get('etag') ?? '' };
}

test('a tag names what was read: 304 for the same, 412 once it has changed', async () => {
  const { path, etag } = await recorded();
  expect(etag).toMatch(/^"[\w-]+"$/);
  const same = await call('GET', path, undefined, { 'If-None-Match': `"other", W/${etag}` });
  expect([same.status, same.body, same.headers.get('etag')]).toEqual([304, null, etag]);
  expect((await call('PATCH', path, { amount: 5 }, { 'If-Match': `W/${etag}` })).status).toBe(200);
  expect((await call('GET', path, undefined, { 'If-None-Match': etag })).status).toBe(200);
  expect((await call('PATCH', path, { amount: 6 }, { 'If-Match': etag })).status).toBe(412);
  expect((await call('DELETE', path, undefined, { 'If-Match': etag })).status).toBe(412);
  expect((await call('DELETE', path, undefined, { 'If-Match': '*' })).status).toBe(204);
  expect((await call('DELETE', path, undefined, { 'If-Match': '*' })).status).toBe(404);
});

test('every answer with one payment tells the same tag of the same state', async () => {
  const { body, path, etag } = await recorded();
  const answers = [
    await call('GET', path),
    await call('HEAD', path),
    await call('POST', '', body),
    await call('PATCH', path, { amount: body.amount }),
  ];
  expect(answers.map(({ headers }) => headers.get('etag'))).toEqual(Array(4).fill(etag));
});

test('HEAD is GET without the body', async () => {
  const { path, etag } = await recorded();
  const head = await call('HEAD', path);
  expect([head.status, head.body, head.headers.get('content-type')]).toEqual([200, null, 'application/json']);
  expect((await call('HEAD', path, undefined, { 'If-None-Match': etag })).status).toBe(304);
  expect((await call('HEAD', '?per_page=1')).headers.get('link')).toContain('rel="first"');
  expect((await call('HEAD', '?per_page=0')).status).toBe(422);
});

test.each(['', '""', '"other"', 'other', 'W/"*"', '"a,*,b"', '"*"', '"a", "b"'])(
  'If-Match: %s holds no payment',
  async (tags) => {
    const { path, payment } = await recorded();
    // An empty header line is sent, unlike the empty text that stands for none.
    const headers = { 'If-Match': tags || ' ' };
    expectProblem(await call('PATCH', path, { amount: 1 }, headers), 'precondition_failed');
    expectProblem(await call('DELETE', path, undefined, headers), 'precondition_failed');
    expect((await call('GET', path)).body).toEqual(payment);
  },
);

test('If-Match takes a list of tags', async () => {
  const { path, etag } = await recorded();
  const headers = { 'If-Match': `"a,b" , ${etag},"c"` };
  expect((await call('PATCH', path, { status: 'refunded' }, headers)).status).toBe(200);
});

test('If-None-Match keeps a write from a state that is not wanted', async () => {
  const { path, etag, payment } = await recorded();
  for (const tags of ['*', etag]) {
    const headers = { 'If-None-Match': tags };
    expectProblem(await call('PUT', path, { amount: 1 }, headers), 'precondition_failed');
    expectProblem(await call('DELETE', path, undefined, headers), 'precondition_failed');
  }
  expect((await call('GET', path)).body).toEqual(payment);
  expect((await call('DELETE', path, undefined, { 'If-None-Match': '"other"' })).status).toBe(204);
});

test('what changes nothing is answered as the state is', async () => {
  const { payment, path, etag } = await recorded();
  const { invoice_id, customer_id, amount, status } = payment;
  const same = await call('PUT', path, { invoice_id, customer_id, amount, status }, { 'If-Match': etag });
  expect([same.status, same.body]).toEqual([200, payment]);
});
