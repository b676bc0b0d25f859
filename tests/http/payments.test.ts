import { and, eq, inArray } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditLog, invoices, staffTasks } from '@/db/schema';
import { validateQuery } from '@/lib/http/route';
import { paymentFilters } from '@/lib/payments/schema';
import { listUncounted } from '@/lib/payments/stripe-payment';
import { finishTask } from '@/lib/tasks/staff-tasks';
import { createPayment } from '../support/factories';
import { expectProblem, fieldsOf, usePayments } from '../support/payments-server';

const { server, call, openInvoice, recorded, stateOf } = usePayments();

// tests/integration/settlement.test.ts compares the effects of payment writes with a model.
test('a payment can be created, read, updated and deleted through the API', async () => {
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
    transfer: null,
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

let made = 0;
/** Creates an open Stripe invoice over 119.00 EUR with 70.00 due. */
const openAtStripe = async (overrides: Parameters<typeof openInvoice>[0] = {}) => {
  made += 1;
  const owed = { stripe_invoice_id: `in_api_${made}`, amount_paid: '49', amount_due: '70' };
  return openInvoice({ ...owed, ...overrides });
};

describe('payments of an invoice that Stripe manages', () => {
  test('a payment that Stripe has already reported is refused with 409', async () => {
    const { db } = server.runtime;
    const [{ invoice, body }, other] = [await openAtStripe(), await openInvoice()];
    const counted = await createPayment(db, {
      ...{ invoice_id: invoice.id, customer_id: invoice.customer_id, source: 'stripe', amount: '49' },
      ...{ payment_reference: String(invoice.stripe_invoice_id) },
      ...{ stripe_payment_intent_id: 'pi_api', stripe_charge_id: 'ch_api' },
    });
    for (const [of, reference] of [
      [body, 'pi_api'],
      [body, 'ch_of_nothing_we_know'],
      [body, 'py_bank_debit'],
      [other.body, 'pi_api'],
      [other.body, 'ch_api'],
    ] as const) {
      const refused = await call('POST', '', { ...of, payment_reference: reference });
      expectProblem(refused, 'conflict');
      expect(refused.body.detail).toMatch(`Payment ${counted.id} (${invoice.stripe_invoice_id})`);
    }
    const { body: bank } = await call('POST', '', { ...other.body, payment_reference: 'BANK-OTHER' });
    expectProblem(await call('PUT', `/${bank.id}`, { payment_reference: 'pi_api' }), 'conflict');
    const { status } = await call('POST', '', { ...other.body, payment_reference: 'pi_of_another' });
    expect(status).toBe(201);
  });

  test('a payment above the amount due at Stripe is recorded with a warning', async () => {
    const { db } = server.runtime;
    const { invoice, body } = await openAtStripe();
    const exact = await call('POST', '', { ...body, amount: 70, payment_reference: 'EXACT' });
    expect([exact.status, exact.body.warning]).toEqual([201, undefined]);
    const more = await call('POST', '', { ...body, amount: 0.01, payment_reference: 'MORE' });
    expect(more.status).toBe(201);
    expect(more.body.warning).toBe(
      `With payment ${more.body.id}, 70.01 EUR is recorded of invoice ${invoice.number}, for which Stripe asks 70.00 EUR.`,
    );
    const { warning: _, ...payment } = more.body;
    const read = await call('GET', `/${payment.id}`);
    expect([read.body, read.headers.get('etag')]).toEqual([payment, more.headers.get('etag')]);
    expect((await call('POST', '', { ...body, amount: 0.01, payment_reference: 'MORE' })).body).toEqual(
      payment,
    );
    const huge = await call('PATCH', `/${exact.body.id}`, { amount: 999_999_999_999 });
    expect([huge.status, typeof huge.body.warning]).toEqual([200, 'string']);
    const less = await call('PATCH', `/${exact.body.id}`, { amount: 60 });
    expect([less.status, less.body.warning]).toEqual([200, undefined]);
    const tasks = await db
      .select()
      .from(staffTasks)
      .where(inArray(staffTasks.entity_id, [more.body.id, exact.body.id]))
      .orderBy(staffTasks.id);
    expect(tasks.map(({ kind, entity_id, done_by }) => [kind, entity_id, done_by])).toEqual([
      ['payment_not_counted', exact.body.id, null],
      ['payment_exceeds_due', more.body.id, 'a later change'],
      ['payment_exceeds_due', exact.body.id, 'a later change'],
    ]);
    expect(tasks[0]?.message).toBe(
      `Payment ${exact.body.id} of 70.00 EUR does not count: Stripe manages invoice ${invoice.number} and still asks for 70.00 EUR. Mark the invoice as paid in Stripe, or delete the payment.`,
    );
    expect(await listUncounted(db, { invoice_id: invoice.id })).toEqual([
      { id: invoice.id, number: invoice.number, currency: 'eur', amount: 60.01 },
    ]);
    expect(await listUncounted(db, { customer_id: invoice.customer_id })).toHaveLength(1);
    await db.update(invoices).set({ amount_off_stripe: '60.01' }).where(eq(invoices.id, invoice.id));
    expect(await listUncounted(db, { invoice_id: invoice.id })).toEqual([]);
  });
});

describe('tasks about a payment of a Stripe invoice', () => {
  const tasksOf = (id: number) =>
    server.runtime.db
      .select({ kind: staffTasks.kind, done_by: staffTasks.done_by })
      .from(staffTasks)
      .where(and(eq(staffTasks.entity, 'payment'), eq(staffTasks.entity_id, id)))
      .orderBy(staffTasks.id);
  const exceeds = (done_by: string | null) => [{ kind: 'payment_exceeds_due', done_by }];
  const CLOSED = 'a later change';

  test('changing the amount of a payment closes and reopens the task about an excess payment', async () => {
    const { body } = await openAtStripe();
    const { id } = (await call('POST', '', { ...body, amount: 100, payment_reference: 'TASK-1' })).body;
    expect(await tasksOf(id)).toEqual(exceeds(null));
    await call('PATCH', `/${id}`, { payment_date: '2026-03-02' });
    expect(await tasksOf(id)).toEqual(exceeds(null));
    await call('PATCH', `/${id}`, { amount: 70 });
    expect(await tasksOf(id)).toEqual(exceeds(CLOSED));
    await call('PATCH', `/${id}`, { amount: 100 });
    expect(await tasksOf(id)).toEqual(exceeds(null));
    await call('DELETE', `/${id}`);
    expect(await tasksOf(id)).toEqual(exceeds(CLOSED));
  });

  test('deleting a payment closes the task about a second payment that exceeded the amount due', async () => {
    const { body } = await openAtStripe();
    const first = (await call('POST', '', { ...body, amount: 40, payment_reference: 'TASK-2' })).body;
    const second = (await call('POST', '', { ...body, amount: 40, payment_reference: 'TASK-3' })).body;
    expect(await tasksOf(second.id)).toEqual(exceeds(null));
    await call('DELETE', `/${first.id}`);
    expect(await tasksOf(first.id)).toEqual([{ kind: 'payment_not_counted', done_by: CLOSED }]);
    expect(await tasksOf(second.id)).toEqual(exceeds(CLOSED));
  });

  test('a task about an excess payment stays done once staff have finished it', async () => {
    const { db, now } = server.runtime;
    const { body } = await openAtStripe();
    const { id } = (await call('POST', '', { ...body, amount: 100, payment_reference: 'TASK-4' })).body;
    const [task] = await db.select().from(staffTasks).where(eq(staffTasks.entity_id, id));
    await finishTask(db, task?.id ?? 0, { by: 'staff@example.com', now: now() });
    for (const amount of [70, 100]) await call('PATCH', `/${id}`, { amount });
    await call('DELETE', `/${id}`);
    expect(await tasksOf(id)).toEqual(exceeds('staff@example.com'));
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

  test('the payment list is sorted by date, newest first', async () => {
    expect(await found(`invoice_id=${invoice.id}`)).toEqual(['3', '1', '2', '0', '4']);
  });

  test('the pages of the payment list have no gaps or overlaps', async () => {
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
  ])('the Link header of page %i of the payment list uses the public URL', async (page, pages) => {
    const query = `per_page=2&invoice_id=${invoice.id}`;
    const { headers } = await call('GET', `?${query}&page=${page}`, undefined, {
      Host: 'evil.example',
      'X-Forwarded-Host': 'evil.example',
    });
    const at = `${server.runtime.env.publicUrl}/api/w5t/payments?${query}&page=`;
    const links = Object.entries(pages).map(([rel, number]) => `<${at}${number}>; rel="${rel}"`);
    expect(headers.get('link')?.split(', ').sort()).toEqual(links.sort());
  });

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

  test('every operation of the payments API refuses an unknown query parameter', async () => {
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
