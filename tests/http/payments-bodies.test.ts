import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addDays } from '@/lib/dates';
import { normalReference } from '@/lib/payments/normal-reference';
import { fieldsOf, usePayments } from '../support/payments-server';
import { expectProblem } from '../support/problem';

const { call, openInvoice } = usePayments();

/** The JSON text of a payment with one of its values replaced by a text that is not quoted. */
async function textWith(field: string, value: string, invoice = {}) {
  const { body } = await openInvoice(invoice);
  return JSON.stringify({ ...body, [field]: '@' }).replace('"@"', value);
}

const short = (text: string) => text.slice(0, 30);

describe('an amount written', () => {
  test.each([
    ['119', 119],
    ['119.0', 119],
    ['1.19e2', 119],
    ['1190E-1', 119],
    ['0.01', 0.01],
    ['1e-2', 0.01],
    ['0.010000', 0.01],
    ['999999999999', 999_999_999_999],
    ['99999999999.99', 99_999_999_999.99],
    ['8.10', 8.1],
    ['1.005e0', 1.005, 'kwd'],
    ['0.001', 0.001, 'kwd'],
    ['99999999999.999', 99_999_999_999.999, 'bhd'],
    ['1200', 1200, 'jpy'],
    ['1.2e3', 1200, 'jpy'],
    ['1200.0', 1200, 'krw'],
  ])('%s is %f', async (text, amount, currency = 'eur') => {
    const answer = await call('POST', '', await textWith('amount', text, { currency }));
    expect([answer.status, answer.body.amount, answer.body.currency]).toEqual([201, amount, currency]);
    expect((await call('GET', `/${answer.body.id}`)).body.amount).toBe(amount);
  });

  const refused: [string, string?][] = [
    ['12.345'],
    ['0.001'],
    ['0.009'],
    ['1e-7'],
    ['1e-400'],
    ['5e-324'],
    ['0'],
    ['0.0'],
    ['-0'],
    ['-0.0e5'],
    ['-119'],
    ['-1e-7'],
    ['1e12'],
    ['999999999999.01'],
    ['1e21'],
    ['1e308'],
    ['1e309'],
    ['-1e309'],
    ['1e99999999999999999999'],
    ['9'.repeat(100_000)],
    [`0.${'0'.repeat(100_000)}1`],
    ['"12"'],
    ['"12.00 EUR"'],
    ['""'],
    ['null'],
    ['true'],
    ['[119]'],
    ['{"value":119}'],
    ['1200.5', 'jpy'],
    ['0.5', 'krw'],
    ['1.0005', 'kwd'],
    ['0.30000000000000004', 'kwd'],
  ];
  test.each(refused.map(([text, currency]) => [short(text), text, currency]))(
    '%s is refused',
    async (_, text = '', currency = 'eur') => {
      const body = await textWith('amount', text, { currency });
      const answer = await call('POST', '', body);
      expectProblem(answer, 'validation_failed');
      expect(fieldsOf(answer)).toEqual(['amount']);
      const { body: payment } = await call('POST', '', (await openInvoice({ currency })).body);
      expectProblem(await call('PATCH', `/${payment.id}`, `{"amount":${text}}`), 'validation_failed');
      expect((await call('GET', `/${payment.id}`)).body).toEqual(payment);
    },
  );
});

describe('a value of the wrong kind', () => {
  const ids = [
    '0',
    '-1',
    '1.5',
    '2147483648',
    '9e15',
    '1e400',
    '"1"',
    'null',
    'true',
    '[1]',
    '{}',
    '2000000000',
  ];
  const dates = [
    '2025-02-29',
    '2025-02-30',
    '2025-13-01',
    '0000-01-01',
    '2026-1-1',
    '20260101',
    '+002026-01-01',
  ];
  const moreDates = [
    '2026-01-01T00:00:00Z',
    '2026-01-01 ',
    '01.02.2026',
    '',
    'today',
    '２０２６-01-01',
    '-001-01-01',
  ];
  const references = [
    '',
    ' ',
    '\t',
    'a\u0000b',
    'a\nb',
    '\u007f',
    '\u0085',
    ' \u200b',
    '\u200b\u00ad\ufeff',
    '\u3164',
    '\ufe0f',
    'a\ud800',
    '\udc00',
    'x'.repeat(256),
  ];
  const wrong: [string, string][] = [
    ...ids.map((id): [string, string] => ['invoice_id', id]),
    ...ids.map((id): [string, string] => ['customer_id', id]),
    ...[...dates, ...moreDates].map((date): [string, string] => ['payment_date', JSON.stringify(date)]),
    ['payment_date', '20260101'],
    ['payment_date', 'null'],
    ...references.map((reference): [string, string] => ['payment_reference', JSON.stringify(reference)]),
    ['payment_reference', '12'],
    ['payment_reference', '["BANK"]'],
    ['payment_reference', 'null'],
    ['status', '"done"'],
    ['status', '"Completed"'],
    ['status', '""'],
    ['status', 'null'],
    ['status', '1'],
  ];
  test.each(wrong.map(([field, text]) => [field, short(text), text] as const))(
    '%s: %s',
    async (field, _, text) => {
      const answer = await call('POST', '', await textWith(field, text));
      expectProblem(answer, 'validation_failed');
      expect([...new Set(fieldsOf(answer))]).toEqual([field]);
      const { body: payment } = await call('POST', '', (await openInvoice()).body);
      const patched = await call('PATCH', `/${payment.id}`, `{"${field}":${text}}`);
      expectProblem(patched, 'validation_failed');
      expect(fieldsOf(patched)).toContain(field);
      expect((await call('GET', `/${payment.id}`)).body).toEqual(payment);
    },
  );
});

test.each([
  '漢字',
  'x'.repeat(255),
  '😀'.repeat(127),
  ' spaces kept ',
  "'; drop table payments; --",
  'مدفوعات',
  '👍🏽',
  '%00',
  '\\u0000',
  '<script>',
])('the reference %s is kept as it is', async (payment_reference) => {
  const { body } = await openInvoice();
  const { body: payment } = await call('POST', '', { ...body, payment_reference });
  expect(payment.payment_reference).toBe(payment_reference);
  expect((await call('POST', '', { ...body, payment_reference })).body).toEqual(payment);
  expect((await call('GET', `/${payment.id}`)).body).toEqual(payment);
});

describe('a reference that looks like another is the same', () => {
  test.each([
    ['e\u0301', '\u00e9'],
    ['\u212b', '\u00e5'.toUpperCase()],
    ['BANK\u200b-1', 'BANK-1'],
    ['\ufeffBANK-2', 'BANK-2'],
    ['\u202eBANK\u202c-3\u200e', 'BANK-3'],
    ['BA\u00adNK-4', 'BANK-4'],
    ['BANK\u2060\u180e\u034f\u115f\u3164\ufe0f\u{e0041}-5', 'BANK-5'],
    ['e\u200d\u0301', '\u00e9'],
    ['x\u200b'.repeat(255), 'x'.repeat(255)],
  ])('%j is %j', async (written, seen) => {
    const { body } = await openInvoice();
    const { body: payment } = await call('POST', '', { ...body, payment_reference: written });
    expect(payment.payment_reference).toBe(seen);
    for (const payment_reference of [written, seen]) {
      const again = await call('POST', '', { ...body, payment_reference });
      expect([again.status, again.body]).toEqual([200, payment]);
      const found = await call('GET', `?payment_reference=${encodeURIComponent(payment_reference)}`);
      expect(found.body.data).toEqual([payment]);
      const patched = await call('PATCH', `/${payment.id}`, { payment_reference });
      expect([patched.status, patched.body]).toEqual([200, payment]);
    }
    const { body: other } = await call('POST', '', (await openInvoice()).body);
    expect((await call('PATCH', `/${other.id}`, { payment_reference: written })).status).toBe(409);
    expect((await call('DELETE', `/${payment.id}`)).status).toBe(204);
  });
});

describe('an object', () => {
  const unknown: [string, string][] = [
    ['currency', '"usd"'],
    ['id', '2000000000'],
    ['source', '"stripe"'],
    ['provider_amount', '1'],
    ['updated_at', '"2026-01-01T00:00:00Z"'],
    ['Amount', '1'],
    ['', '1'],
    ['amount ', '1'],
    ['toString', '1'],
    ['constructor', '{"prototype":{"amount":1}}'],
    ['__proto__', '{"amount":1,"status":"refunded"}'],
    ['__proto__', 'null'],
    ['a\u0000', '1'],
    ['\ud800', '1'],
    ['deep', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
    ['deep', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  ];
  test.each(unknown.map(([key, value]) => [key, short(value), value] as const))(
    'with %j: %s is refused',
    async (key, _, value) => {
      const { body } = await openInvoice();
      const { body: payment } = await call('POST', '', body);
      const known = JSON.stringify(body).slice(0, -1);
      for (const [method, path, text] of [
        ['POST', '', `${known},${JSON.stringify(key)}:${value}}`],
        ['PATCH', `/${payment.id}`, `{${JSON.stringify(key)}:${value}}`],
      ] as const) {
        const answer = await call(method, path, text);
        expectProblem(answer, 'validation_failed');
        expect(fieldsOf(answer)).toContain(key);
      }
      expect(Object.keys({})).toEqual([]);
      expect('status' in {}).toBe(false);
    },
  );

  test('whose amount is a bomb of brackets is refused', async () => {
    const bomb = `${'[{"a":'.repeat(100_000)}1${'}]'.repeat(100_000)}`;
    const answer = await call('POST', '', await textWith('amount', bomb));
    expect([answer.status, fieldsOf(answer)]).toEqual([422, ['amount']]);
  });

  test('with 50,000 fields that are not known is refused in few words', async () => {
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`f${i}`, 1]));
    const answer = await call('POST', '', { ...many, ['x'.repeat(300_000)]: 1 });
    expectProblem(answer, 'validation_failed');
    expect(JSON.stringify(answer.body).length).toBeLessThan(20_000);
    expect(fieldsOf(answer)).toContain('invoice_id');
    const long = await call('PATCH', '/1', { ['x'.repeat(1_000_000)]: 1 });
    expectProblem(long, 'validation_failed');
    expect(JSON.stringify(long.body).length).toBeLessThan(20_000);
  });

  test('that says a field twice means the last', async () => {
    const { body } = await openInvoice();
    const text = `{"amount":1,"status":"failed",${JSON.stringify(body).slice(1)}`;
    const answer = await call('POST', '', text);
    expect([answer.status, answer.body.amount, answer.body.status]).toEqual([201, 119, 'completed']);
  });

  test('after a byte order mark, or among spaces, is read', async () => {
    const bom = Buffer.from(`\ufeff${JSON.stringify((await openInvoice()).body)}`);
    expect((await call('POST', '', bom)).status).toBe(201);
    const spaced = ` \r\n\t${JSON.stringify((await openInvoice()).body, null, 8)}\n`;
    expect((await call('POST', '', spaced)).status).toBe(201);
  });

  test.each(['[]', 'null', '"text"', '12', 'true', '[{"amount":1}]'])('is not %s', async (text) => {
    for (const answer of [await call('POST', '', text), await call('PUT', '/1', text)]) {
      expectProblem(answer, 'validation_failed');
      expect(answer.body.errors).toEqual([{ field: '', message: 'must be a JSON object' }]);
    }
  });

  test('of a change holds something', async () => {
    for (const method of ['PUT', 'PATCH']) {
      const answer = await call(method, '/1', {});
      expectProblem(answer, 'validation_failed');
      expect(answer.body.errors[0].message).toMatch(/at least one of invoice_id/);
    }
  });
});

test('any body near a right one is kept exactly, or refused', async () => {
  const anything = fc.jsonValue({ maxDepth: 1 });
  const near = fc.record(
    {
      amount: fc.oneof(
        { weight: 9, arbitrary: fc.integer({ min: 1, max: 99_999_999_999 }).map((cents) => cents / 100) },
        fc.double({ min: 1e-3, max: 1e12, noNaN: true }),
        anything,
      ),
      payment_reference: fc.oneof(
        { weight: 9, arbitrary: fc.string({ unit: 'grapheme', minLength: 1 }) },
        fc.string({ unit: 'binary', maxLength: 300 }),
        anything,
      ),
      payment_date: fc.oneof(
        { weight: 9, arbitrary: fc.nat(3_000_000).map((days) => addDays('1000-01-01', days)) },
        anything,
      ),
      status: fc.oneof({ weight: 9, arbitrary: fc.constantFrom('pending', 'completed', 'failed') }, anything),
    },
    { requiredKeys: ['amount', 'payment_reference', 'payment_date'] },
  );
  const invoice = (await openInvoice({ currency: 'eur' })).body;
  let kept = 0;
  const property = fc.asyncProperty(near, async (given) => {
    const { invoice_id, customer_id } = invoice;
    const { status, body } = await call('POST', '', { ...given, invoice_id, customer_id });
    expect([200, 201, 422]).toContain(status);
    if (status === 422) return;
    kept += 1;
    const payment_reference = normalReference(given.payment_reference as string);
    expect(body).toMatchObject({ ...given, payment_reference });
    expect((await call('GET', `/${body.id}`)).body).toEqual(body);
  });
  await fc.assert(property, { numRuns: 150, seed: 20_260_321 });
  expect(kept).toBeGreaterThan(50);
}, 120_000);

test('a body with a request that takes none is passed over', async () => {
  const { body } = await openInvoice();
  const { body: payment } = await call('POST', '', body);
  expect((await call('GET', `/${payment.id}`, '{"amount":')).body).toEqual(payment);
  expect((await call('DELETE', `/${payment.id}`, '{"amount":')).status).toBe(204);
});
