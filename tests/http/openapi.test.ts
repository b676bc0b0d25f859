import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import * as description from '@/app/api/openapi.json/route';
import * as one from '@/app/api/w5t/payments/[id]/route';
import * as all from '@/app/api/w5t/payments/route';
import { openApiDocument } from '@/lib/openapi/document';
import { normalReference } from '@/lib/payments/normal-reference';
import { useApi } from '../support/api';
import { createInvoice } from '../support/factories';
import { arbitraryMisfit, arbitraryOf, schemaErrors, schemaOf } from '../support/openapi-contract';
import { callPayments } from '../support/payments-api';

const server = useApi({
  '/api/openapi.json': description,
  '/api/w5t/payments': all,
  '/api/w5t/payments/[id]': one,
});

type Body = Record<string, unknown>;
type Fields = Record<string, Record<string, unknown>>;

let token = '';
let invoice: Awaited<ReturnType<typeof createInvoice>>;
beforeAll(async () => {
  token = await server.token('payments:read', 'payments:write');
  const total = { subtotal: '100', tax: '19', total: '119', amount_due: '119', currency: 'eur' };
  invoice = await createInvoice(server.runtime.db, { status: 'sent', ...total });
});

const call = (method: string, path: string, body?: unknown) =>
  callPayments({ url: server.url, token }, method, path, body);

describe('GET /api/openapi.json', () => {
  test('is public, also for browsers elsewhere, and answers 304 to whoever holds it', async () => {
    const url = `${server.url}/api/openapi.json`;
    const answer = await fetch(url);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(await answer.json()).toEqual(
      JSON.parse(JSON.stringify(openApiDocument(server.runtime.env.publicUrl))),
    );
    const etag = answer.headers.get('etag') ?? '';
    expect((await fetch(url, { headers: { 'If-None-Match': etag } })).status).toBe(304);
    expect((await fetch(url, { method: 'POST' })).headers.get('allow')).toBe('GET, HEAD');
  });
});

describe('bodies made from the document', () => {
  const input = schemaOf('PaymentInput');
  const properties = input.properties as Fields;
  /** What no schema can say: the invoice is there and the customer's, the amount has its currency's decimals. */
  const fitting = (body: Body): Body => ({
    ...body,
    ...('invoice_id' in body && { invoice_id: invoice.id }),
    ...('customer_id' in body && { customer_id: invoice.customer_id }),
    // The document says in words that it is kept in another form.
    ...('payment_reference' in body && {
      payment_reference: normalReference(String(body.payment_reference)),
    }),
    ...('amount' in body && { amount: Math.max(1, Math.round(Number(body.amount) * 100) % 1e9) / 100 }),
  });
  const inputs = arbitraryOf(input) as fc.Arbitrary<Body>;
  const changes = arbitraryOf(schemaOf('PaymentChanges')) as fc.Arbitrary<Body>;

  test('that fit are recorded as they are, changed and deleted', async () => {
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
      { numRuns: 60 },
    );
  });

  test('that name another invoice are refused by its field', async () => {
    await fc.assert(
      fc.asyncProperty(inputs, async (given) => {
        const body = { ...fitting(given), invoice_id: 2_000_000_000 };
        const { status, body: problem } = await call('POST', '', body);
        expect([status, problem.errors]).toMatchObject([422, [{ field: 'invoice_id' }]]);
      }),
      { numRuns: 15 },
    );
  });

  test.each(Object.keys(properties))('with a wrong %s are refused by its name', async (field) => {
    const schema = properties[field] ?? {};
    const fits = (value: unknown) => schemaErrors(schema, value).length === 0;
    await fc.assert(
      fc.asyncProperty(inputs, arbitraryMisfit(schema, fits), async (given, value) => {
        const { status, body } = await call('POST', '', { ...fitting(given), [field]: value });
        expect([value, status, fieldsOf(body)]).toEqual([value, 422, [field]]);
      }),
      { numRuns: 40 },
    );
  });

  test('with a field too few or too many are refused by its name', async () => {
    const required = input.required as string[];
    const names = fc.string({ minLength: 1 }).filter((name) => !(name in properties) && name !== '__proto__');
    await fc.assert(
      fc.asyncProperty(inputs, fc.constantFrom(...required), names, async (given, missing, extra) => {
        const { [missing]: _, ...rest } = fitting(given);
        expect(fieldsOf((await call('POST', '', rest)).body)).toEqual([missing]);
        expect(fieldsOf((await call('POST', '', { ...fitting(given), [extra]: 1 })).body)).toEqual([extra]);
      }),
      { numRuns: 20 },
    );
  });
});

describe('parameters made from the document', () => {
  const document = openApiDocument('http://localhost');
  const parameters = document.paths['/api/w5t/payments']?.get.parameters as unknown as {
    name: string;
    schema: Record<string, unknown>;
  }[];

  test.each(parameters)('$name narrows the list, or is refused by its name', async ({ name, schema }) => {
    const isNumber = schema.type === 'integer';
    const fits = (text: unknown) => {
      const value = isNumber && /^-?\d{1,15}$/.test(String(text)) ? Number(text) : text;
      return schemaErrors(schema, value).length === 0;
    };
    const texts = arbitraryMisfit(schema, (value) => typeof value !== 'string' || fits(value));
    await fc.assert(
      fc.asyncProperty(arbitraryOf(schema), texts, async (value, text) => {
        expect((await call('GET', `?${new URLSearchParams({ [name]: String(value) })}`)).status).toBe(200);
        const refused = await call('GET', `?${new URLSearchParams({ [name]: String(text) })}`);
        expect([text, refused.status, fieldsOf(refused.body)]).toEqual([text, 422, [name]]);
      }),
      { numRuns: 20 },
    );
  });
});

function fieldsOf(problem: { errors?: { field: string }[] }): string[] {
  return [...new Set((problem.errors ?? []).map(({ field }) => field))];
}
