import { and, eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditLog, invoices, staffTasks } from '@/db/schema';
import { etagOf, type HttpRequest, preconditionOf } from '@/lib/http/messages';
import { validateQuery } from '@/lib/http/route';
import { paymentFilters } from '@/lib/payments/schema';
import { listUncounted } from '@/lib/payments/stripe-payment';
import { finishTask } from '@/lib/tasks/staff-tasks';
import { readRows } from '../support/database';
import { createPayment } from '../support/factories';
import { expectProblem, fieldsOf, usePayments } from '../support/payments-server';

const { server, call, openInvoice, recorded, stateOf } = usePayments();

// tests/unit/decide/payments.test.ts states the effects of payment writes on invoices and refunds.
test('a payment can be created, read, updated and deleted through the API', async () => {
  const { invoice, body } = await openInvoice();
  const created = await call('POST', '', body);
  const path = `/${created.body.id}`;
  expect([created.status, created.headers.get('location')]).toEqual([201, `/api/w5t/payments${path}`]);
  const at = expect.stringMatching(/Z$/);
  expect(created.body).toEqual({
    ...{ id: expect.any(Number), ...body, currency: 'eur', refunded_amount: 0, source: 'api' },
    ...{ transfer: null, created_at: at, updated_at: at },
  });
  expect(await stateOf(invoice.id)).toEqual({ status: 'paid', paid: 119, due: 0 });
  expect((await call('GET', path)).body).toEqual(created.body);

  const again = await call('POST', '', { ...body, amount: 19.5 });
  expect(again).toMatchObject({ status: 200, body: { id: created.body.id, amount: 19.5 } });
  expect((await call('PATCH', path, { status: 'refunded' })).body.status).toBe('refunded');
  expect((await call('PUT', path, { amount: 1 })).body).toMatchObject({ amount: 1, status: 'refunded' });
  expect(await stateOf(invoice.id)).toEqual({ status: 'sent', paid: 0, due: 119 });

  expect((await call('DELETE', path)).status).toBe(204);
  expect((await call('GET', path)).status).toBe(404);
  const ofPayment = and(eq(auditLog.entity, 'payment'), eq(auditLog.entity_id, created.body.id));
  const trail = await readRows(server.runtime.db, auditLog, ofPayment);
  const actions = ['create', 'update', 'update', 'update', 'delete'].map((action) => `payment.${action}`);
  expect(trail.map(({ action }) => action)).toEqual(actions);
  expect(trail.at(-1)).toMatchObject({ actor_type: 'token', before: { amount: '1.000' }, after: null });
});

describe('payments of an invoice that Stripe manages', () => {
  let made = 0;
  /** Opens a Stripe invoice over 119.00 EUR with 70.00 due. `post` records a payment of it, or changes one. */
  async function openAtStripe() {
    made += 1;
    const owed = { stripe_invoice_id: `in_api_${made}`, amount_paid: '49', amount_due: '70' };
    const { invoice, body } = await openInvoice(owed);
    const post = (amount: number, payment_reference = body.payment_reference) =>
      call('POST', '', { ...body, amount, payment_reference });
    return { invoice, body, post };
  }
  const patch = (id: number, changes: object) => call('PATCH', `/${id}`, changes);

  test('a payment is refused with 409 if its reference may be the id of a payment that Stripe has reported', async () => {
    const [{ invoice, body }, other] = [await openAtStripe(), await openInvoice()];
    const reference = String(invoice.stripe_invoice_id);
    const counted = await createPayment(server.runtime.db, {
      ...{ invoice_id: invoice.id, customer_id: invoice.customer_id, source: 'stripe', amount: '49' },
      ...{ payment_reference: reference, stripe_payment_intent_id: 'pi_api', stripe_charge_id: 'ch_api' },
    });
    for (const [of, payment_reference] of [
      [body, 'pi_api'],
      [body, 'ch_of_nothing_we_know'],
      [body, 'py_bank_debit'],
      [other.body, 'pi_api'],
      [other.body, 'ch_api'],
    ] as const) {
      const refused = await call('POST', '', { ...of, payment_reference });
      expectProblem(refused, 'conflict');
      expect(refused.body.detail).toMatch(`Payment ${counted.id} (${reference})`);
    }
    const { body: bank } = await call('POST', '', { ...other.body, payment_reference: 'BANK-OTHER' });
    expectProblem(await patch(bank.id, { payment_reference: 'pi_api' }), 'conflict');
    const { status } = await call('POST', '', { ...other.body, payment_reference: 'pi_of_another' });
    expect(status).toBe(201);
  });

  test('a payment above the amount due at Stripe is recorded with a warning', async () => {
    const { invoice, post } = await openAtStripe();
    const exact = await post(70, 'EXACT');
    expect([exact.status, exact.body.warning]).toEqual([201, undefined]);
    const more = await post(0.01, 'MORE');
    const { warning, ...payment } = more.body;
    expect([more.status, warning]).toEqual([
      201,
      `With payment ${payment.id}, 70.01 EUR is recorded of invoice ${invoice.number}, for which Stripe asks 70.00 EUR.`,
    ]);
    const read = await call('GET', `/${payment.id}`);
    expect([read.body, read.headers.get('etag')]).toEqual([payment, more.headers.get('etag')]);
    expect((await post(0.01, 'MORE')).body).toEqual(payment);
    const warningOf = async (amount: number) => (await patch(exact.body.id, { amount })).body.warning;
    expect(await warningOf(999_999_999_999)).toEqual(expect.any(String));
    expect(await warningOf(60)).toBeUndefined();
  });

  test('payments that replace money given back by Stripe are neither too much nor uncounted', async () => {
    const { db } = server.runtime;
    const { invoice, post } = await openAtStripe();
    const { id: invoice_id, customer_id, stripe_invoice_id } = invoice;
    const collected = { payment_reference: String(stripe_invoice_id), amount: '119', refunded_amount: '49' };
    const stripes = await createPayment(db, { invoice_id, customer_id, ...collected });
    const settled = { amount_paid: '119', amount_due: '0', collected_by_payment_id: stripes.id };
    await db.update(invoices).set(settled).where(eq(invoices.id, invoice.id));
    expect((await post(49)).body.warning).toBeUndefined();
    expect(await listUncounted(db, { invoice_id })).toEqual([]);
    expect((await post(49.01)).body.warning).toMatch('49.01 EUR is recorded');
    expect(await listUncounted(db, { invoice_id })).toMatchObject([{ amount: 0.01 }]);
  });

  test('a payment that Stripe does not know is listed as uncounted until Stripe counts it', async () => {
    const { db } = server.runtime;
    const { invoice, post } = await openAtStripe();
    await post(60.01);
    const uncounted = [{ id: invoice.id, number: invoice.number, currency: 'eur', amount: 60.01 }];
    expect(await listUncounted(db, { invoice_id: invoice.id })).toEqual(uncounted);
    expect(await listUncounted(db, { customer_id: invoice.customer_id })).toHaveLength(1);
    await db.update(invoices).set({ amount_off_stripe: '60.01' }).where(eq(invoices.id, invoice.id));
    expect(await listUncounted(db, { invoice_id: invoice.id })).toEqual([]);
  });

  describe('tasks about a payment', () => {
    const ofPayment = (id: number) => and(eq(staffTasks.entity, 'payment'), eq(staffTasks.entity_id, id));
    const tasksOf = (id: number) => readRows(server.runtime.db, staffTasks, ofPayment(id));
    const expectExcess = async (id: number, done_by: string | null) =>
      expect(await tasksOf(id)).toMatchObject([{ kind: 'payment_exceeds_due', done_by }]);
    const CLOSED = 'a later change';

    test('changing the amount of a payment closes and reopens the task about an excess payment', async () => {
      const { post } = await openAtStripe();
      const { id } = (await post(70)).body;
      const uncounted = { kind: 'payment_not_counted', done_by: null };
      for (const [changes, done_by] of [
        [{ amount: 100 }, null],
        [{ payment_date: '2026-03-02' }, null],
        [{ amount: 70 }, CLOSED],
        [{ amount: 100 }, null],
      ] as const) {
        await patch(id, changes);
        expect(await tasksOf(id)).toMatchObject([uncounted, { kind: 'payment_exceeds_due', done_by }]);
      }
      await call('DELETE', `/${id}`);
      expect(await tasksOf(id)).toMatchObject([{ done_by: CLOSED }, { done_by: CLOSED }]);
    });

    test('deleting a payment closes the task about a second payment that exceeded the amount due', async () => {
      const { invoice, post } = await openAtStripe();
      const [first, second] = [(await post(40, 'TASK-1')).body, (await post(40, 'TASK-2')).body];
      const message = `Payment ${first.id} of 40.00 EUR does not count: Stripe manages invoice ${invoice.number} and still asks for 70.00 EUR. Mark the invoice as paid in Stripe, or delete the payment.`;
      const uncounted = { kind: 'payment_not_counted', message };
      expect(await tasksOf(first.id)).toMatchObject([{ ...uncounted, done_by: null }]);
      await expectExcess(second.id, null);
      await call('DELETE', `/${first.id}`);
      expect(await tasksOf(first.id)).toMatchObject([{ ...uncounted, done_by: CLOSED }]);
      await expectExcess(second.id, CLOSED);
    });

    test('a task about an excess payment stays done once staff have finished it', async () => {
      const { db, now } = server.runtime;
      const { post } = await openAtStripe();
      const { id } = (await post(100)).body;
      const [task] = await tasksOf(id);
      await finishTask(db, task?.id ?? 0, { by: 'staff@example.com', now: now() });
      for (const amount of [70, 100]) await patch(id, { amount });
      await call('DELETE', `/${id}`);
      await expectExcess(id, 'staff@example.com');
    });
  });
});

describe('the list of payments', () => {
  const DATES = ['2026-01-05', '2026-01-07', '2026-01-06', '2026-01-07', '2026-01-01'];
  let invoice = { id: 0, customer_id: 0 };
  beforeAll(async () => {
    const opened = await openInvoice({ total: '9000' });
    invoice = opened.invoice;
    for (const [i, payment_date] of DATES.entries()) {
      const status = i === 4 ? 'refunded' : 'completed';
      const payment = { ...opened.body, amount: i + 1, payment_date, status, payment_reference: `LIST-${i}` };
      expect((await call('POST', '', payment)).status).toBe(201);
    }
    await recorded({ customer_id: invoice.customer_id });
  });

  /** Requests the payment list. @returns the number at the end of each payment's reference */
  async function found(query: string): Promise<string[]> {
    const { status, body } = await call('GET', `?${query}`);
    expect(status).toBe(200);
    return body.data.map((payment: { payment_reference: string }) => payment.payment_reference.split('-')[1]);
  }

  test('the payment list is sorted by date, newest first, and its pages have no gaps or overlaps', async () => {
    const query = `invoice_id=${invoice.id}&per_page=2`;
    const pages = [await found(query), await found(`${query}&page=2`), await found(`${query}&page=3`)];
    expect(pages).toEqual([['3', '1'], ['2', '0'], ['4']]);
    for (const page of [4, 20_000_000]) {
      const { status, body } = await call('GET', `?${query}&page=${page}`);
      expect([status, body]).toEqual([200, { page, per_page: 2, total: 5, last_page: 3, data: [] }]);
    }
    const empty = await call('GET', '?customer_id=2000000000');
    expect(empty.body).toEqual({ page: 1, per_page: 25, total: 0, last_page: 1, data: [] });
  });

  test('the filters of the payment list can be combined', async () => {
    expect(await found(`customer_id=${invoice.customer_id}&per_page=100`)).toHaveLength(6);
    expect(await found(`invoice_id=${invoice.id}&status=refunded`)).toEqual(['4']);
    expect(await found('payment_date_from=2026-01-06&payment_date_to=2026-01-07')).toEqual(['3', '1', '2']);
    expect(await found('payment_date_from=2026-01-01&payment_date_to=2026-01-01')).toEqual(['4']);
    expect(await found('payment_date_to=2026-01-05')).toEqual(['0', '4']);
    expect(await found('payment_reference=list-1')).toEqual([]);
    const all = `customer_id=${invoice.customer_id}&invoice_id=${invoice.id}&status=completed&payment_reference=LIST-2`;
    expect(await found(`${all}&payment_date_from=2026-01-06&payment_date_to=2026-01-06`)).toEqual(['2']);
  });

  test('a payment is found by a 255-character reference with special characters', async () => {
    const payment_reference = `%_\\ ?&=+#"'<>;,--\\u0000%00Größe 漢字 😀👍🏽 مدفوعات `.padEnd(255, 'x');
    const { body } = await openInvoice();
    const { body: payment } = await call('POST', '', { ...body, payment_reference });
    expect(payment.payment_reference).toBe(payment_reference);
    const query = `per_page=1&payment_reference=${encodeURIComponent(payment_reference)}`;
    const { body: page, headers } = await call('GET', `?${query}`);
    expect(page.data).toEqual([payment]);
    const first = /^<([^>]*)>; rel="first"/.exec(headers.get('link') ?? '')?.[1] ?? '';
    expect((await call('GET', new URL(first).search)).body).toEqual(page);
  });

  test('a payment reference that looks like an internal placeholder is stored unchanged', async () => {
    for (const reference of ['\\u0001(-1)', '\\u0001<1>', '%1$s \\\\u0001(-1)']) {
      const { body } = await openInvoice();
      const answer = await call('POST', '', { ...body, payment_reference: reference });
      expect([answer.status, answer.body.payment_reference]).toEqual([201, reference]);
    }
  });

  test.each([
    [1, { first: 1, next: 2, last: 3 }],
    [2, { first: 1, prev: 1, next: 3, last: 3 }],
    [3, { first: 1, prev: 2, last: 3 }],
    [7, { first: 1, prev: 3, last: 3 }],
  ])(
    'the Link header of page %i names the first, last and adjacent pages of the payment list at the public URL',
    async (page, pages) => {
      const query = `per_page=2&invoice_id=${invoice.id}`;
      const { headers } = await call('GET', `?${query}&page=${page}`, undefined, {
        Host: 'evil.example',
        'X-Forwarded-Host': 'evil.example',
      });
      const at = `${server.runtime.env.publicUrl}/api/w5t/payments?${query}&page=`;
      const links = Object.entries(pages).map(([rel, number]) => `<${at}${number}>; rel="${rel}"`);
      expect(headers.get('link')?.split(', ').sort()).toEqual(links.sort());
    },
  );

  // openapi.test.ts also tests generated values that violate the schema of a parameter.
  test.each([
    ['per_page', ['1e1', '0x10', '%2B5', '+5', encodeURI('５')]],
    ['page', ['-0', '20000001', '99999999999999999999', '1&page=2', '1&page=1']],
    ['payment_date_from', ['2026-02-01&payment_date_to=2026-01-01']],
    ['status', ['completed,refunded', 'COMPLETED']],
    ['customer_id', ['99999999999', '1%00']],
    ...['status[]', 'Page', 'amount', 'constructor', ''].map((name): [string, string[]] => [name, ['1']]),
  ])('the payment list refuses an invalid or unknown parameter "%s"', (name, texts) => {
    for (const text of texts) {
      const check = () => validateQuery(paymentFilters, new URLSearchParams(`${name}=${text}`));
      expect(check, text).toThrow(
        expect.objectContaining({ fields: [expect.objectContaining({ field: name })] }),
      );
    }
  });

  test.each([
    ['?page=0&per_page=abc&status=x&foo=1', ['page', 'per_page', 'status', 'foo']],
    ['?__proto__=1', ['__proto__']],
    ['?__proto__%0A=1&__proto__%0A=2', ['__proto__']],
  ])('the payment list refuses the query %s and names each invalid parameter', async (query, fields) => {
    const answer = await call('GET', query);
    expectProblem(answer, 'validation_failed');
    expect(fieldsOf(answer).sort()).toEqual(fields.sort());
  });

  test('POST, GET, PATCH and DELETE of a payment refuse an unknown query parameter', async () => {
    const { body, path, payment } = await recorded();
    for (const [method, at, sent] of [
      ['POST', '', { ...body, amount: 1 }],
      ['GET', path],
      ['PATCH', path, { amount: 1 }],
      ['DELETE', path],
    ] as const) {
      expectProblem(await call(method, `${at}?dry_run=true`, sent), 'validation_failed', ['dry_run']);
    }
    expect((await call('GET', path)).body).toEqual(payment);
  });
});

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
  test('GET and HEAD of a payment are answered with 304 while If-None-Match names its ETag', async () => {
    const { path, etag } = await recorded();
    expect(etag).toMatch(/^"[\w-]+"$/);
    const ask = (method: string) => call(method, path, undefined, { 'If-None-Match': `"other", W/${etag}` });
    for (const { status, body, headers } of [await ask('GET'), await ask('HEAD')]) {
      expect([status, body, headers.get('etag')]).toEqual([304, null, etag]);
    }
    await call('PATCH', path, { amount: 5 });
    expect((await ask('GET')).status).toBe(200);
  });

  test('PUT, PATCH and DELETE of a payment change nothing if If-Match is stale', async () => {
    const { path, payment, etag } = await recorded();
    const write = (method: string, tag: string) => call(method, path, { amount: 1 }, { 'If-Match': tag });
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      expectProblem(await write(method, '"stale"'), 'precondition_failed');
    }
    expect((await call('GET', path)).body).toEqual(payment);
    expect((await write('PATCH', `W/${etag}`)).status).toBe(200);
    for (const method of ['PATCH', 'DELETE']) expect((await write(method, etag)).status).toBe(412);
    for (const status of [204, 404]) expect((await write('DELETE', '*')).status).toBe(status);
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

  test('HEAD of a payment or of the payment list returns the headers of GET without a body', async () => {
    const head = await call('HEAD', (await recorded()).path);
    expect([head.status, head.body, head.headers.get('content-type')]).toEqual([
      200,
      null,
      'application/json',
    ]);
    expect((await call('HEAD', '?per_page=1')).headers.get('link')).toContain('rel="first"');
    expect((await call('HEAD', '?per_page=0')).status).toBe(422);
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
  test.each(['PUT', 'PATCH'])('%s accepts a payment exactly as GET returned it', async (method) => {
    const { path, etag, payment } = await recorded();
    const same = await call(method, path, payment, { 'If-Match': etag });
    expect([same.status, same.body]).toEqual([200, payment]);
    const { id, currency, source, created_at, updated_at } = payment;
    const alone = await call(method, path, { id, currency, source, created_at, updated_at });
    expect([alone.status, alone.body]).toEqual([200, payment]);
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
});
