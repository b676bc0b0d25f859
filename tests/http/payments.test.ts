import { and, eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditLog, paymentTombstones } from '@/db/schema';
import { validateQuery } from '@/lib/http/validate';
import { paymentFilters } from '@/lib/payments/schema';
import { createPayment } from '../support/factories';
import { expectProblem, fieldsOf, usePayments } from '../support/payments-server';

const { server, call, openInvoice, recorded, stateOf } = usePayments();

describe('writing payments', () => {
  test('a payment is created, read, upserted, changed and deleted', async () => {
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
    const trail = await server.runtime.db
      .select()
      .from(auditLog)
      .where(and(eq(auditLog.entity, 'payment'), eq(auditLog.entity_id, created.body.id)));
    const actions = ['create', 'update', 'update', 'update', 'delete'].map((action) => `payment.${action}`);
    expect(trail.map((row) => row.action)).toEqual(actions);
    expect(trail.at(-1)).toMatchObject({ actor_type: 'token', before: { amount: '1.000' }, after: null });
  });

  test('the same body again changes nothing', async () => {
    const { body, payment } = await recorded();
    const second = await call('POST', '', body);
    expect([second.status, second.body]).toEqual([200, payment]);
  });

  test('without a status a new payment is completed and a refunded one stays refunded', async () => {
    const { status: _, ...body } = (await openInvoice()).body;
    expect((await call('POST', '', body)).body.status).toBe('completed');
    await call('POST', '', { ...body, status: 'refunded' });
    expect((await call('POST', '', body)).body.status).toBe('refunded');
  });

  test('a payment moved to another invoice settles both', async () => {
    const from = await recorded();
    const to = await openInvoice({ customer_id: from.invoice.customer_id });
    await call('PATCH', from.path, { invoice_id: to.invoice.id });
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
    const { invoice, payment } = await recorded({ stripe_invoice_id: 'in_managed' });
    expect(payment.id).toEqual(expect.any(Number));
    expect(await stateOf(invoice.id)).toEqual({ status: 'sent', paid: 0, due: 119 });
  });

  test('a deleted or renamed Stripe payment leaves a tombstone', async () => {
    const { db } = server.runtime;
    const { invoice } = await openInvoice({ stripe_invoice_id: 'in_buried' });
    const bury = { invoice_id: invoice.id, customer_id: invoice.customer_id, source: 'stripe' as const };
    const gone = await createPayment(db, { ...bury, payment_reference: 'in_gone' });
    const renamed = await createPayment(db, { ...bury, payment_reference: 'in_renamed' });
    await call('DELETE', `/${gone.id}`);
    await call('PATCH', `/${renamed.id}`, { payment_reference: 'BANK-renamed' });
    const stones = await db.select().from(paymentTombstones).orderBy(paymentTombstones.reference);
    expect(stones.map((stone) => stone.reference)).toEqual(['in_gone', 'in_renamed']);
  });

  test('a payment moved into another currency needs a new amount', async () => {
    const euro = await recorded();
    const yen = await openInvoice({ customer_id: euro.invoice.customer_id, currency: 'jpy', total: '1200' });
    const silent = await call('PATCH', euro.path, { invoice_id: yen.invoice.id });
    expectProblem(silent, 'validation_failed', ['amount']);
    const told = await call('PATCH', euro.path, { invoice_id: yen.invoice.id, amount: 1200 });
    expect(told.body).toMatchObject({ currency: 'jpy', amount: 1200 });
  });

  test('payments that add up to more than fits are refused', async () => {
    const { body } = await openInvoice();
    expect((await call('POST', '', { ...body, amount: 999_999_999_999 })).status).toBe(201);
    const more = await call('POST', '', { ...body, amount: 999_999_999_999, payment_reference: 'OVERFLOW' });
    expectProblem(more, 'validation_failed', ['amount']);
  });

  test.each(['draft', 'cancelled'] as const)('an invoice that is %s takes no payment', async (status) => {
    const { body } = await openInvoice({ status });
    expectProblem(await call('POST', '', body), 'validation_failed', ['invoice_id']);
  });

  test('sums of cents are exact', async () => {
    const { invoice, body } = await openInvoice({ total: '0.3' });
    await call('POST', '', { ...body, amount: 0.1 });
    await call('POST', '', { ...body, amount: 0.2, payment_reference: 'CENTS' });
    expect(await stateOf(invoice.id)).toEqual({ status: 'paid', paid: 0.3, due: 0 });
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

  /** The references of a list, each by the number in it. */
  async function found(query: string): Promise<string[]> {
    const { status, body } = await call('GET', `?${query}`);
    expect(status).toBe(200);
    return body.data.map((payment: { payment_reference: string }) => payment.payment_reference.split('-')[1]);
  }

  test('the newest payment comes first, and of one day the one that was recorded later', async () => {
    expect(await found(`invoice_id=${invoice.id}`)).toEqual(['3', '1', '2', '0', '4']);
  });

  test('pages have neither gap nor overlap, and are empty past the end', async () => {
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

  test('each filter narrows the list, and so do all together', async () => {
    expect(await found(`customer_id=${invoice.customer_id}&per_page=100`)).toHaveLength(6);
    expect(await found(`invoice_id=${invoice.id}&status=refunded`)).toEqual(['4']);
    expect(await found('payment_date_from=2026-01-06&payment_date_to=2026-01-07')).toEqual(['3', '1', '2']);
    expect(await found('payment_date_from=2026-01-01&payment_date_to=2026-01-01')).toEqual(['4']);
    expect(await found('payment_date_to=2026-01-05')).toEqual(['0', '4']);
    expect(await found('payment_reference=list-1')).toEqual([]);
    const all = `customer_id=${invoice.customer_id}&invoice_id=${invoice.id}&status=completed&payment_reference=LIST-2`;
    expect(await found(`${all}&payment_date_from=2026-01-06&payment_date_to=2026-01-06`)).toEqual(['2']);
  });

  test('a payment is found by its reference with any characters, and listed as it is read alone', async () => {
    const payment_reference = `%_\\ ?&=+#"'<>;,Größe 漢字 😀  ${'x'.repeat(200)}`;
    const { body } = await openInvoice();
    const { body: payment } = await call('POST', '', { ...body, payment_reference });
    const query = `per_page=1&payment_reference=${encodeURIComponent(payment_reference)}`;
    const { body: page, headers } = await call('GET', `?${query}`);
    expect(page.data).toEqual([payment]);
    expect((await call('GET', `/${payment.id}`)).body).toEqual(payment);
    const first = /^<([^>]*)>; rel="first"/.exec(headers.get('link') ?? '')?.[1] ?? '';
    expect((await call('GET', new URL(first).search)).body).toEqual(page);
  });

  test.each([
    [1, { first: 1, next: 2, last: 3 }],
    [2, { first: 1, prev: 1, next: 3, last: 3 }],
    [3, { first: 1, prev: 2, last: 3 }],
    [7, { first: 1, prev: 3, last: 3 }],
  ])('page %i links to its neighbours at the public address', async (page, pages) => {
    const query = `per_page=2&invoice_id=${invoice.id}`;
    const { headers } = await call('GET', `?${query}&page=${page}`, undefined, {
      Host: 'evil.example',
      'X-Forwarded-Host': 'evil.example',
    });
    const at = `${server.runtime.env.publicUrl}/api/w5t/payments?${query}&page=`;
    const links = Object.entries(pages).map(([rel, number]) => `<${at}${number}>; rel="${rel}"`);
    expect(headers.get('link')?.split(', ').sort()).toEqual(links.sort());
  });

  test.each([
    ['per_page', ['0', '101', 'abc', '', '1e1', '0x10', '%2B5', '+5', encodeURI('５')]],
    ['page', ['0', '-1', '-0', '1.5', '20000001', '99999999999999999999', '1&page=2', '1&page=1']],
    ['payment_date_from', ['2025-02-30', '', '2026-02-01&payment_date_to=2026-01-01']],
    ['payment_date_to', ['2025-2-3', '2026-01-01T00:00:00Z']],
    ['status', ['done', 'completed,refunded', 'COMPLETED']],
    ['customer_id', ['0', '99999999999', '2147483648', '1%00']],
    ['payment_reference', ['', 'a%00b', 'x'.repeat(256)]],
    ...['status[]', 'perpage', 'Page', 'amount', 'sort', 'constructor', 'toString', ''].map(
      (name): [string, string[]] => [name, ['1']],
    ),
  ])('a wrong or unknown parameter "%s" is refused by its name', (name, texts) => {
    for (const text of texts) {
      const params = new URLSearchParams(`${name}=${text}`);
      expect(() => validateQuery(paymentFilters, params), text).toThrow(
        expect.objectContaining({
          code: 'validation_failed',
          fields: [expect.objectContaining({ field: name })],
        }),
      );
    }
  });

  test.each([
    ['?page=0&per_page=abc&status=x&foo=1', ['page', 'per_page', 'status', 'foo']],
    ['?__proto__=1', ['__proto__']],
    ['?__proto__%0A=1&__proto__%0A=2', ['__proto__']],
  ])('the list %s is refused with every wrong parameter', async (query, fields) => {
    const answer = await call('GET', query);
    expectProblem(answer, 'validation_failed');
    expect(fieldsOf(answer).sort()).toEqual(fields.sort());
  });

  test('every operation refuses a parameter that it does not know, and changes nothing', async () => {
    const { body, path, payment } = await recorded();
    const amount = { amount: 1 };
    expectProblem(await call('POST', '?dry_run=true', { ...body, ...amount }), 'validation_failed', [
      'dry_run',
    ]);
    expectProblem(await call('GET', `${path}?fields=id`), 'validation_failed', ['fields']);
    expectProblem(await call('PATCH', `${path}?dry_run=true`, amount), 'validation_failed', ['dry_run']);
    expectProblem(await call('DELETE', `${path}?dry_run=true`), 'validation_failed', ['dry_run']);
    expect((await call('GET', path)).body).toEqual(payment);
  });
});
