import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, test } from 'vitest';
import { ERROR_STATUS } from '@/lib/errors';
import { openApiDocument } from '@/lib/openapi/document';
import { schemaErrors } from '../support/openapi-contract';

const document = openApiDocument('https://admin.w5t.test');
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item as Record<string, { responses?: Record<string, unknown> }>)
    .filter(([, operation]) => operation.responses)
    .map(([method, operation]) => ({ name: `${method} ${path}`, ...operation })),
);

describe('the OpenAPI document', () => {
  test('holds to OpenAPI 3.1, by the recommended rules of Redocly', async () => {
    const problems = await lintFromString({
      source: JSON.stringify(document),
      config: await createConfig({
        extends: ['recommended'],
        // An internal service of one company has no licence to name.
        rules: { 'info-license': 'off' },
      }),
    });
    expect(problems.map(({ message, location }) => [message, location[0]?.pointer])).toEqual([]);
  });

  test('names every error of the product but that of the sign-in', () => {
    const { too_many_requests: _, ...named } = ERROR_STATUS;
    expect(Object.keys(document.components.responses).sort()).toEqual(Object.keys(named).sort());
  });

  test('says what is true for each operation', () => {
    const { get, post } = document.paths['/api/w5t/payments'];
    const scopeOf = (operation: { responses: Record<string, unknown> }) =>
      /payments:\w+/.exec(JSON.stringify(operation.responses[403]))?.[0];
    expect(scopeOf(get)).toBe('payments:read');
    expect(JSON.stringify(document.components.responses.forbidden)).toContain('payments:write');
    const { put, patch } = document.paths['/api/w5t/payments/{id}'];
    expect(put.summary).not.toBe(patch.summary);
    for (const { source } of post['x-codeSamples']) expect(source).toContain('BANK-2026-0310');
  });

  test('describes every door but the tool server, which describes itself', () => {
    expect(operations.map(({ name }) => name)).toEqual([
      'get /api/w5t/payments',
      'post /api/w5t/payments',
      'get /api/w5t/payments/{id}',
      'put /api/w5t/payments/{id}',
      'patch /api/w5t/payments/{id}',
      'delete /api/w5t/payments/{id}',
      'post /api/stripe/webhook',
      'get /api/cron/reconcile',
      'get /api/health',
    ]);
  });

  test('its schemas refuse what no payment is', () => {
    const body = {
      invoice_id: 1,
      customer_id: 1,
      amount: 119,
      payment_date: '2026-03-10',
      payment_reference: 'BANK-1',
    };
    expect(schemaErrors('PaymentInput', body)).toEqual([]);
    for (const wrong of [
      { amount: 0 },
      { amount: '12' },
      { payment_date: '2025-02-30' },
      { payment_reference: 'a\u0000b' },
      { payment_reference: '   ' },
      { status: 'paid' },
      { invoice: 1 },
    ]) {
      expect([wrong, schemaErrors('PaymentInput', { ...body, ...wrong }).length]).not.toEqual([wrong, 0]);
    }
    expect(schemaErrors('PaymentChanges', {})).not.toEqual([]);
  });
});
