import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import * as description from '@/app/api/openapi.json/route';
import { seedDatabase } from '@/db/seed';
import { ERROR_STATUS } from '@/lib/errors';
import { validate, validateQuery } from '@/lib/http/route';
import { openApiDocument } from '@/lib/openapi/document';
import { normalReference, paymentFilters, paymentInput } from '@/lib/payments/schema';
import {
  arbitraryMisfit,
  arbitraryOf,
  assertContract,
  errorsOf,
  schemaOf,
} from '../support/openapi-contract';
import { refusedFields, usePayments } from '../support/payments-server';

type Body = Record<string, unknown>;

describe('the OpenAPI document and the API', () => {
  const { server, call, openInvoice } = usePayments({}, { '/api/openapi.json': description });
  let invoice = { id: 0, customer_id: 0 };
  beforeAll(async () => {
    invoice = (await openInvoice()).invoice;
  });

  test('pages of any site can fetch the OpenAPI document without a token, and an unchanged one is answered with 304', async () => {
    const url = `${server.url}/api/openapi.json`;
    const answer = await fetch(url);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    const document = openApiDocument(server.runtime.env.publicUrl);
    expect(await answer.json()).toEqual(JSON.parse(JSON.stringify(document)));
    const etag = answer.headers.get('etag') ?? '';
    const same = await fetch(url, { headers: { 'If-None-Match': etag } });
    expect(same.status).toBe(304);
    for (const name of ['etag', 'cache-control', 'access-control-allow-origin'])
      expect(same.headers.get(name)).toBe(answer.headers.get(name));
    expect((await fetch(url, { method: 'POST' })).headers.get('allow')).toBe('GET, HEAD');
  });

  const input = schemaOf('PaymentInput');
  const properties = input.properties as Record<string, Body>;
  /** Changes a generated body so that its ids exist and its amount has at most two decimals. */
  const fitting = (body: Body): Body => ({
    ...body,
    ...('invoice_id' in body && { invoice_id: invoice.id }),
    ...('customer_id' in body && { customer_id: invoice.customer_id }),
    // The API stores references in normal form, as the OpenAPI document states.
    ...('payment_reference' in body && {
      payment_reference: normalReference(String(body.payment_reference)),
    }),
    ...('amount' in body && { amount: Math.max(1, Math.round(Number(body.amount) * 100) % 1e9) / 100 }),
  });
  const inputs = arbitraryOf(input) as fc.Arbitrary<Body>;
  const changes = arbitraryOf(schemaOf('PaymentChanges')) as fc.Arbitrary<Body>;

  test('the payments API accepts every body that fits the OpenAPI document', async () => {
    await fc.assert(
      fc.asyncProperty(inputs, changes, async (given, changed) => {
        const body = fitting(given);
        const created = await call('POST', '', body);
        expect([created.status, created.body]).toEqual([201, expect.objectContaining(body)]);
        const path = `/${created.body.id}`;
        const patched = await call('PATCH', path, fitting(changed));
        expect([patched.status, patched.body]).toEqual([200, expect.objectContaining(fitting(changed))]);
        expect((await call('GET', path)).body).toEqual(patched.body);
        expect((await call('DELETE', path)).status).toBe(204);
      }),
      { numRuns: 20, endOnFailure: true },
    );
  });

  test.each(Object.keys(properties))(
    'a payment whose %s violates the OpenAPI document is refused',
    (field) => {
      const schema = properties[field] ?? {};
      const misfits = arbitraryMisfit((value) => errorsOf(schema, value).length === 0);
      fc.assert(
        fc.property(inputs, misfits, (given, value) => {
          const body = { ...fitting(given), [field]: value };
          expect(refusedFields(() => validate(paymentInput, body, 'body'))).toEqual([field]);
        }),
        { numRuns: 40 },
      );
    },
  );

  test('a payment with a missing or unknown field is refused with the field’s name', () => {
    const required = input.required as string[];
    const names = fc.string({ minLength: 1 }).filter((name) => !(name in properties) && name !== '__proto__');
    fc.assert(
      fc.property(inputs, fc.constantFrom(...required), names, (given, missing, extra) => {
        const { [missing]: _, ...rest } = fitting(given);
        expect(refusedFields(() => validate(paymentInput, rest, 'body'))).toEqual([missing]);
        const more = { ...fitting(given), [extra]: 1 };
        expect(refusedFields(() => validate(paymentInput, more, 'body'))).toEqual([extra]);
      }),
      { numRuns: 20 },
    );
  });

  const parameters = openApiDocument('http://localhost').paths['/api/w5t/payments']?.get.parameters;

  test.each(parameters as unknown as { name: string; schema: Body }[])(
    'the payment list accepts a value of $name exactly if it fits the OpenAPI document',
    async ({ name, schema }) => {
      const isNumber = schema.type === 'integer';
      const fits = (text: unknown) => {
        const value = isNumber && /^-?\d{1,15}$/.test(String(text)) ? Number(text) : text;
        return errorsOf(schema, value).length === 0;
      };
      const texts = arbitraryMisfit((value) => typeof value !== 'string' || fits(value));
      const query = (value: unknown) => new URLSearchParams({ [name]: String(value) });
      fc.assert(
        fc.property(texts, (text) => {
          expect(refusedFields(() => validateQuery(paymentFilters, query(text)))).toEqual([name]);
        }),
        { numRuns: 20 },
      );
      for (const value of fc.sample(arbitraryOf(schema), 3)) {
        expect((await call('GET', `?${query(value)}`)).status, String(value)).toBe(200);
      }
    },
  );
});

// tests/golden/openapi.txt contains the whole document.
describe('the OpenAPI document', () => {
  const document = openApiDocument('https://admin.w5t.test');

  test('the OpenAPI document passes Redocly’s recommended rules', async () => {
    // The rule `info-license` demands a licence, but an internal service has none.
    const rules = { extends: ['recommended' as const], rules: { 'info-license': 'off' as const } };
    const source = JSON.stringify(document);
    const problems = await lintFromString({ source, config: await createConfig(rules) });
    expect(problems.map(({ message, location }) => [message, location[0]?.pointer])).toEqual([]);
  });

  test('the OpenAPI document lists every API error except too_many_requests', () => {
    const { too_many_requests: _, ...named } = ERROR_STATUS;
    expect(Object.keys(document.components.responses).sort()).toEqual(Object.keys(named).sort());
  });
});

describe('responses checked against the OpenAPI document', () => {
  const headers = { 'X-Request-Id': 'r-1', ETag: '"a"' };
  const payment = {
    ...{ id: 1, invoice_id: 1, customer_id: 1, amount: 119, currency: 'eur', status: 'completed' },
    ...{ payment_date: '2026-03-10', payment_reference: 'BANK-1', refunded_amount: 0, source: 'api' },
    ...{ created_at: '2026-03-10T09:30:00.000Z', updated_at: '2026-03-10T09:30:00.000Z' },
  };
  const json = (more: object, init: ResponseInit = { headers }) =>
    Response.json({ ...payment, ...more }, init);

  test.each([
    ['an additional field', json({ provider_amount: 1 }), /additional properties/],
    ['an invalid date', json({ payment_date: '10.3.' }), /format "date"/],
    ['a missing header', json({}, {}), /header X-Request-Id is missing/],
    ['an unknown status', json({}, { headers, status: 418 }), /not described/],
    ['another media type', new Response('<p>', { headers }), /media type text\/plain/],
  ])('a response with %s fails the contract check', async (_, answer, message) => {
    await expect(assertContract('GET', '/api/w5t/payments/1', answer)).rejects.toThrow(message);
  });
});

describe('README', () => {
  const { server } = usePayments();
  const text = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');

  test('the curl examples for payments in the README succeed on the sample data', async () => {
    await seedDatabase(server.runtime.db, { today: '2026-11-22', timeZone: 'UTC' });
    const ACCESS_TOKEN = await server.token('payments:read', 'payments:write');
    const examples = [...text.matchAll(/^curl [^`]*?\/api\/w5t\/payments[^`]*?$/gm)].map(([one]) => one);
    expect(examples).toHaveLength(2);
    const answers = [];
    for (const example of examples) {
      const command = example.replace('http://localhost:3000', server.url);
      const env = { ...process.env, ACCESS_TOKEN };
      const { stdout } = await promisify(execFile)('bash', ['-c', command], { env });
      answers.push(JSON.parse(stdout));
    }
    expect(answers).toMatchObject([
      { per_page: 2, data: [{}, {}] },
      { invoice_id: 1, amount: 10, payment_reference: 'BANK-1', status: 'completed' },
    ]);
  });
});
