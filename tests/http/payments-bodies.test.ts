import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { AppError } from '@/lib/errors';
import { parseJson } from '@/lib/http/messages';
import { validate } from '@/lib/http/route';
import { checkPayment } from '@/lib/invoices/settle';
import { paymentInput, paymentUpdate, READ_ONLY } from '@/lib/payments/schema';
import { expectProblem, usePayments } from '../support/payments-server';

const GOOD = {
  invoice_id: 1,
  customer_id: 1,
  amount: 119,
  payment_date: '2026-03-10',
  payment_reference: 'BANK-1',
  status: 'completed',
};

/** Parses a body as the routes do, and checks it against invoice 1 of customer 1. */
function read<Schema extends z.ZodType<object>>(schema: Schema, text: string, currency = 'eur') {
  const parsed = validate(schema, parseJson(Buffer.from(text)), 'body');
  const payment = { ...GOOD, ...parsed };
  const invoice = {
    ...{ id: 1, customer_id: 1, status: 'sent' as const, currency, number: 'R-1', amount_due: '119.000' },
    ...{ amount_off_stripe: null, stripe_invoice_id: null },
  };
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

/** Returns the JSON text of a payment in which one field has this raw, unquoted text as its value. */
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
  ])('the payment amount %s is parsed as %f', (text, amount, currency = 'eur') => {
    expect(read(paymentInput, textWith('amount', text), currency).amount).toBe(amount);
  });
});

describe('values of the wrong type', () => {
  const quoted = (...texts: string[]) => texts.map((text) => JSON.stringify(text));
  const ids = '0 -1 1.5 2147483648 9e15 1e400 "1" null true [1] {} 2000000000'.split(' ');
  const amounts = {
    'too precise': '12.345 0.001 0.009 1e-7'.split(' '),
    'not positive': '1e-400 5e-324 0 0.0 -0 -0.0e5 -119 -1e-7'.split(' '),
    'too large': '1e12 999999999999.01 1e21 1e308 1e309 -1e309 1e99999999999999999999'.split(' '),
    'too long': ['9'.repeat(100_000), `0.${'0'.repeat(100_000)}1`],
    'of another type': '"12" "12.00 EUR" "" null true [119] {"value":119}'.split(/ (?!EUR)/),
  };
  const dates = [
    ...quoted('2025-02-29', '2025-02-30', '2025-13-01', '0000-01-01', '2026-1-1', '20260101'),
    ...quoted('+002026-01-01', '2026-01-01T00:00:00Z', '2026-01-01 ', '01.02.2026', '', 'today'),
    ...quoted('２０２６-01-01', '-001-01-01'),
    ...['20260101', 'null'],
  ];
  const references = [
    ...quoted('', ' ', '\t', 'a\u0000b', 'a\nb', '\u007f', '\u0085', ' \u200b', '\u200b\u00ad\ufeff'),
    ...quoted('\u3164', '\ufe0f', 'a\ud800', '\udc00', 'x'.repeat(256)),
    ...['12', '["BANK"]', 'null'],
  ];
  test.each<[field: string, kind: string, texts: string[], currency?: string]>([
    ['invoice_id', 'invalid', ids],
    ['customer_id', 'invalid', ids],
    ...Object.entries(amounts).map(([kind, texts]): [string, string, string[]] => ['amount', kind, texts]),
    ['amount', 'too precise for yen', ['1200.5', '0.5'], 'jpy'],
    ['amount', 'too precise for dinars', ['1.0005', '0.30000000000000004'], 'kwd'],
    ['payment_date', 'invalid', dates],
    ['payment_reference', 'invalid', references],
    ['status', 'invalid', ['"done"', '"Completed"', '""', 'null', '1']],
  ])('a payment whose %s is %s is refused with the name of the field', (field, _, texts, currency) => {
    for (const text of texts) {
      const refused = refusedFields(paymentInput, textWith(field, text), currency);
      expect([...new Set(refused)], short(text)).toEqual([field]);
      expect(refusedFields(paymentUpdate, `{"${field}":${text}}`, currency), short(text)).toContain(field);
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
  ])('a payment with the unknown field %j is refused', (key, value) => {
    const field = `${JSON.stringify(key)}:${value}}`;
    expect(refusedFields(paymentUpdate, `{${field}`)).toContain(key);
    expect(refusedFields(paymentInput, `${JSON.stringify(GOOD).slice(0, -1)},${field}`)).toContain(key);
    expect(Object.keys({})).toEqual([]);
    expect('status' in {}).toBe(false);
  });

  test.each(READ_ONLY)('a new payment cannot set the read-only field %s', (field) => {
    expect(refusedFields(paymentInput, JSON.stringify({ ...GOOD, [field]: 1 }))).toEqual([field]);
  });

  test.each(['[]', 'null', '"text"', '12', 'true', '[{"amount":1}]'])(
    'the payment body %s is refused because it is not a JSON object',
    (text) => {
      for (const schema of [paymentInput, paymentUpdate]) {
        expect(() => read(schema, text)).toThrow(
          expect.objectContaining({ fields: [{ field: '', message: 'must be a JSON object' }] }),
        );
      }
    },
  );

  test('a payment update without any field is refused', () => {
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
    ['TS-1 ', 'TS-1'],
    ['\u00a0TS-1\u2009', 'TS-1'],
    [' A\u202f\u3000 1 ', 'A 1'],
    ['x\u200b'.repeat(255), 'x'.repeat(255)],
  ])('the payment reference %j is normalized to %j', (written, seen) => {
    const text = textWith('payment_reference', JSON.stringify(written));
    expect(read(paymentInput, text).payment_reference).toBe(seen);
  });
});

test('a payment body may have a byte order mark, outer whitespace and repeated fields', () => {
  const text = JSON.stringify(GOOD);
  for (const written of [
    `\ufeff${text}`,
    ` \r\n\t${text}\n`,
    `{"amount":1,"status":"failed",${text.slice(1)}`,
  ]) {
    expect(read(paymentInput, written)).toEqual(GOOD);
  }
});

describe('bodies over HTTP', () => {
  const { call, openInvoice, recorded } = usePayments();

  test.each([
    ['amount', 12.345],
    ['payment_date', '2025-02-30'],
  ])('a payment with an invalid %s is refused by POST and PATCH', async (field, value) => {
    const { body, path, payment } = await recorded();
    const wrong = { [field]: value };
    expectProblem(await call('POST', '', { ...body, ...wrong }), 'validation_failed', [field]);
    expectProblem(await call('PATCH', path, wrong), 'validation_failed', [field]);
    expect((await call('GET', path)).body).toEqual(payment);
  });

  test.each([
    ['eur', 0.01],
    ['eur', 999_999_999_999],
    ['eur', 99_999_999_999.99],
    ['bhd', 99_999_999_999.999],
    ['jpy', 1200],
  ])('a payment in %s with the amount %f is stored exactly', async (currency, amount) => {
    const { body } = await openInvoice({ currency });
    const { body: payment } = await call('POST', '', { ...body, amount });
    expect(payment).toMatchObject({ amount, currency });
    expect((await call('GET', `/${payment.id}`)).body).toEqual(payment);
  });

  test('a payment is found by a reference with equivalent Unicode characters', async () => {
    const { body } = await openInvoice();
    const [written, seen] = ['\u2009CAFE\u0301\u200b\u00a0\u00a0-1 ', 'CAF\u00c9 -1'];
    const { body: payment } = await call('POST', '', { ...body, payment_reference: written });
    expect(payment.payment_reference).toBe(seen);
    const answers = [
      await call('POST', '', { ...body, payment_reference: written }),
      await call('PATCH', `/${payment.id}`, { payment_reference: written }),
    ];
    for (const again of answers) expect([again.status, again.body]).toEqual([200, payment]);
    const found = await call('GET', `?payment_reference=${encodeURIComponent(written)}`);
    expect(found.body.data).toEqual([payment]);
    const renamed = await call('PATCH', (await recorded()).path, { payment_reference: written });
    expectProblem(renamed, 'conflict', ['payment_reference']);
  });

  test('a payment body with 50,000 unknown fields gets a response under 20,000 characters', async () => {
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`f${i}`, 1]));
    const answers = [
      await call('POST', '', { ...many, ['x'.repeat(300_000)]: 1 }),
      await call('PATCH', '/1', { ['x'.repeat(1_000_000)]: 1 }),
    ];
    for (const answer of answers) {
      expectProblem(answer, 'validation_failed');
      expect(JSON.stringify(answer.body).length).toBeLessThan(20_000);
    }
  });

  test('GET and DELETE of a payment ignore a request body', async () => {
    const { path, payment } = await recorded();
    expect((await call('GET', path, '{"amount":')).body).toEqual(payment);
    expect((await call('DELETE', path, '{"amount":')).status).toBe(204);
  });
});
