import { describe, expect, test } from 'vitest';
import { fieldsOf, usePayments } from '../support/payments-server';
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

describe('a POST', () => {
  const UNTAKEN = ['*', '"other"', '', 'W/"*"'];

  test('of a known reference asks for what its conditions say', async () => {
    const { body, etag, path, payment } = await recorded();
    const refused: Record<string, string>[] = [
      { 'If-None-Match': '*' },
      { 'If-None-Match': etag },
      { 'If-None-Match': `"other", W/${etag}` },
      { 'If-Match': '"other"' },
      { 'If-Match': ' ' },
      { 'If-Match': etag, 'If-None-Match': '*' },
    ];
    for (const headers of refused) {
      // The conditions come before what is wrong with the payment itself.
      for (const invoice_id of [body.invoice_id, 2_000_000_000]) {
        const answer = await call('POST', '', { ...body, invoice_id, amount: 7 }, headers);
        expectProblem(answer, 'precondition_failed');
      }
    }
    expect((await call('GET', path)).body).toEqual(payment);

    const first = await call('POST', '', { ...body, amount: 7 }, { 'If-Match': `"other", ${etag}` });
    expect([first.status, first.body.amount]).toEqual([200, 7]);
    expectProblem(
      await call('POST', '', { ...body, amount: 8 }, { 'If-Match': etag }),
      'precondition_failed',
    );
    const same = await call('POST', '', { ...body, amount: 7 }, { 'If-Match': '*' });
    expect([same.status, same.body]).toEqual([200, first.body]);
    const other = await call('POST', '', { ...body, amount: 9 }, { 'If-None-Match': '"other"' });
    expect([other.status, other.body.amount]).toEqual([200, 9]);
  });

  test.each(UNTAKEN)('of a new reference creates nothing with If-Match: %s', async (tags) => {
    const { body } = await openInvoice();
    const headers = { 'If-Match': tags || ' ' };
    expectProblem(await call('POST', '', body, headers), 'precondition_failed');
    const found = await call('GET', `?payment_reference=${body.payment_reference}`);
    expect(found.body.total).toBe(0);
    expect((await call('POST', '', body, { 'If-None-Match': '*' })).status).toBe(201);
  });

  test('that creates only: of 40 at once one does', async () => {
    const { body } = await openInvoice();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        call('POST', '', { ...body, amount: i + 1 }, { 'If-None-Match': '*' }),
      ),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array(39).fill(412)]);
    const [row] = (await call('GET', `?payment_reference=${body.payment_reference}`)).body.data;
    expect(row).toEqual(answers.find(({ status }) => status === 201)?.body);
  });

  test('that changes one state: of 40 at once one does', async () => {
    const { body, etag } = await recorded();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        call('POST', '', { ...body, amount: i + 1 }, { 'If-Match': etag }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(39).fill(412)]);
  });
});

describe('the body of a GET', () => {
  const READ_ONLY = ['id', 'currency', 'source', 'created_at', 'updated_at'];

  test.each(['PUT', 'PATCH'])('is taken back by %s, changed where it may be', async (method) => {
    const { path, etag, payment } = await recorded();
    const same = await call(method, path, payment, { 'If-Match': etag });
    expect([same.status, same.body]).toEqual([200, payment]);
    const changed = await call(method, path, { ...payment, amount: 12.5, status: 'refunded' });
    expect([changed.status, changed.body.amount, changed.body.status]).toEqual([200, 12.5, 'refunded']);
  });

  test.each(READ_ONLY)('with another %s is refused', async (field) => {
    const { path, payment } = await recorded();
    for (const other of [0, null, 'other', '', { a: 1 }, [payment[field]], `${payment[field]} `]) {
      const answer = await call('PUT', path, { ...payment, [field]: other });
      expectProblem(answer, 'validation_failed');
      expect(answer.body.errors).toEqual([
        { field, message: 'is read-only: leave it out, or as it was read' },
      ]);
    }
    expect((await call('GET', path)).body).toEqual(payment);
  });

  test('names every field that differs, and changes nothing where it holds no other', async () => {
    const { path, payment } = await recorded();
    const wrong = await call('PUT', path, { ...payment, id: payment.id + 1, currency: 'usd', amount: 5 });
    expect(fieldsOf(wrong)).toEqual(['id', 'currency']);
    const { id, currency, source, created_at, updated_at } = payment;
    const alone = await call('PUT', path, { id, currency, source, created_at, updated_at });
    expect([alone.status, alone.body]).toEqual([200, payment]);
    expectProblem(await call('PUT', path, { ...payment, provider_amount: 1 }), 'validation_failed');
  });
});
