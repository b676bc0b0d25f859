import { Readable } from 'node:stream';
import { sql } from 'drizzle-orm';
import { afterEach, describe, expect, test, vi } from 'vitest';
import * as unknownPath from '@/app/api/[...path]/route';
import { POST } from '@/app/api/w5t/payments/route';
import { openPostgres } from '@/db/client';
import { accessTokens } from '@/db/schema';
import { commandActor } from '@/lib/audit/record-audit';
import { createAccessToken } from '@/lib/auth/tokens/manage-access-tokens';
import { setRuntime } from '@/lib/runtime';
import { fieldsOf, usePayments } from '../support/payments-server';
import { expectProblem } from '../support/problem';

const { server, call, openInvoice } = usePayments();
const MIB = 1_048_576;

/** A body of JSON that is so many bytes long. */
const padded = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`;
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

describe('400', () => {
  test.each<[string, unknown]>([
    ['nothing', ''],
    ['half an object', '{"amount":'],
    ['a comma too many', '{"amount":1,}'],
    ['single quotes', "{'amount':1}"],
    ['NaN', '{"amount":NaN}'],
    ['Infinity', '{"amount":Infinity}'],
    ['a hexadecimal number', '{"amount":0x10}'],
    ['a leading zero', '{"amount":012}'],
    ['a number and no more', '{"amount":1}{"amount":2}'],
    ['a NUL between', '{"amount":\u00001}'],
    ['a line break in a text', '{"payment_reference":"a\nb"}'],
    ['Latin-1', Buffer.from('{"payment_reference":"Müller"}', 'latin1')],
    ['UTF-16', Buffer.from('{"amount":1}', 'utf16le')],
    ['a form', 'amount=12&status=completed'],
    ['gzip', Buffer.from('1f8b0800000000000003ab5674acac0200', 'hex')],
    ['brackets without end', '['.repeat(100_000)],
  ])('%s', async (_, body) => {
    expectProblem(await call('POST', '', body), 'malformed_json');
    expectProblem(await call('PATCH', '/1', body), 'malformed_json');
  });
});

describe('401 and 403', () => {
  const refused: [string, string][] = [
    ['no token', ''],
    ['a token alone', 'w5t_abc'],
    ['an unknown token', `Bearer w5t_${'a'.repeat(43)}`],
    ['two tokens', `Bearer w5t_${'a'.repeat(43)} w5t_${'a'.repeat(43)}`],
    ['a password', `Basic ${Buffer.from('admin:admin').toString('base64')}`],
    ['SQL', `Bearer ' or true --`],
    ['an empty token', 'Bearer '],
  ];
  test.each(refused)('%s', async (_, Authorization) => {
    for (const [method, path] of [
      ['GET', ''],
      ['POST', ''],
      ['GET', '/1'],
      ['DELETE', '/1'],
    ] as const) {
      const answer = await call(method, path, undefined, { Authorization });
      expectProblem(answer, 'unauthenticated');
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  test('a token that is over or was revoked', async () => {
    const { db, randomBytes, now } = server.runtime;
    const made = { name: 'Old', scopes: ['payments:read' as const], created_by: commandActor('test') };
    const { token: expired } = await createAccessToken(db, { ...made, expires_at: now() }, randomBytes);
    expectProblem(await call('GET', '', undefined, bearer(expired)), 'unauthenticated');
    const { token: revoked } = await createAccessToken(db, { ...made, expires_at: null }, randomBytes);
    expect((await call('GET', '', undefined, bearer(revoked))).status).toBe(200);
    await db.update(accessTokens).set({ revoked_at: now() });
    expectProblem(await call('GET', '', undefined, bearer(revoked)), 'unauthenticated');
    await db.update(accessTokens).set({ revoked_at: null });
  });

  test('a token of another scope, whose request is looked at no further', async () => {
    const reader = bearer(await server.token('payments:read'));
    const writer = bearer(await server.token('payments:write'));
    for (const headers of [writer, bearer(await server.token('mcp:read'))]) {
      expectProblem(await call('GET', '?per_page=abc', undefined, headers), 'forbidden');
      expectProblem(await call('GET', '/2000000000', undefined, headers), 'forbidden');
    }
    expectProblem(await call('POST', '', '{', reader), 'forbidden');
    expectProblem(await call('PATCH', '/1', '{', reader), 'forbidden');
    expectProblem(await call('DELETE', '/2000000000', undefined, reader), 'forbidden');
    expect(
      (await call('GET', '', undefined, { Authorization: reader.Authorization.toLowerCase() })).status,
    ).toBe(401);
    const lower = reader.Authorization.replace('Bearer', 'bearer ');
    expect((await call('GET', '', undefined, { Authorization: lower })).status).toBe(200);
  });
});

describe('404 and 405', () => {
  const unknown =
    '0 -0 -1 +1 0001 1.0 1.5 1e3 0x1 abc true null NaN 2000000000 2147483648 99999999999999999999'.split(' ');
  test.each([...unknown, '%31%2c', '%00', '1%20', '%20', "1'--", '1;2', '%EF%BC%91'])(
    'no payment %s',
    async (id) => {
      expectProblem(await call('GET', `/${id}`), 'not_found');
      expectProblem(await call('PATCH', `/${id}`, { amount: 1 }), 'not_found');
      expectProblem(await call('PUT', `/${id}`, { amount: 1 }), 'not_found');
      expectProblem(await call('DELETE', `/${id}`), 'not_found');
      expect((await call('HEAD', `/${id}`)).status).toBe(404);
    },
  );

  test('an address that nobody has', async () => {
    const { status, headers } = await unknownPath.GET();
    expect([status, headers.get('content-type')]).toEqual([404, 'application/problem+json']);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test.each([
    ['PUT', '', 'GET, HEAD, POST, OPTIONS'],
    ['PATCH', '', 'GET, HEAD, POST, OPTIONS'],
    ['DELETE', '', 'GET, HEAD, POST, OPTIONS'],
    ['POST', '/1', 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'],
  ])('no %s of "%s"', async (method, path, allow) => {
    const answer = await call(method, path, {});
    expectProblem(answer, 'method_not_allowed');
    expect(answer.headers.get('allow')).toBe(allow);
    const options = await call('OPTIONS', path, undefined, { Authorization: '' });
    expect([options.status, options.headers.get('allow'), options.body]).toEqual([204, allow, null]);
  });
});

describe('409 and 412', () => {
  test('a reference of another payment', async () => {
    const [a, b] = [await openInvoice(), await openInvoice()];
    const { body: payment } = await call('POST', '', a.body);
    await call('POST', '', b.body);
    const answer = await call('PATCH', `/${payment.id}`, { payment_reference: b.body.payment_reference });
    expectProblem(answer, 'conflict');
    expect(fieldsOf(answer)).toEqual(['payment_reference']);
    expect((await call('GET', `/${payment.id}`)).body).toEqual(payment);
  });

  test('a payment that is not as it was read', async () => {
    const { body } = await openInvoice();
    const { body: payment } = await call('POST', '', body);
    const stale = { 'If-Match': '"stale"' };
    expectProblem(await call('PUT', `/${payment.id}`, { amount: 1 }, stale), 'precondition_failed');
    expectProblem(await call('DELETE', `/${payment.id}`, undefined, stale), 'precondition_failed');
    expect((await call('GET', `/${payment.id}`)).body).toEqual(payment);
  });
});

describe('413 and 415', () => {
  test('a byte more than 1 MiB, however it is sent', async () => {
    const tooLarge = padded(MIB + 1);
    expectProblem(await call('POST', '', tooLarge), 'payload_too_large');
    expectProblem(await call('PATCH', '/1', Buffer.from(tooLarge)), 'payload_too_large');
    const chunks = tooLarge.match(/.{1,10000}/g) ?? [];
    expectProblem(await call('POST', '', Readable.from(chunks)), 'payload_too_large');
    expect(fieldsOf(await call('POST', '', padded(MIB)))).toContain('a');
    expect(fieldsOf(await call('POST', '', Readable.from(['{"a"', ':1}'])))).toContain('a');
  });

  test.each([
    '',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/merge-patch+json',
    'application/jsonp',
    'text/html, application/json',
  ])('"%s" is no JSON', async (type) => {
    expectProblem(await call('POST', '', '{}', { 'Content-Type': type }), 'unsupported_media_type');
    expectProblem(await call('PUT', '/1', '{}', { 'Content-Type': type }), 'unsupported_media_type');
  });

  test.each([
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
    ' application/json ;x=y',
  ])('"%s" is', async (type) => {
    const { body } = await openInvoice();
    expect((await call('POST', '', body, { 'Content-Type': type })).status).toBe(201);
  });
});

test('a body that breaks off is the failure of its sender', async () => {
  const logged = vi.spyOn(server.runtime.log, 'error');
  const gone = Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
  const body = Readable.toWeb(
    Readable.from(
      (async function* () {
        yield Buffer.from('{"amount":');
        throw gone;
      })(),
    ),
  );
  const headers = { ...bearer(await server.token('payments:write')), 'Content-Type': 'application/json' };
  const request = new Request(server.url, { method: 'POST', headers, body, duplex: 'half' } as RequestInit);
  const response = await POST(request, { params: Promise.resolve({}) });
  expectProblem(
    { status: response.status, headers: response.headers, body: await response.json() },
    'malformed_json',
  );
  expect(logged).not.toHaveBeenCalled();
});

test('422', async () => {
  const answer = await call('POST', '', {});
  expectProblem(answer, 'validation_failed');
  expect(answer.body.errors[0]).toEqual({ field: 'invoice_id', message: 'is required' });
});

describe('500 and 503', () => {
  afterEach(() => setRuntime(server.runtime));

  test('a query that fails is logged under a reference, and no word of it is told', async () => {
    const { body } = await openInvoice();
    const { db, log } = server.runtime;
    const logged = vi.spyOn(log, 'error');
    await db.execute(sql`alter table payments rename to payments_away`);
    const answers = [await call('GET', '/1'), await call('POST', '', body), await call('DELETE', '/1')];
    await db.execute(sql`alter table payments_away rename to payments`);
    for (const [i, answer] of answers.entries()) {
      expectProblem(answer, 'internal');
      const ref = answer.headers.get('x-request-id');
      expect(answer.body.detail).toBe(`Something went wrong on our side (ref ${ref}). Try again later.`);
      expect(logged.mock.calls[i]?.[0]).toMatchObject({ ref, code: '42P01' });
    }
    expect(JSON.stringify(logged.mock.calls)).not.toContain(body.payment_reference);
  });

  test.each([
    ['a deadlock', '40P01'],
    ['a lock that is not given', '55P03'],
    ['a statement that takes too long', '57014'],
  ])('%s says to try again', async (_, code) => {
    const { body } = await openInvoice();
    const { db } = server.runtime;
    const busy = Object.create(db, {
      transaction: { value: () => Promise.reject(Object.assign(new Error('no words'), { code })) },
    });
    setRuntime({ ...server.runtime, db: busy });
    const answer = await call('POST', '', body);
    expectProblem(answer, 'unavailable');
    expect(answer.headers.get('retry-after')).toBe('5');
  });

  test('a database that is away is no reason to refuse a token', async () => {
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
