import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, test } from 'vitest';
import { ERROR_STATUS } from '@/lib/errors';
import { openApiDocument } from '@/lib/openapi/document';
import { assertContract, schemaErrors } from '../support/openapi-contract';

const document = openApiDocument('https://admin.w5t.test');
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item as Record<string, { responses?: Record<string, unknown> }>)
    .filter(([, operation]) => operation.responses)
    .map(([method, operation]) => ({ name: `${method} ${path}`, ...operation })),
);

const body = {
  ...{ invoice_id: 1, customer_id: 1, amount: 119 },
  ...{ payment_date: '2026-03-10', payment_reference: 'BANK-1' },
};

describe('the OpenAPI document', () => {
  test('the OpenAPI document passes Redocly’s recommended rules', async () => {
    const problems = await lintFromString({
      source: JSON.stringify(document),
      config: await createConfig({
        extends: ['recommended'],
        // The rule demands a licence, but an internal service has none.
        rules: { 'info-license': 'off' },
      }),
    });
    expect(problems.map(({ message, location }) => [message, location[0]?.pointer])).toEqual([]);
  });

  test('the OpenAPI document lists every API error except too_many_requests', () => {
    const { too_many_requests: _, ...named } = ERROR_STATUS;
    expect(Object.keys(document.components.responses).sort()).toEqual(Object.keys(named).sort());
  });

  test('the OpenAPI document names the required scope of each operation', () => {
    const { get, post } = document.paths['/api/w5t/payments'];
    const scopeOf = (operation: { responses: Record<string, unknown> }) =>
      /payments:\w+/.exec(JSON.stringify(operation.responses[403]))?.[0];
    expect(scopeOf(get)).toBe('payments:read');
    expect(JSON.stringify(document.components.responses.forbidden)).toContain('payments:write');
    const { put, patch } = document.paths['/api/w5t/payments/{id}'];
    expect(put.summary).not.toBe(patch.summary);
    for (const { source } of post['x-codeSamples']) expect(source).toContain('BANK-2026-0310');
  });

  test('the OpenAPI document lists every route except the MCP endpoint', () => {
    expect(operations.map(({ name }) => name)).toEqual([
      'get /api/w5t/payments',
      'post /api/w5t/payments',
      'get /api/w5t/payments/{id}',
      'put /api/w5t/payments/{id}',
      'patch /api/w5t/payments/{id}',
      'delete /api/w5t/payments/{id}',
      'get /api/w5t/invoices/{id}/document',
      'get /api/w5t/credit-notes/{id}/document',
      'post /api/stripe/webhook',
      'get /api/cron/reconcile',
      'get /api/health',
      'get /api/health/live',
    ]);
  });

  test('the OpenAPI schemas reject invalid payment bodies', () => {
    expect(schemaErrors('PaymentInput', body)).toEqual([]);
    for (const wrong of [
      ...[
        { amount: 0 },
        { amount: '12' },
        { payment_date: '2025-02-30' },
        { status: 'paid' },
        { invoice: 1 },
      ],
      ...[{ payment_reference: 'a\u0000b' }, { payment_reference: '   ' }],
    ]) {
      expect([wrong, schemaErrors('PaymentInput', { ...body, ...wrong }).length]).not.toEqual([wrong, 0]);
    }
    expect(schemaErrors('PaymentChanges', {})).not.toEqual([]);
  });
});

describe('responses checked against the OpenAPI document', () => {
  const PATH = '/api/w5t/payments/1';
  const headers = { 'X-Request-Id': 'r-1', ETag: '"a"' };
  const at = '2026-03-10T09:30:00.000Z';
  const state = { currency: 'eur', status: 'completed', refunded_amount: 0, source: 'api' };
  const payment = { id: 1, ...body, ...state, created_at: at, updated_at: at };

  test.each([
    [
      'an additional field',
      Response.json({ ...payment, provider_amount: 1 }, { headers }),
      /additional properties/,
    ],
    ['an invalid date', Response.json({ ...payment, payment_date: '10.3.' }, { headers }), /format "date"/],
    ['a missing header', Response.json(payment), /header X-Request-Id is missing/],
    ['an unknown status', Response.json(payment, { headers, status: 418 }), /not described/],
    ['another media type', new Response('<p>', { headers }), /media type text\/plain/],
  ])('a response with %s fails the contract check', async (_, answer, message) => {
    await expect(assertContract('GET', PATH, answer)).rejects.toThrow(message);
  });
});
