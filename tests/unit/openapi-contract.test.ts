import { describe, expect, test } from 'vitest';
import { assertContract } from '../support/openapi-contract';

const PATH = '/api/w5t/payments/1';
const headers = { 'X-Request-Id': 'r-1', ETag: '"a"' };
const payment = {
  id: 1,
  invoice_id: 1,
  customer_id: 1,
  amount: 119,
  currency: 'eur',
  payment_date: '2026-03-10',
  payment_reference: 'BANK-1',
  status: 'completed',
  refunded_amount: 0,
  source: 'api',
  created_at: '2026-03-10T09:30:00.000Z',
  updated_at: '2026-03-10T09:30:00.000Z',
};

describe('what tests hold answers to', () => {
  test('an answer as described passes', async () => {
    await assertContract('GET', PATH, Response.json(payment, { headers }));
    await assertContract('HEAD', PATH, new Response(null, { headers }));
    await assertContract('GET', '/elsewhere', new Response('anything', { status: 418 }));
  });

  test.each([
    ['a field more', Response.json({ ...payment, provider_amount: 1 }, { headers }), /additional properties/],
    ['a wrong date', Response.json({ ...payment, payment_date: '10.3.' }, { headers }), /format "date"/],
    ['a missing header', Response.json(payment), /header X-Request-Id is missing/],
    ['an unknown status', Response.json(payment, { headers, status: 418 }), /not described/],
    ['another media type', new Response('<p>', { headers }), /media type text\/plain/],
    ['a body where none belongs', new Response('x', { headers, status: 200 }), /media type/],
  ])('%s does not', async (_, answer, message) => {
    await expect(assertContract('GET', PATH, answer)).rejects.toThrow(message);
  });
});
