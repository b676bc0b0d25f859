import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { addDays } from '@/lib/dates';
import { AppError } from '@/lib/errors';
import { parseJson } from '@/lib/http/read-body';
import { validate } from '@/lib/http/validate';
import { checkPayment } from '@/lib/payments/check-payment';
import { normalReference } from '@/lib/payments/normal-reference';
import { paymentInput, paymentUpdate } from '@/lib/payments/schema';
import { expectProblem, fieldsOf, usePayments } from '../support/payments-server';

const GOOD = {
  invoice_id: 1,
  customer_id: 1,
  amount: 119,
  payment_date: '2026-03-10',
  payment_reference: 'BANK-1',
  status: 'completed',
};

/** Reads a body as the doors do, and checks it against invoice 1 of customer 1. */
function read<Schema extends z.ZodType<object>>(schema: Schema, text: string, currency = 'eur') {
  const parsed = validate(schema, parseJson(Buffer.from(text)), 'body');
  const payment = { ...GOOD, ...parsed };
  const invoice = { id: 1, customer_id: 1, status: 'sent' as const, currency };
  checkPayment(payment, payment.invoice_id === 1 ? invoice : undefined, true);
  return payment;
}

function refusedFields(...given: Parameters<typeof read>): string[] {
  try {
    read(...given);
    return [];
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'validation_failed') throw error;
    return error.fields.map(({ field }) => field);
  }
}

/** The JSON text of a payment with one of its values replaced by a text that is not quoted. */
const textWith = (field: string, value: string, body = GOOD) =>
  JSON.stringify({ ...body, [field]: '@' }).replace('"@"', value);

const short = (text: string) => text.slice(0, 30);

describe('amounts', () => {
  test.each([
    ['119', 119],
    ['119.0', 119],
    ['1.19e2', 119],
    ['1190E-1', 119],
    ['1e-2', 0.01],
    ['0.010000', 0.01],
    ['999999999999', 999_999_999_999],
    ['99999999999.99', 99_999_999_999.99],
    ['1.005e0', 1.005, 'kwd'],
    ['99999999999.999', 99_999_999_999.999, 'bhd'],
    ['1.2e3', 1200, 'jpy'],
    ['1200.0', 1200, 'krw'],
  ])('the amount %s is read as %f', (text, amount, currency = 'eur') => {
    expect(read(paymentInput, textWith('amount', text), currency).amount).toBe(amount);
  });

  const tooFine = ['12.345', '0.001', '0.009', '1e-7'];
  const notPositive = ['1e-400', '5e-324', '0', '0.0', '-0', '-0.0e5', '-119', '-1e-7'];
  const tooLarge = ['1e12', '999999999999.01', '1e21', '1e308', '1e309', '-1e309', '1e99999999999999999999'];
  const long = ['9'.repeat(100_000), `0.${'0'.repeat(100_000)}1`];
  const otherTypes = ['"12"', '"12.00 EUR"', '""', 'null', 'true', '[119]', '{"value":119}'];
  test.each([
    ...[...tooFine, ...notPositive, ...tooLarge, ...long, ...otherTypes].map((text) => [
      'eur',
      short(text),
      text,
    ]),
    ['jpy', '1200.5'],
    ['krw', '0.5'],
    ['kwd', '1.0005'],
    ['kwd', '0.30000000000000004'],
  ])('an amount in %s of %s is refused', (currency = 'eur', shown = '', text = shown) => {
    expect(refusedFields(paymentInput, textWith('amount', text), currency)).toEqual(['amount']);
    expect(refusedFields(paymentUpdate, `{"amount":${text}}`, currency)).toEqual(['amount']);
  });
});

describe('values of the wrong kind', () => {
  const quoted = (...texts: string[]) => texts.map((text) => JSON.stringify(text));
  const ids = '0 -1 1.5 2147483648 9e15 1e400 "1" null true [1] {} 2000000000'.split(' ');
  test.each([
    ['invoice_id', ids],
    ['customer_id', ids],
    [
      'payment_date',
      [
        ...quoted('2025-02-29', '2025-02-30', '2025-13-01', '0000-01-01', '2026-1-1', '20260101'),
        ...quoted('+002026-01-01', '2026-01-01T00:00:00Z', '2026-01-01 ', '01.02.2026', '', 'today'),
        ...quoted('２０２６-01-01', '-001-01-01'),
        '20260101',
        'null',
      ],
    ],
    [
      'payment_reference',
      [
        ...quoted('', ' ', '\t', 'a\u0000b', 'a\nb', '\u007f', '\u0085', ' \u200b', '\u200b\u00ad\ufeff'),
        ...quoted('\u3164', '\ufe0f', 'a\ud800', '\udc00', 'x'.repeat(256)),
        '12',
        '["BANK"]',
        'null',
      ],
    ],
    ['status', ['"done"', '"Completed"', '""', 'null', '1']],
  ])('a wrong %s is refused by its name', (field, texts) => {
    for (const text of texts) {
      const refused = refusedFields(paymentInput, textWith(field, text));
      expect([...new Set(refused)], short(text)).toEqual([field]);
      expect(refusedFields(paymentUpdate, `{"${field}":${text}}`), short(text)).toContain(field);
    }
  });

  const brackets = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  const objects = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
  test.each([
    ['provider_amount', '1'],
    ['Amount', '1'],
    ['', '1'],
    ['amount ', '1'],
    ['toString', '1'],
    ['constructor', '{"prototype":{"amount":1}}'],
    ['__proto__', '{"amount":1,"status":"refunded"}'],
    ['__proto__', 'null'],
    ['a\u0000', '1'],
    ['\ud800', '1'],
    ['nested lists', brackets],
    ['nested objects', objects],
  ])('the unknown field %j is refused', (key, value) => {
    const field = `${JSON.stringify(key)}:${value}}`;
    expect(refusedFields(paymentUpdate, `{${field}`)).toContain(key);
    expect(refusedFields(paymentInput, `${JSON.stringify(GOOD).slice(0, -1)},${field}`)).toContain(key);
    expect(Object.keys({})).toEqual([]);
    expect('status' in {}).toBe(false);
  });

  test.each([
    ['currency', '"usd"'],
    ['id', '2000000000'],
    ['source', '"stripe"'],
    ['updated_at', '"2026-01-01T00:00:00Z"'],
  ])('a new payment cannot choose its %s', (key, value) => {
    const text = `${JSON.stringify(GOOD).slice(0, -1)},"${key}":${value}}`;
    expect(refusedFields(paymentInput, text)).toEqual([key]);
  });

  test.each(['[]', 'null', '"text"', '12', 'true', '[{"amount":1}]'])('the body %s is refused', (text) => {
    for (const schema of [paymentInput, paymentUpdate]) {
      expect(() => read(schema, text)).toThrow(
        expect.objectContaining({ fields: [{ field: '', message: 'must be a JSON object' }] }),
      );
    }
  });

  test('a change of no field is refused', () => {
    expect(() => read(paymentUpdate, '{}')).toThrow(
      expect.objectContaining({
        fields: [{ field: '', message: expect.stringMatching(/at least one of invoice_id/) }],
      }),
    );
  });

  test.each([
    ['e\u0301', '\u00e9'],
    ['\u212b', '\u00c5'],
    ['BANK\u200b-1', 'BANK-1'],
    ['\ufeffBANK-2', 'BANK-2'],
    ['\u202eBANK\u202c-3\u200e', 'BANK-3'],
    ['BA\u00adNK-4', 'BANK-4'],
    ['BANK\u2060\u180e\u034f\u115f\u3164\ufe0f\u{e0041}-5', 'BANK-5'],
    ['e\u200d\u0301', '\u00e9'],
    ['x\u200b'.repeat(255), 'x'.repeat(255)],
  ])('the reference %j is read as %j', (written, seen) => {
    const text = textWith('payment_reference', JSON.stringify(written));
    expect(read(paymentInput, text).payment_reference).toBe(seen);
  });
});

describe('bodies over HTTP', () => {
  const { call, openInvoice, recorded } = usePayments();

  test.each([
    ['invoice_id', '2000000000'],
    ['customer_id', '2000000000'],
    ['amount', '12.345'],
    ['amount', `${'[{"a":'.repeat(100_000)}1${'}]'.repeat(100_000)}`],
    ['payment_date', '"2025-02-30"'],
    ['payment_reference', '"a\\u0000b"'],
    ['status', '"done"'],
  ])('a wrong %s is refused by POST and PATCH, and the payment stays', async (field, text) => {
    const { body, path, payment } = await recorded();
    const known = JSON.stringify({ ...body, [field]: undefined }).slice(0, -1);
    const posted = await call('POST', '', `${known},"${field}":${text}}`);
    expectProblem(posted, 'validation_failed', [field]);
    expectProblem(await call('PATCH', path, `{"${field}":${text}}`), 'validation_failed', [field]);
    expect((await call('GET', path)).body).toEqual(payment);
  });

  test.each([
    ['eur', 0.01],
    ['eur', 999_999_999_999],
    ['eur', 99_999_999_999.99],
    ['kwd', 1.005],
    ['bhd', 99_999_999_999.999],
    ['jpy', 1200],
  ])('an amount in %s is stored exactly: %f', async (currency, amount) => {
    const { body } = await openInvoice({ currency });
    const { body: payment } = await call('POST', '', { ...body, amount });
    expect(payment).toMatchObject({ amount, currency });
    expect((await call('GET', `/${payment.id}`)).body).toEqual(payment);
  });

  test('references are stored as they are written', async () => {
    const texts = ['漢字', 'x'.repeat(255), '😀'.repeat(127), ' spaces kept ', 'مدفوعات', '👍🏽'];
    for (const payment_reference of [...texts, "'; drop table payments; --", '%00', '\\u0000', '<script>']) {
      const { body } = await openInvoice();
      const { body: payment } = await call('POST', '', { ...body, payment_reference });
      expect(payment.payment_reference).toBe(payment_reference);
      expect((await call('POST', '', { ...body, payment_reference })).body).toEqual(payment);
      expect((await call('GET', `/${payment.id}`)).body).toEqual(payment);
    }
  });

  test('a reference that looks like another names the same payment', async () => {
    const { body } = await openInvoice();
    const [written, seen] = ['CAFE\u0301\u200b-1', 'CAF\u00c9-1'];
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
    const other = await recorded();
    expectProblem(await call('PATCH', other.path, { payment_reference: written }), 'conflict', [
      'payment_reference',
    ]);
  });

  test('a body of 50,000 unknown fields is refused in few words', async () => {
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`f${i}`, 1]));
    const answer = await call('POST', '', { ...many, ['x'.repeat(300_000)]: 1 });
    expectProblem(answer, 'validation_failed');
    expect(fieldsOf(answer)).toContain('invoice_id');
    const long = await call('PATCH', '/1', { ['x'.repeat(1_000_000)]: 1 });
    expectProblem(long, 'validation_failed');
    for (const { body } of [answer, long]) expect(JSON.stringify(body).length).toBeLessThan(20_000);
  });

  test('a field that is given twice counts as it is given last', async () => {
    const { body } = await openInvoice();
    const text = `{"amount":1,"status":"failed",${JSON.stringify(body).slice(1)}`;
    const answer = await call('POST', '', text);
    expect([answer.status, answer.body.amount, answer.body.status]).toEqual([201, 119, 'completed']);
  });

  test('a body after a byte order mark or among spaces is read', async () => {
    const bom = Buffer.from(`\ufeff${JSON.stringify((await openInvoice()).body)}`);
    expect((await call('POST', '', bom)).status).toBe(201);
    const spaced = ` \r\n\t${JSON.stringify((await openInvoice()).body, null, 8)}\n`;
    expect((await call('POST', '', spaced)).status).toBe(201);
  });

  test('GET and DELETE ignore a body', async () => {
    const { path, payment } = await recorded();
    expect((await call('GET', path, '{"amount":')).body).toEqual(payment);
    expect((await call('DELETE', path, '{"amount":')).status).toBe(204);
  });

  test('every body near a right one is stored exactly, or refused', async () => {
    const anything = fc.jsonValue({ maxDepth: 1 });
    const mostly = (good: fc.Arbitrary<unknown>) =>
      fc.oneof({ weight: 9, arbitrary: good }, { weight: 1, arbitrary: anything });
    const near = fc.record(
      {
        amount: mostly(fc.integer({ min: 1, max: 99_999_999_999 }).map((cents) => cents / 100)),
        payment_reference: mostly(fc.string({ unit: 'grapheme', minLength: 1 })),
        payment_date: mostly(fc.nat(3_000_000).map((days) => addDays('1000-01-01', days))),
        status: mostly(fc.constantFrom('pending', 'completed', 'failed')),
      },
      { requiredKeys: ['amount', 'payment_reference', 'payment_date'] },
    );
    const { invoice_id, customer_id } = (await openInvoice()).body;
    let kept = 0;
    const property = fc.asyncProperty(near, async (given) => {
      const { status, body } = await call('POST', '', { ...given, invoice_id, customer_id });
      expect([200, 201, 422]).toContain(status);
      if (status === 422) return;
      kept += 1;
      const payment_reference = normalReference(given.payment_reference as string);
      expect(body).toMatchObject({ ...given, payment_reference });
      expect((await call('GET', `/${body.id}`)).body).toEqual(body);
    });
    await fc.assert(property, { numRuns: 30, seed: 20_260_321 });
    expect(kept).toBeGreaterThan(8);
  });
});
