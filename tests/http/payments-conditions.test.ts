import { describe, expect, test } from 'vitest';
import { etagOf, type HttpRequest, preconditionOf } from '@/lib/http/messages';
import { expectProblem, usePayments } from '../support/payments-server';

describe('preconditions of a write', () => {
  const STATE = { id: 1 };
  const tag = etagOf(STATE);
  const allows = (headers: Record<string, string>, state: unknown) =>
    preconditionOf(new Request('http://localhost', { headers }) as HttpRequest)?.(state);

  test.each([
    ['*', true],
    [tag, true],
    [`W/${tag}`, true],
    [`"a,b" , ${tag},"c"`, true],
    ...['', ' ', '""', '"other"', 'other', 'W/"*"', '"a,*,b"', '"*"', '"a", "b"'].map(
      (text): [string, boolean] => [text, false],
    ),
  ])('the precondition “If-Match: %s” on an existing payment evaluates to %s', (text, holds) => {
    expect(allows({ 'If-Match': text }, STATE)).toBe(holds);
    expect(allows({ 'If-Match': text }, null)).toBe(false);
  });

  test.each([
    ['*', false],
    [tag, false],
    [`"other", W/${tag}`, false],
    ['"other"', true],
  ])('the precondition “If-None-Match: %s” on an existing payment evaluates to %s', (text, holds) => {
    expect(allows({ 'If-None-Match': text }, STATE)).toBe(holds);
    expect(allows({ 'If-None-Match': text }, null)).toBe(true);
  });

  test('a write with If-Match and If-None-Match runs only if both preconditions hold', () => {
    expect(allows({ 'If-Match': tag, 'If-None-Match': '*' }, STATE)).toBe(false);
    expect(allows({ 'If-Match': tag, 'If-None-Match': '"other"' }, STATE)).toBe(true);
    expect(allows({}, STATE)).toBeUndefined();
  });
});

describe('ETags of payments', () => {
  const { call, openInvoice, recorded } = usePayments();

  test('GET honors If-None-Match of a payment, and PATCH and DELETE honor If-Match', async () => {
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

  test('GET, HEAD, POST and PATCH return the same ETag for an unchanged payment', async () => {
    const { body, path, etag } = await recorded();
    const answers = [
      await call('GET', path),
      await call('HEAD', path),
      await call('POST', '', body),
      await call('PATCH', path, { amount: body.amount }),
    ];
    expect(answers.map(({ headers }) => headers.get('etag'))).toEqual(Array(4).fill(etag));
  });

  test('HEAD of a payment returns the headers of GET without a body', async () => {
    const { path, etag } = await recorded();
    const head = await call('HEAD', path);
    expect([head.status, head.body]).toEqual([200, null]);
    expect(head.headers.get('content-type')).toBe('application/json');
    expect((await call('HEAD', path, undefined, { 'If-None-Match': etag })).status).toBe(304);
    expect((await call('HEAD', '?per_page=1')).headers.get('link')).toContain('rel="first"');
    expect((await call('HEAD', '?per_page=0')).status).toBe(422);
  });

  test('PUT, PATCH and DELETE of a payment change nothing if If-Match is stale', async () => {
    const { path, payment } = await recorded();
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const answer = await call(method, path, { amount: 1 }, { 'If-Match': '"stale"' });
      expectProblem(answer, 'precondition_failed');
    }
    expect((await call('GET', path)).body).toEqual(payment);
  });

  test('POST of a known payment reference changes nothing if its precondition fails', async () => {
    const { body, etag, path, payment } = await recorded();
    for (const headers of [{ 'If-None-Match': '*' }, { 'If-Match': '"other"' }, { 'If-Match': ' ' }]) {
      // Invoice 2,000,000,000 does not exist, but the precondition is checked first.
      for (const invoice_id of [body.invoice_id, 2_000_000_000]) {
        const answer = await call('POST', '', { ...body, invoice_id, amount: 7 }, headers as never);
        expectProblem(answer, 'precondition_failed');
      }
    }
    expect((await call('GET', path)).body).toEqual(payment);

    const first = await call('POST', '', { ...body, amount: 7 }, { 'If-Match': `"other", ${etag}` });
    expect([first.status, first.body.amount]).toEqual([200, 7]);
    const stale = await call('POST', '', { ...body, amount: 8 }, { 'If-Match': etag });
    expectProblem(stale, 'precondition_failed');
    const same = await call('POST', '', { ...body, amount: 7 }, { 'If-Match': '*' });
    expect([same.status, same.body]).toEqual([200, first.body]);
  });

  test('POST of a new payment reference with If-Match creates nothing', async () => {
    const { body } = await openInvoice();
    expectProblem(await call('POST', '', body, { 'If-Match': '*' }), 'precondition_failed');
    const found = await call('GET', `?payment_reference=${body.payment_reference}`);
    expect(found.body.total).toBe(0);
    expect((await call('POST', '', body, { 'If-None-Match': '*' })).status).toBe(201);
  });
});

describe('writing back a payment as GET returned it', () => {
  const { call, recorded } = usePayments();

  test.each(['PUT', 'PATCH'])('%s accepts a payment exactly as GET returned it', async (method) => {
    const { path, etag, payment } = await recorded();
    const same = await call(method, path, payment, { 'If-Match': etag });
    expect([same.status, same.body]).toEqual([200, payment]);
    const changed = await call(method, path, { ...payment, amount: 12.5, status: 'refunded' });
    expect([changed.status, changed.body.amount, changed.body.status]).toEqual([200, 12.5, 'refunded']);
  });

  test.each(['id', 'currency', 'source', 'created_at', 'updated_at'])(
    'a PUT that changes the read-only payment field %s is refused',
    async (field) => {
      const { path, payment } = await recorded();
      for (const other of [null, '', { a: 1 }, [payment[field]], `${payment[field]} `]) {
        const answer = await call('PUT', path, { ...payment, [field]: other });
        const message = 'is read-only: leave it out, or send the value that was read';
        expect([answer.status, answer.body.errors]).toEqual([422, [{ field, message }]]);
      }
      expect((await call('GET', path)).body).toEqual(payment);
    },
  );

  test('a PUT with only the unchanged read-only fields of a payment changes nothing', async () => {
    const { path, payment } = await recorded();
    const wrong = await call('PUT', path, { ...payment, id: payment.id + 1, currency: 'usd', amount: 5 });
    expectProblem(wrong, 'validation_failed', ['id', 'currency']);
    const { id, currency, source, created_at, updated_at } = payment;
    const alone = await call('PUT', path, { id, currency, source, created_at, updated_at });
    expect([alone.status, alone.body]).toEqual([200, payment]);
    expectProblem(await call('PUT', path, { ...payment, provider_amount: 1 }), 'validation_failed');
  });
});
