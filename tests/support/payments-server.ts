import { type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { eq } from 'drizzle-orm';
import { beforeAll, expect } from 'vitest';
import * as one from '@/app/api/w5t/payments/[id]/route';
import * as all from '@/app/api/w5t/payments/route';
import { invoices } from '@/db/schema';
import { AppError, ERROR_STATUS, type ErrorCode } from '@/lib/errors';
import { useApi } from './api';
import { createInvoice } from './factories';
import type { RouteModule } from './serve-routes';

/**
 * Serves the payments API over HTTP and creates a token that may read and write.
 *
 * @param routes more route files to serve
 */
export function usePayments(
  env: Record<string, string> = {},
  routes: Record<string, RouteModule> = {},
  options: Parameters<typeof useApi>[2] = {},
) {
  const paths = { '/api/w5t/payments': all, '/api/w5t/payments/[id]': one, ...routes };
  const server = useApi(paths, env, options);
  let token = '';
  let opened = 0;
  beforeAll(async () => {
    token = await server.token('payments:read', 'payments:write');
  });

  const payments = {
    server,
    /**
     * Sends a request.
     *
     * @param path the rest of the path after `/api/w5t/payments`
     */
    call: (method: string, path = '', body?: unknown, headers?: Record<string, string>) =>
      send({ url: server.url, token }, method, path, body, headers),

    /**
     * Creates an open invoice for 119.00 EUR that Stripe does not manage, and the body of a payment that covers it.
     */
    async openInvoice(overrides: Parameters<typeof createInvoice>[1] = {}) {
      const invoice = await createInvoice(server.runtime.db, { due_date: '2026-03-29', ...overrides });
      opened += 1;
      const body = {
        invoice_id: invoice.id,
        customer_id: invoice.customer_id,
        amount: 119,
        payment_date: '2026-03-10',
        payment_reference: `BANK-${opened}`,
        status: 'completed',
      };
      return { invoice, body };
    },

    /** Creates an open invoice and records its payment. @returns both, and the path and ETag of the payment */
    async recorded(overrides: Parameters<typeof createInvoice>[1] = {}) {
      const { invoice, body } = await payments.openInvoice(overrides);
      const { body: payment, headers } = await payments.call('POST', '', body);
      return { invoice, body, payment, path: `/${payment.id}`, etag: headers.get('etag') ?? '' };
    },

    async stateOf(invoiceId: number) {
      const [row] = await server.runtime.db.select().from(invoices).where(eq(invoices.id, invoiceId));
      return { status: row?.status, paid: Number(row?.amount_paid), due: Number(row?.amount_due) };
    },
  };
  return payments;
}

/**
 * Sends one request.
 *
 * @param body text, bytes and streams are sent unchanged (a stream without Content-Length), and any other value as JSON
 * @param headers headers that replace the default ones; a header with an empty value is not sent
 */
async function send(
  { url, token }: { url: string; token: string },
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) {
  const { hostname, port } = new URL(url);
  const content = toContent(body);
  const all = {
    Authorization: `Bearer ${token}`,
    ...(content && { 'Content-Type': 'application/json' }),
    ...(content instanceof Buffer && { 'Content-Length': String(content.byteLength) }),
    ...headers,
  };
  const sent = request({
    agent: false, // The server might close a kept-alive connection just as it is reused.
    hostname,
    port,
    method,
    path: `/api/w5t/payments${path}`,
    headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')),
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject);
  });
  if (content instanceof Readable) content.pipe(sent);
  else sent.end(content);
  const response = await answered;
  const answer = await text(response);
  return {
    status: response.statusCode ?? 0,
    headers: new Headers(
      Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]),
    ),
    body: answer === '' ? null : JSON.parse(answer),
  };
}

type PaymentsAnswer = Awaited<ReturnType<typeof send>>;

function toContent(body: unknown): Buffer | Readable | undefined {
  if (body === undefined || body instanceof Buffer || body instanceof Readable) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Returns the field names in an error response. */
export function fieldsOf({ body }: Pick<PaymentsAnswer, 'body'>): string[] {
  return (body.errors ?? []).map((error: { field: string }) => error.field);
}

/** Returns the distinct names of the fields that a check refuses as invalid. */
export function refusedFields(check: () => unknown): string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'validation_failed') throw error;
    return [...new Set(error.fields.map(({ field }) => field))];
  }
}

/**
 * Expects an error response in the format of RFC 9457 that must not be stored in caches and has a request id.
 *
 * @param fields exactly the fields that the error must name
 */
export function expectProblem(answer: PaymentsAnswer, code: ErrorCode, fields?: string[]): void {
  expect(answer.body).toMatchObject({ type: `urn:w5t:error:${code}`, status: ERROR_STATUS[code] });
  expect(answer.body).toMatchObject({ title: expect.any(String), detail: expect.any(String) });
  expect(answer.status).toBe(ERROR_STATUS[code]);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('x-request-id')).toMatch(/^[\w-]{16,}$/);
  if (fields) expect(fieldsOf(answer)).toEqual(fields);
}
