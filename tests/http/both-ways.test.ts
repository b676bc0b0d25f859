import { request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { METHODS } from '@/lib/http/messages';
import { fastFirst } from '@/lib/server/fast/fast-first';
import { FAST_ROUTES } from '@/lib/server/fast/routes';
import type { Handler } from '@/lib/server/listener';
import { openApi } from '../support/api';
import { createCustomer, createInvoice } from '../support/factories';
import { ensureBuild } from '../support/next-build';
import { openNextHere } from '../support/next-here';
import { signatureOf, WEBHOOK_SECRET } from '../support/stripe-events';

const CRON_SECRET = 'a-secret-of-the-cron-job';
const METRICS_TOKEN = 'a-secret-of-the-metrics-endpoint';
const MIB = 1_048_576;

/**
 * Headers that are not compared. They depend on the connection, the time or the request, or on how a server compresses
 * its responses.
 */
const ITS_OWN = ['date', 'connection', 'keep-alive', 'vary', 'content-encoding', 'x-request-id'];
const INSTANT = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** One HTTP request to replay against both servers. */
interface Sent {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

const next: Handler = async (...given) => (await openNextHere())(...given);
beforeAll(ensureBuild, 900_000);

test('our server and Next.js give the same response to each sample request', async () => {
  const ours = await play(fastFirst(FAST_ROUTES, next));
  expect(ours).toStrictEqual(await play(next));
  const seen = new Set(ours.map(({ answer }) => answer.status));
  for (const status of [200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 406, 412, 413, 415, 422]) {
    expect(seen).toContain(status);
  }
  expect(seen).not.toContain(500);
}, 120_000);

test.each(Object.entries(FAST_ROUTES))(
  'our server and Next.js have the same handlers for %s',
  async (path, route) => {
    const file = await import(join(import.meta.dirname, '../../app', path, 'route.ts'));
    for (const method of METHODS) expect(file[method]).toBe(route[method]);
  },
);

/** Serves `handle` on a database with one invoice, and sends it every request. @returns each request and its answer */
async function play(handle: Handler) {
  const env = { STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET, CRON_SECRET, METRICS_TOKEN };
  const api = await openApi(handle, { env });
  try {
    const { db, now } = api.runtime;
    const alike = { created_at: new Date('2026-01-01'), updated_at: new Date('2026-01-01') };
    const customer = { customer_number: 'K1', last_name: 'Tester', email: 'tester@example.com' };
    const { id: customer_id } = await createCustomer(db, { ...customer, ...alike });
    await createInvoice(db, { customer_id, number: 'R1', due_date: '2026-03-29', ...alike });
    const requests = [
      ...toPaths(),
      ...toPayments(await api.token('payments:read', 'payments:write'), await api.token('payments:read')),
      ...toWebhook(now()),
      ...toTools(await api.token('mcp:read')),
    ];
    const played = [];
    for (const sent of requests) {
      const what = `${sent.method} ${sent.path} ${JSON.stringify(sent.headers)} ${sent.body?.slice(0, 80)}`;
      played.push({ what, answer: await ask(api.url, sent) });
    }
    return played;
  } finally {
    await api.close();
  }
}

async function ask(url: string, { method, path, headers = {}, body }: Sent) {
  const { hostname, port } = new URL(url);
  const answer = await new Promise<Answer>((resolve, reject) => {
    const sent = request({ agent: false, hostname, port, method, path, headers }, async (response) => {
      const received = await buffer(response);
      const isPacked = response.headers['content-encoding'] === 'gzip';
      const text = (isPacked ? gunzipSync(received) : received).toString('latin1');
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
    });
    sent.once('error', reject).end(body);
  });
  // The servers may mark the end of an empty body differently, so ignore the headers that do this.
  const ignored = answer.text === '' ? [...ITS_OWN, 'content-length', 'transfer-encoding'] : ITS_OWN;
  const told = Object.entries(answer.headers).filter(([name]) => !ignored.includes(name));
  const text = answer.text.replaceAll(INSTANT, 'an instant');
  // An answer that contains an instant has a different ETag each time, and so has its HEAD answer without a body.
  const isTimed = text !== answer.text || text === '';
  const named = told.map(([name, value]) => [name, isTimed && name === 'etag' ? 'a tag' : value]);
  return { status: answer.status, headers: Object.fromEntries(named), text };
}

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
const send = (method: string, path: string, headers = {}, body?: string): Sent => ({
  ...{ method, path, headers },
  ...(body !== undefined && { body }),
});
const get = (path: string, headers = {}) => send('GET', path, headers);

/** Returns requests with eight methods for the paths of FAST_ROUTES, and requests for similar paths. */
function toPaths(): Sent[] {
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];
  const paths = Object.keys(FAST_ROUTES).map((path) => path.replace('[id]', '1'));
  const inexact = ['/mcp/', '//mcp', '/MCP', '/%6dcp', '/mcp/x', '/mcp?', '/mcp#x', '/mcp;x', '/./mcp'];
  const health = ['/api/health/', '/api/%68ealth', '/api//health', '/api/health?x=1'];
  return [
    ...paths.flatMap((path) => methods.map((method) => ({ method, path }))),
    ...inexact.map((path) => ({ method: 'POST', path })),
    ...[...health, 'http://localhost/api/health'].map((path) => get(path)),
    get('/api/health', bearer(CRON_SECRET)),
    get('/api/health', bearer('wrong')),
    get('/api/openapi.json', { 'if-none-match': '*' }),
    get('/api/openapi.json', { 'accept-encoding': 'gzip, deflate, br' }),
    get('/metrics', bearer('wrong')), // The metrics of the right token differ each time.
    get('/api/cron/reconcile', bearer('wrong')),
    get('/api/cron/reconcile', bearer(CRON_SECRET)),
  ];
}

/** Returns valid and invalid payment requests, each after the requests that it depends on. */
function toPayments(writer: string, reader: string): Sent[] {
  const path = '/api/w5t/payments';
  const payment = { payment_date: '2026-03-10', payment_reference: 'BANK-1' };
  const body = JSON.stringify({ invoice_id: 1, customer_id: 1, amount: 10, ...payment });
  const queries = [
    ...['?', '?page=1&per_page=1', '?per_page=%31&', '?page=0', '?page=1&page=2', '?customer_id=1'],
    ...['?payment_reference=a+b%2Bc', '?payment_reference=%C3%BC', '?payment_reference=%zz'],
    ...['?payment_reference=a%00b', '?__proto__=1', '?constructor=1', '?a[]=1&b[c]=2', '?page', '?=1'],
    ...['?status=completed;page=2', '?dry_run=true#x'],
  ];
  const ids = '1 2 0 -1 1.5 01 1%20 %31 abc 99999999999 1/ 1?x=1 __proto__ 1;2'.split(' ');
  const wrong = [
    '',
    '{',
    '[]',
    'null',
    '"\ud800"',
    '{"amount":"x","other":1}',
    body.replace('10,', '10.001,'),
  ];
  const as = (token: string, more = {}) => ({ ...JSON_TYPE, ...bearer(token), ...more });
  const post = (text: string, headers: Record<string, string> = as(writer)) =>
    send('POST', path, headers, text);
  const one = (method: string, more = {}, text?: string) => send(method, `${path}/1`, as(writer, more), text);
  return [
    post(body, as('w5t_none')),
    post(body, as(reader)),
    post(body, as(writer, { 'content-type': 'text/plain' })),
    ...wrong.map((text) => post(text)),
    post(`{"a":"${'x'.repeat(MIB)}"}`),
    post(body, as(writer, { 'if-match': '"x"' })),
    post(body, as(writer, { expect: '100-continue' })),
    post(body),
    post(body, as(writer, { 'if-none-match': '*' })),
    ...queries.map((query) => get(path + query, as(reader))),
    ...ids.map((id) => get(`${path}/${id}`, as(reader))),
    one('GET', { 'if-none-match': '*' }),
    one('HEAD'),
    one('POST', {}, body),
    one('PATCH', {}, '{"amount":12.5}'),
    one('PUT', { 'if-match': '"x"' }, '{"amount":13}'),
    one('PATCH', {}, '{"id":2}'),
    one('DELETE', { 'if-match': '"x"' }),
    one('DELETE'),
    one('DELETE'),
  ];
}

function toWebhook(now: Date): Sent[] {
  const data = { object: { id: 'cus_1', object: 'customer' } };
  const event = { id: 'evt_1', object: 'event', type: 'customer.created', created: 1_770_000_000, data };
  const payload = JSON.stringify({ ...event, livemode: false, api_version: '2025-03-31.basil' });
  const signed = (text: string) => ({ 'stripe-signature': signatureOf(text, now) });
  const post = (body: string, headers: object) => send('POST', '/api/stripe/webhook', headers, body);
  return [
    post(payload, {}),
    post(payload, { 'stripe-signature': 't=1,v1=00' }),
    post(`${payload} `, signed(payload)),
    post('not JSON', signed('not JSON')),
    post('x'.repeat(MIB + 1), signed('')),
    post(payload, signed(payload)),
    post(payload, signed(payload)),
  ];
}

function toTools(token: string): Sent[] {
  const post = (message: unknown, more: Record<string, string> = {}) => {
    const headers = { ...JSON_TYPE, ...bearer(token), ...more };
    return send('POST', '/mcp', headers, typeof message === 'string' ? message : JSON.stringify(message));
  };
  const rpc = (method: string, params?: unknown) => ({ jsonrpc: '2.0', id: 1, method, params });
  const call = (name: string, args: unknown = {}) => rpc('tools/call', { name, arguments: args });
  const clientInfo = { name: 'a', version: '1' };
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': clientInfo,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const list = rpc('tools/list');
  return [
    post(list, bearer('w5t_none')),
    post(list, { authorization: 'Basic x' }),
    post(list, { origin: 'https://evil.example' }),
    post(list, { origin: 'http://localhost:3000' }),
    post(list, { accept: 'text/html' }),
    post(list, { 'content-type': 'text/plain' }),
    post(list, { 'mcp-protocol-version': '2020-01-01' }),
    post(list, { accept: 'application/json, text/event-stream', 'accept-encoding': 'gzip' }),
    ...['', '{', '[]', '1', '{}', `"${'x'.repeat(MIB)}"`].map((text) => post(text)),
    post(rpc('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })),
    post(rpc('initialize', {})),
    post({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    post(rpc('ping')),
    post(rpc('resources/list')),
    post(call('list-invoices-tool', { per_page: 25 })),
    post(call('find-customer-tool', { query: 'Tester' })),
    post(call('get-customer-tool', { customer_id: 1 })),
    post(call('get-customer-tool', { customer_id: 999 })),
    post(call('get-customer-tool', { customer_id: 'x' })),
    post(call('no-tool')),
    post(rpc('tools/call', { name: 1 })),
    post(rpc('tools/list', { _meta }), { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }),
  ];
}
