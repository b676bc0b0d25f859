import { Readable } from 'node:stream';
import { afterEach, describe, expect, test, vi } from 'vitest';
import * as unknownPath from '@/app/api/[...path]/route';
import { POST } from '@/app/api/w5t/payments/route';
import { openPostgres } from '@/db/client';
import { accessTokens } from '@/db/schema';
import { setRuntime } from '@/lib/runtime';
import { expectProblem, fieldsOf, usePayments } from '../support/payments-server';

const { server, call, openInvoice } = usePayments();
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

  test('an expired or revoked access token is answered with 401 by the payments API', async () => {
    const { db, now } = server.runtime;
    const expired = bearer((await server.newToken(['payments:read'], now())).token);
    expectProblem(await call('GET', '', undefined, expired), 'unauthenticated');
    const revoked = bearer(await server.token('payments:read'));
    expect((await call('GET', '', undefined, revoked)).status).toBe(200);
    await db.update(accessTokens).set({ revoked_at: now() });
    expectProblem(await call('GET', '', undefined, revoked), 'unauthenticated');
    await db.update(accessTokens).set({ revoked_at: null });
  });

  test('an access token without the required scope is answered with 403 by the payments API', async () => {
    const reader = bearer(await server.token('payments:read'));
    const writer = bearer(await server.token('payments:write'));
    for (const headers of [writer, bearer(await server.token('mcp:read'))]) {
      expectProblem(await call('GET', '?per_page=abc', undefined, headers), 'forbidden');
      expectProblem(await call('GET', '/2000000000', undefined, headers), 'forbidden');
    }
    expectProblem(await call('POST', '', '{', reader), 'forbidden');
    expectProblem(await call('PATCH', '/1', '{', reader), 'forbidden');
    expectProblem(await call('DELETE', '/2000000000', undefined, reader), 'forbidden');
  });

  test('the authorization scheme of the payments API is case-insensitive', async () => {
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
  ])('the payments API answers 405 to %s of /api/w5t/payments%s', async (method, path, allow) => {
    const answer = await call(method, path, {});
    expectProblem(answer, 'method_not_allowed');
    expect(answer.headers.get('allow')).toBe(allow);
    const options = await call('OPTIONS', path, undefined, { Authorization: '' });
    expect([options.status, options.headers.get('allow'), options.body]).toEqual([204, allow, null]);
  });
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
    '',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/merge-patch+json',
    'application/jsonp',
    'text/html, application/json',
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

  test('an empty payment body is answered with 422 and the missing fields', async () => {
    const answer = await call('POST', '', {});
    expectProblem(answer, 'validation_failed');
    expect(answer.body.errors[0]).toEqual({ field: 'invoice_id', message: 'is required' });
  });

  test('a truncated payment body is answered with 400', async () => {
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
  ])('the payments API answers 503 with Retry-After on %s', async (_, code) => {
    const { body } = await openInvoice();
    const { db } = server.runtime;
    const { session } = db._;
    const refuse = () => Promise.reject(Object.assign(new Error('no words'), { code }));
    const prepareQuery = (...query: Parameters<typeof session.prepareQuery>) =>
      query[0].sql.includes('commit_plan') ? { execute: refuse } : session.prepareQuery(...query);
    const busy = Object.create(db, {
      _: { value: { ...db._, session: Object.create(session, { prepareQuery: { value: prepareQuery } }) } },
      transaction: { value: refuse },
    });
    setRuntime({ ...server.runtime, db: busy });
    const answer = await call('POST', '', body);
    expectProblem(answer, 'unavailable');
    expect(answer.headers.get('retry-after')).toBe('5');
  });

  test('the payments API answers 503 while its database is unreachable', async () => {
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
