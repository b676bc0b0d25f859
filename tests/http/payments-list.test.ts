import { beforeAll, describe, expect, test } from 'vitest';
import { fieldsOf, usePayments } from '../support/payments-server';
import { expectProblem } from '../support/problem';

const { server, call, openInvoice } = usePayments();
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
  const other = await openInvoice({ customer_id: invoice.customer_id });
  await call('POST', '', other.body);
  await call('POST', '', (await openInvoice()).body);
});

/** The references of a list, each by the number in it. */
async function found(query: string): Promise<string[]> {
  const { status, body } = await call('GET', `?${query}`);
  expect(status).toBe(200);
  return body.data.map((payment: { payment_reference: string }) => payment.payment_reference.split('-')[1]);
}

test('is newest first, the later recorded of one day before the earlier', async () => {
  expect(await found(`invoice_id=${invoice.id}`)).toEqual(['3', '1', '2', '0', '4']);
});

test('pages without gap or overlap, and is empty past the end', async () => {
  const query = `invoice_id=${invoice.id}&per_page=2`;
  const pages = [await found(query), await found(`${query}&page=2`), await found(`${query}&page=3`)];
  expect(pages).toEqual([['3', '1'], ['2', '0'], ['4']]);
  for (const page of [4, 9, 20_000_000]) {
    const { status, body } = await call('GET', `?${query}&page=${page}`);
    expect([status, body]).toEqual([200, { page, per_page: 2, total: 5, last_page: 3, data: [] }]);
  }
  const none = await call('GET', '?customer_id=2000000000');
  expect(none.body).toEqual({ page: 1, per_page: 25, total: 0, last_page: 1, data: [] });
});

test('shows each payment as it shows it alone', async () => {
  const { body } = await call('GET', '?payment_reference=LIST-1');
  expect(body.data).toEqual([(await call('GET', `/${body.data[0].id}`)).body]);
});

test('every filter narrows it, and all together', async () => {
  expect(await found(`customer_id=${invoice.customer_id}&per_page=100`)).toHaveLength(6);
  expect(await found(`invoice_id=${invoice.id}&status=refunded`)).toEqual(['4']);
  expect(await found('payment_date_from=2026-01-06&payment_date_to=2026-01-07')).toEqual(['3', '1', '2']);
  expect(await found('payment_date_from=2026-01-01&payment_date_to=2026-01-01')).toEqual(['4']);
  expect(await found('payment_date_to=2026-01-05')).toEqual(['0', '4']);
  expect(await found('payment_reference=list-1')).toEqual([]);
  const all = `customer_id=${invoice.customer_id}&invoice_id=${invoice.id}&status=completed&payment_reference=LIST-2`;
  expect(await found(`${all}&payment_date_from=2026-01-06&payment_date_to=2026-01-06`)).toEqual(['2']);
});

test('a reference is found as it is written, whatever is in it', async () => {
  const payment_reference = `%_\\ ?&=+#"'<>;,Größe 漢字 😀  ${'x'.repeat(200)}`;
  const { body } = await openInvoice();
  const { body: payment } = await call('POST', '', { ...body, payment_reference });
  expect(payment.payment_reference).toBe(payment_reference);
  const query = `per_page=1&payment_reference=${encodeURIComponent(payment_reference)}`;
  const { body: page, headers } = await call('GET', `?${query}`);
  expect(page.data).toEqual([payment]);
  const first = /^<([^>]*)>; rel="first"/.exec(headers.get('link') ?? '')?.[1] ?? '';
  const again = await call('GET', new URL(first).search);
  expect(again.body).toEqual(page);
});

describe('links', () => {
  const linksOf = async (query: string) =>
    Object.fromEntries(
      ((await call('GET', `?${query}`)).headers.get('link') ?? '').split(', ').map((link) => {
        const [, address = '', rel = ''] = /^<(.*)>; rel="(\w+)"$/.exec(link) ?? [];
        return [rel, address];
      }),
    );
  const at = (page: number) =>
    `${server.runtime.env.publicUrl}/api/w5t/payments?per_page=2&invoice_id=${invoice.id}&page=${page}`;

  test.each([
    [1, { first: 1, next: 2, last: 3 }],
    [2, { first: 1, prev: 1, next: 3, last: 3 }],
    [3, { first: 1, prev: 2, last: 3 }],
    [7, { first: 1, prev: 3, last: 3 }],
  ])('of page %i', async (page, pages) => {
    const links = await linksOf(`per_page=2&invoice_id=${invoice.id}&page=${page}`);
    expect(links).toEqual(
      Object.fromEntries(Object.entries(pages).map(([rel, number]) => [rel, at(number)])),
    );
  });

  test('name the public address, whatever host was asked', async () => {
    const { headers } = await call('GET', '', undefined, {
      Host: 'evil.example',
      'X-Forwarded-Host': 'evil.example',
    });
    expect(headers.get('link')).not.toContain('evil');
  });
});

test.each([
  ['per_page=0', 'per_page'],
  ['per_page=101', 'per_page'],
  ['per_page=abc', 'per_page'],
  ['per_page=', 'per_page'],
  ['per_page=1e1', 'per_page'],
  ['per_page=0x10', 'per_page'],
  ['per_page=%2B5', 'per_page'],
  ['per_page=+5', 'per_page'],
  ['per_page=５', 'per_page'].map(encodeURI),
  ['page=0', 'page'],
  ['page=-1', 'page'],
  ['page=-0', 'page'],
  ['page=1.5', 'page'],
  ['page=20000001', 'page'],
  ['page=99999999999999999999', 'page'],
  ['page=1&page=2', 'page'],
  ['page=1&page=1', 'page'],
  ['payment_date_from=2025-02-30', 'payment_date_from'],
  ['payment_date_to=2025-2-3', 'payment_date_to'],
  ['payment_date_to=2026-01-01T00:00:00Z', 'payment_date_to'],
  ['payment_date_from=', 'payment_date_from'],
  ['payment_date_from=2026-02-01&payment_date_to=2026-01-01', 'payment_date_from'],
  ['status=done', 'status'],
  ['status=completed,refunded', 'status'],
  ['status=COMPLETED', 'status'],
  ['status[]=completed', 'status[]'],
  ['customer_id=0', 'customer_id'],
  ['customer_id=99999999999', 'customer_id'],
  ['customer_id=2147483648', 'customer_id'],
  ['customer_id=1%00', 'customer_id'],
  ['payment_reference=', 'payment_reference'],
  ['payment_reference=a%00b', 'payment_reference'],
  [`payment_reference=${'x'.repeat(256)}`, 'payment_reference'],
  ['perpage=5', 'perpage'],
  ['Page=1', 'Page'],
  ['amount=119', 'amount'],
  ['sort=amount', 'sort'],
  ['__proto__=1', '__proto__'],
  ['__proto__%0A=1&__proto__%0A=2', '__proto__'],
  ['constructor=1', 'constructor'],
  ['toString', 'toString'],
  ['=1', ''],
])('?%s is refused naming %s', async (query, field) => {
  const answer = await call('GET', `?${query}`);
  expectProblem(answer, 'validation_failed');
  expect(fieldsOf(answer)).toEqual([field]);
});

test('several wrong parameters are all named', async () => {
  const answer = await call('GET', '?page=0&per_page=abc&status=x&foo=1');
  expect(fieldsOf(answer).sort()).toEqual(['foo', 'page', 'per_page', 'status']);
});

test('no operation passes over a parameter that it does not know', async () => {
  const { body } = await openInvoice();
  const { body: payment } = await call('POST', '', body);
  const amount = { amount: 1 };
  for (const answer of [
    await call('POST', '?dry_run=true', { ...body, ...amount }),
    await call('GET', `/${payment.id}?fields=id`),
    await call('PATCH', `/${payment.id}?dry_run=true`, amount),
    await call('DELETE', `/${payment.id}?dry_run=true`),
  ]) {
    expectProblem(answer, 'validation_failed');
    expect(fieldsOf(answer)).toHaveLength(1);
  }
  expect((await call('GET', `/${payment.id}`)).body).toEqual(payment);
});
