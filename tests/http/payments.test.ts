import { eq, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import * as one from '@/app/api/w5t/payments/[id]/route';
import * as all from '@/app/api/w5t/payments/route';
import { auditLog, invoices, payments, paymentTombstones } from '@/db/schema';
import { createInvoice, createPayment } from '../support/factories';
import { useServer } from '../support/http';

const server = useServer({ '/api/w5t/payments': all, '/api/w5t/payments/[id]': one });

let token = '';
let reference = 0;
beforeAll(async () => {
  token = await server.token('payments:read', 'payments:write');
});

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${server.url}/api/w5t/payments${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}

/** An open invoice of 119.00 EUR that Stripe does not manage, and the body of a payment for it. */
async function openInvoice(overrides: Parameters<typeof createInvoice>[1] = {}) {
  const invoice = await createInvoice(server.runtime.db, {
    status: 'sent',
    subtotal: '100',
    tax: '19',
    total: '119',
    amount_paid: '0',
    amount_due: '119',
    currency: 'eur',
    invoice_date: '2026-03-01',
    due_date: '2026-03-29',
    stripe_invoice_id: null,
    ...overrides,
  });
  reference += 1;
  const body = {
    invoice_id: invoice.id,
    customer_id: invoice.customer_id,
    amount: 119,
    payment_date: '2026-03-10',
    payment_reference: `BANK-${reference}`,
    status: 'completed',
  };
  return { invoice, body };
}

async function stateOf(invoiceId: number) {
  const [row] = await server.runtime.db.select().from(invoices).where(eq(invoices.id, invoiceId));
  return { status: row?.status, paid: Number(row?.amount_paid), due: Number(row?.amount_due) };
}

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
      .where(eq(auditLog.entity_id, created.body.id));
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
    const gone = await createPayment(server.runtime.db, { ...bury, payment_reference: 'in_gone' });
    const renamed = await createPayment(server.runtime.db, { ...bury, payment_reference: 'in_renamed' });
    await call('DELETE', `/${gone.id}`);
    await call('PATCH', `/${renamed.id}`, { payment_reference: 'BANK-renamed' });
    const stones = await server.runtime.db
      .select()
      .from(paymentTombstones)
      .orderBy(paymentTombstones.reference);
    expect(stones.map((stone) => stone.reference)).toEqual(['in_gone', 'in_renamed']);
  });

  test('40 posts at once of one new reference make one row and one 201', async () => {
    const { body } = await openInvoice();
    const answers = await Promise.all(Array.from({ length: 40 }, () => call('POST', '', body)));
    expect(answers.map((answer) => answer.status).sort()).toEqual([...Array(39).fill(200), 201]);
    const rows = await server.runtime.db
      .select()
      .from(payments)
      .where(eq(payments.payment_reference, body.payment_reference));
    expect(rows).toHaveLength(1);
  });

  test('posts of one new reference for two invoices in turn never fail', async () => {
    const a = await openInvoice();
    const b = await openInvoice({ customer_id: a.invoice.customer_id });
    const posts = Array.from({ length: 30 }, (_, i) =>
      call('POST', '', { ...a.body, invoice_id: i % 2 ? a.invoice.id : b.invoice.id }),
    );
    const statuses = (await Promise.all(posts)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([...Array(29).fill(200), 201]);
  });

  test('a payment moved into another currency says how much it is there', async () => {
    const euro = await openInvoice();
    const yen = await openInvoice({ customer_id: euro.invoice.customer_id, currency: 'jpy', total: '1200' });
    const { body } = await call('POST', '', { ...euro.body, amount: 12 });
    const silent = await call('PATCH', `/${body.id}`, { invoice_id: yen.invoice.id });
    expect([silent.status, silent.body.errors[0].field]).toEqual([422, 'amount']);
    const told = await call('PATCH', `/${body.id}`, { invoice_id: yen.invoice.id, amount: 1200 });
    expect(told.body).toMatchObject({ currency: 'jpy', amount: 1200 });
  });

  test('payments that add up to more than can be kept are refused', async () => {
    const { body } = await openInvoice();
    expect((await call('POST', '', { ...body, amount: 999_999_999_999 })).status).toBe(201);
    const more = await call('POST', '', { ...body, amount: 999_999_999_999, payment_reference: 'OVERFLOW' });
    expect([more.status, more.body.errors[0].field]).toEqual([422, 'amount']);
  });

  test('two invoices written crosswise at once never fail', async () => {
    const a = await openInvoice();
    const b = await openInvoice({ customer_id: a.invoice.customer_id });
    const [x, y] = [(await call('POST', '', a.body)).body.id, (await call('POST', '', b.body)).body.id];
    const moves = Array.from({ length: 30 }, (_, i) =>
      call('PATCH', `/${i % 2 ? x : y}`, { invoice_id: i % 3 ? a.invoice.id : b.invoice.id }),
    );
    expect((await Promise.all(moves)).map((move) => move.status)).toEqual(Array(30).fill(200));
  });
});

describe('lost updates and safe reads', () => {
  test('a tag names what was read: 304 for the same, 412 once it has changed', async () => {
    const { body } = await openInvoice();
    const { body: payment, headers } = await call('POST', '', body);
    const path = `/${payment.id}`;
    const etag = headers.get('etag') ?? '';
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

  test('of 50 changes at once with the same If-Match one succeeds', async () => {
    const { body } = await openInvoice();
    const { body: payment, headers } = await call('POST', '', body);
    const changes = Array.from({ length: 50 }, (_, i) =>
      call('PATCH', `/${payment.id}`, { amount: i + 1 }, { 'If-Match': headers.get('etag') ?? '' }),
    );
    const statuses = (await Promise.all(changes)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, ...Array(49).fill(412)]);
  });
});

describe('the list', () => {
  test('is newest first, filtered, in pages with links', async () => {
    const { invoice, body } = await openInvoice({ total: '9000' });
    for (const [i, date] of ['2026-01-05', '2026-01-07', '2026-01-06'].entries()) {
      await call('POST', '', { ...body, amount: 1, payment_date: date, payment_reference: `LIST-${i}` });
    }
    const { body: page, headers } = await call('GET', `?invoice_id=${invoice.id}&per_page=2`);
    expect(page).toMatchObject({ page: 1, per_page: 2, total: 3, last_page: 2 });
    expect(page.data.map((row: { payment_date: string }) => row.payment_date)).toEqual([
      '2026-01-07',
      '2026-01-06',
    ]);
    expect(headers.get('link')).toMatch(/page=2>; rel="next".*page=2>; rel="last"/);
    const past = await call('GET', `?invoice_id=${invoice.id}&page=9`);
    expect(past.body).toMatchObject({ page: 9, total: 3, data: [] });
    const dated = await call(
      'GET',
      `?customer_id=${invoice.customer_id}&payment_date_from=2026-01-06&payment_date_to=2026-01-07`,
    );
    expect(dated.body.total).toBe(2);
    expect((await call('GET', '?payment_reference=LIST-1')).body.data[0].payment_date).toBe('2026-01-07');
  });

  test.each([
    ['per_page=0', 'per_page'],
    ['per_page=101', 'per_page'],
    ['per_page=abc', 'per_page'],
    ['page=0', 'page'],
    ['page=1.5', 'page'],
    ['page=1&page=2', 'page'],
    ['payment_date_from=2025-02-30', 'payment_date_from'],
    ['payment_date_from=2026-02-01&payment_date_to=2026-01-01', 'payment_date_from'],
    ['status=done', 'status'],
    ['customer_id=99999999999', 'customer_id'],
    ['perpage=5', 'perpage'],
    ['__proto__=1', '__proto__'],
  ])('?%s is refused naming %s', async (query, field) => {
    const { status, body } = await call('GET', `?${query}`);
    expect([status, body.errors[0].field]).toEqual([422, field]);
  });
});

describe('refusals', () => {
  test('without, with a wrong, or with a weak token', async () => {
    const none = await call('GET', '', undefined, { Authorization: '' });
    expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(none.headers.get('content-type')).toBe('application/problem+json');
    expect((await call('GET', '', undefined, { Authorization: `Bearer ${token}x` })).status).toBe(401);
    const weak = await server.token('mcp:read');
    expect((await call('GET', '', undefined, { Authorization: `bearer  ${weak}` })).status).toBe(403);
  });

  test.each<[string, unknown, string[]]>([
    ['nothing', {}, ['invoice_id', 'customer_id', 'amount', 'payment_date', 'payment_reference']],
    ['an amount as text', { amount: '12' }, ['amount']],
    ['a negative amount', { amount: -1 }, ['amount']],
    ['too many decimals', { amount: 12.345 }, ['amount']],
    ['too large an amount', { amount: 1e21 }, ['amount']],
    ['an impossible date', { payment_date: '2025-02-30' }, ['payment_date']],
    ['the year 0', { payment_date: '0000-01-01' }, ['payment_date']],
    ['a control character', { payment_reference: 'a\u0000b' }, ['payment_reference']],
    ['an empty reference', { payment_reference: '' }, ['payment_reference']],
    ['a reference that shows nothing', { payment_reference: ' \u200b' }, ['payment_reference']],
    ['half a character', { payment_reference: 'a\ud800' }, ['payment_reference']],
    ['a long reference', { payment_reference: 'x'.repeat(256) }, ['payment_reference']],
    ['an unknown status', { status: 'done' }, ['status']],
    ['an unknown field', { currency: 'usd' }, ['currency']],
    ['an unknown invoice', { invoice_id: 2_000_000_000 }, ['invoice_id']],
    ['an invoice beyond integers', { invoice_id: 9e15 }, ['invoice_id']],
    ['the wrong customer', { customer_id: 2_000_000_000 }, ['customer_id']],
  ])('POST with %s names the fields', async (_, change, fields) => {
    const { body } = await openInvoice();
    const sent = Object.keys(change as object).length === 0 ? {} : { ...body, ...(change as object) };
    const answer = await call('POST', '', sent);
    expect(answer.status).toBe(422);
    expect(answer.body.errors.map((error: { field: string }) => error.field)).toEqual(fields);
    expect(answer.headers.get('x-request-id')).toBeTruthy();
  });

  test('drafts and cancelled invoices take no payment', async () => {
    for (const status of ['draft', 'cancelled'] as const) {
      const { body } = await openInvoice({ status });
      const answer = await call('POST', '', body);
      expect([answer.status, answer.body.errors[0].field]).toEqual([422, 'invoice_id']);
    }
  });

  test('a reference of another payment, an empty change, unknown ids', async () => {
    const [a, b] = [await openInvoice(), await openInvoice()];
    const { body } = await call('POST', '', a.body);
    await call('POST', '', b.body);
    const path = `/${body.id}`;
    expect((await call('PATCH', path, { payment_reference: b.body.payment_reference })).status).toBe(409);
    expect((await call('PATCH', path, {})).status).toBe(422);
    for (const unknown of ['/2000000000', '/abc', '/1.5', '/-1', '/99999999999999999999']) {
      expect([unknown, (await call('GET', unknown)).status]).toEqual([unknown, 404]);
      expect((await call('PATCH', unknown, { amount: 1 })).status).toBe(404);
      expect((await call('DELETE', unknown)).status).toBe(404);
    }
  });

  test('bodies that are no JSON, too large, or of another type; methods that are none', async () => {
    expect((await call('POST', '', '{')).status).toBe(400);
    expect((await call('POST', '', '[]')).status).toBe(422);
    expect((await call('POST', '', 'null')).status).toBe(422);
    expect((await call('POST', '', 'x'.repeat(1_100_000))).status).toBe(413);
    expect((await call('POST', '', '{}', { 'Content-Type': 'text/plain' })).status).toBe(415);
    const put = await call('PUT', '', {});
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST, OPTIONS']);
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

  test('a database that fails is answered without a word of its own', async () => {
    const { db } = server.runtime;
    await db.execute(sql`alter table payments rename to payments_away`);
    const answer = await call('GET', '/1');
    await db.execute(sql`alter table payments_away rename to payments`);
    expect(answer.status).toBe(500);
    expect(answer.body.detail).toMatch(/^Something went wrong on our side \(ref \w+\)/);
  });
});
