import { Readable } from 'node:stream';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { z } from 'zod';
import * as unknownPath from '@/app/api/[...path]/route';
import { POST } from '@/app/api/w5t/payments/route';
import { openPostgres } from '@/db/client';
import { parseJson } from '@/lib/http/messages';
import { validate } from '@/lib/http/route';
import { checkPayment } from '@/lib/invoices/settle';
import { paymentInput, paymentUpdate, READ_ONLY } from '@/lib/payments/schema';
import { setRuntime } from '@/lib/runtime';
import type { Scope } from '@/lib/tokens/access-token';
import { expectProblem, fieldsOf, refusedFields, usePayments } from '../support/payments-server';
import { watchedDatabase } from '../support/watched-database';

const { server, call, openInvoice, recorded } = usePayments();
const MIB = 1_048_576;
const UNKNOWN = `w5t_${'a'.repeat(43)}`;

/** Returns a JSON body of exactly this many bytes. */
const padded = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`;
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

test.each<[string, unknown]>([
  ['empty', ''],
  ['cut off', '{"amount":'],
  ['encoded in Latin-1', Buffer.from('{"payment_reference":"Müller"}', 'latin1')],
  ['gzip data', Buffer.from('1f8b0800000000000003ab5674acac0200', 'hex')],
  ['an endless nesting of brackets', '['.repeat(100_000)],
])('a payment body that is %s is answered with 400', async (_, body) => {
  expectProblem(await call('POST', '', body), 'malformed_json');
  expectProblem(await call('PATCH', '/1', body), 'malformed_json');
});

describe('tokens of the payments API', () => {
  test.each(['', 'w5t_abc', `Bearer ${UNKNOWN}`, `Bearer ${UNKNOWN} ${UNKNOWN}`, 'Basic YTph', 'Bearer '])(
    'the authorization "%s" is answered with 401 by the payments API',
    async (Authorization) => {
      for (const [method = '', path] of [['GET'], ['POST'], ['GET', '/1'], ['DELETE', '/1']]) {
        const answer = await call(method, path, undefined, { Authorization });
        expectProblem(answer, 'unauthenticated');
        expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      }
    },
  );

  // tests/integration/credentials.test.ts also tests revoked tokens.
  test('an expired access token is answered with 401 by the payments API', async () => {
    const { token } = await server.newToken(['payments:read'], server.runtime.now());
    expectProblem(await call('GET', '', undefined, bearer(token)), 'unauthenticated');
  });

  test.each<[string, string, Scope]>([
    ['GET', '?per_page=abc', 'payments:write'],
    ['GET', '/2000000000', 'mcp:read'],
    ['POST', '', 'payments:read'],
    ['PATCH', '/1', 'payments:read'],
    ['DELETE', '/2000000000', 'payments:read'],
  ])(
    '%s of /api/w5t/payments%s is answered with 403 if the token only has %s',
    async (method, path, scope) => {
      expectProblem(await call(method, path, '{', bearer(await server.token(scope))), 'forbidden');
    },
  );

  test('the payments API ignores the case of the authorization scheme, but not of the token', async () => {
    const { Authorization } = bearer(await server.token('payments:read'));
    const inLowerCase = { Authorization: Authorization.toLowerCase() };
    expectProblem(await call('GET', '', undefined, inLowerCase), 'unauthenticated');
    const spaced = { Authorization: Authorization.replace('Bearer', 'bearer ') };
    expect((await call('GET', '', undefined, spaced)).status).toBe(200);
  });
});

describe('URLs and methods of the payments API', () => {
  const unknown =
    '0 -0 -1 +1 0001 1.0 1.5 1e3 0x1 abc true null NaN 2000000000 2147483648 99999999999999999999'.split(' ');
  test.each([...unknown, '%31%2c', '%00', '1%20', '%20', "1'--", '1;2', '%EF%BC%91'])(
    'the payment id %s is answered with 404',
    async (id) => {
      expectProblem(await call('GET', `/${id}`), 'not_found');
      expectProblem(await call('PATCH', `/${id}`, { amount: 1 }), 'not_found');
      expectProblem(await call('DELETE', `/${id}`), 'not_found');
      expect((await call('HEAD', `/${id}`)).status).toBe(404);
    },
  );

  test('an unknown API URL is answered with 404', async () => {
    const { status, headers } = await unknownPath.GET();
    expect([status, headers.get('content-type')]).toEqual([404, 'application/problem+json']);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test.each([
    ['PUT', '', 'GET, HEAD, POST, OPTIONS'],
    ['PATCH', '', 'GET, HEAD, POST, OPTIONS'],
    ['DELETE', '', 'GET, HEAD, POST, OPTIONS'],
    ['POST', '/1', 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'],
  ])(
    'the payments API answers 405 and the allowed methods to %s of /api/w5t/payments%s',
    async (method, path, allow) => {
      const answer = await call(method, path, {});
      expectProblem(answer, 'method_not_allowed');
      expect(answer.headers.get('allow')).toBe(allow);
      const options = await call('OPTIONS', path, undefined, { Authorization: '' });
      expect([options.status, options.headers.get('allow'), options.body]).toEqual([204, allow, null]);
    },
  );
});

describe('sizes and media types of bodies', () => {
  test('a payment body one byte over 1 MiB is answered with 413', async () => {
    const tooLarge = padded(MIB + 1);
    expectProblem(await call('POST', '', tooLarge), 'payload_too_large');
    expectProblem(await call('PATCH', '/1', Buffer.from(tooLarge)), 'payload_too_large');
    const chunks = tooLarge.match(/.{1,10000}/g) ?? [];
    expectProblem(await call('POST', '', Readable.from(chunks)), 'payload_too_large');
    expect(fieldsOf(await call('POST', '', padded(MIB)))).toContain('a');
    expect(fieldsOf(await call('POST', '', Readable.from(['{"a"', ':1}'])))).toContain('a');
  });

  test.each([
    ...['', 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'],
    ...['application/merge-patch+json', 'application/jsonp', 'text/html, application/json'],
  ])('a payment with the media type "%s" is answered with 415', async (type) => {
    expectProblem(await call('POST', '', '{}', { 'Content-Type': type }), 'unsupported_media_type');
    expectProblem(await call('PUT', '/1', '{}', { 'Content-Type': type }), 'unsupported_media_type');
  });

  test.each([
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
    ' application/json ;x=y',
  ])('a payment with the media type "%s" is accepted', async (type) => {
    const { body } = await openInvoice();
    expect((await call('POST', '', body, { 'Content-Type': type })).status).toBe(201);
  });

  test('a payment body without fields is answered with 422 and the message that invoice_id is required', async () => {
    const answer = await call('POST', '', {});
    expectProblem(answer, 'validation_failed');
    expect(answer.body.errors[0]).toEqual({ field: 'invoice_id', message: 'is required' });
  });

  test('a truncated payment body is answered with 400 and not logged as an error', async () => {
    const logged = vi.spyOn(server.runtime.log, 'error');
    async function* broken() {
      yield Buffer.from('{"amount":');
      throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
    }
    const body = Readable.toWeb(Readable.from(broken()));
    const headers = { ...bearer(await server.token('payments:write')), 'Content-Type': 'application/json' };
    const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
    const response = await POST(new Request(server.url, init), { params: Promise.resolve({}) });
    const answer = { status: response.status, headers: response.headers, body: await response.json() };
    expectProblem(answer, 'malformed_json');
    expect(logged).not.toHaveBeenCalled();
  });
});

describe('a busy or missing database', () => {
  afterEach(() => setRuntime(server.runtime));

  test.each([
    ['a deadlock', '40P01'],
    ['a lock that is not available', '55P03'],
    ['a statement that takes too long', '57014'],
    ['too little memory', '53200'],
  ])('the payments API answers 503 with Retry-After on %s', async (_, code) => {
    const { body } = await openInvoice();
    const refuse = () => {
      throw Object.assign(new Error('no words'), { code });
    };
    const db = watchedDatabase(server.runtime.db, {
      statement: async (text, run) => (text.includes('commit_plan') ? refuse() : run()),
      transaction: refuse,
    });
    setRuntime({ ...server.runtime, db });
    const answer = await call('POST', '', body);
    expectProblem(answer, 'unavailable');
    expect(answer.headers.get('retry-after')).toBe('5');
  });

  test('the payments API answers 503 without connection details while its database is unreachable', async () => {
    const { body } = await openInvoice();
    const away = openPostgres('postgres://nobody:secret@127.0.0.1:1/none', { max: 1 });
    setRuntime({ ...server.runtime, db: away.db });
    for (const answer of [await call('GET'), await call('POST', '', body), await call('DELETE', '/1')]) {
      expectProblem(answer, 'unavailable');
      expect(answer.headers.get('retry-after')).toBe('5');
      expect(JSON.stringify(answer.body)).not.toMatch(/nobody|secret|127\.0/);
    }
    await away.close();
  });
});

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

const fieldsRefused = (...given: Parameters<typeof read>) => refusedFields(() => read(...given));

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
      expect(fieldsRefused(paymentInput, textWith(field, text), currency), short(text)).toEqual([field]);
      expect(fieldsRefused(paymentUpdate, `{"${field}":${text}}`, currency), short(text)).toContain(field);
    }
  });

  const brackets = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  const objects = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
  test.each([
    ...['provider_amount', 'Amount', '', 'amount ', 'toString', 'a\u0000', '\ud800'].map((key) => [key, '1']),
    ['constructor', '{"prototype":{"amount":1}}'],
    ['__proto__', '{"amount":1,"status":"refunded"}'],
    ['__proto__', 'null'],
    ['nested lists', brackets],
    ['nested objects', objects],
  ])('a payment with the unknown field %j is refused', (key = '', value = '') => {
    const field = `${JSON.stringify(key)}:${value}}`;
    expect(fieldsRefused(paymentUpdate, `{${field}`)).toContain(key);
    expect(fieldsRefused(paymentInput, `${JSON.stringify(GOOD).slice(0, -1)},${field}`)).toContain(key);
    expect(Object.keys({})).toEqual([]);
    expect('status' in {}).toBe(false);
  });

  test.each(READ_ONLY)('a new payment cannot set the read-only field %s', (field) => {
    expect(fieldsRefused(paymentInput, JSON.stringify({ ...GOOD, [field]: 1 }))).toEqual([field]);
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
  test('a payment with an invalid field is refused by POST and PATCH', async () => {
    const { body, path, payment } = await recorded();
    for (const [field, value] of Object.entries({ amount: 12.345, payment_date: '2025-02-30' })) {
      expectProblem(await call('POST', '', { ...body, [field]: value }), 'validation_failed', [field]);
      expectProblem(await call('PATCH', path, { [field]: value }), 'validation_failed', [field]);
    }
    expect((await call('GET', path)).body).toEqual(payment);
  });

  test('a payment of 99,999,999,999.999 Bahraini dinars is stored exactly', async () => {
    const { body } = await openInvoice({ currency: 'bhd' });
    const { body: payment } = await call('POST', '', { ...body, amount: 99_999_999_999.999 });
    expect(payment).toMatchObject({ amount: 99_999_999_999.999, currency: 'bhd' });
    expect((await call('GET', `/${payment.id}`)).body).toEqual(payment);
  });

  test('payment references with equivalent Unicode characters count as the same reference', async () => {
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

  test('a payment body with 50,000 unknown fields or a very long one gets a response under 20,000 characters', async () => {
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
