import { signatureOf } from './stripe-events';

export const CRON_SECRET = 'a-secret-of-the-cron-job';
const MIB = 1_048_576;

/** A request as it goes over the wire. */
export interface Sent {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Tokens by what they may do, and the moment at which all is sent. */
interface Senders {
  writer: string;
  reader: string;
  tools: string;
  now: Date;
}

/**
 * Requests of every kind to every path of the fast table, good and bad, in an order in which each meets what it
 * needs: customer 1 has invoice 1, which takes payments.
 */
export function everyRequest({ writer, reader, tools, now }: Senders): Sent[] {
  return [...toPaths(), ...toPayments(writer, reader), ...toWebhook(now), ...toTools(tools)];
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];
const PATHS = [
  '/mcp',
  '/api/w5t/payments',
  '/api/w5t/payments/1',
  '/api/stripe/webhook',
  '/api/cron/reconcile',
];
const INEXACT = ['/mcp/', '//mcp', '/MCP', '/%6dcp', '/mcp/x', '/mcp?', '/mcp#x', '/mcp;x', '/./mcp'];

function toPaths(): Sent[] {
  const all = [...PATHS, '/api/health', '/api/openapi.json'];
  const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
  return [
    ...all.flatMap((path) => METHODS.map((method) => ({ method, path }))),
    ...INEXACT.map((path) => ({ method: 'POST', path })),
    ...[
      '/api/health/',
      '/api/%68ealth',
      '/api//health',
      '/api/health?x=1',
      'http://localhost/api/health',
    ].map((path) => ({ method: 'GET', path })),
    { method: 'GET', path: '/api/health', headers: bearer(CRON_SECRET) },
    { method: 'GET', path: '/api/health', headers: bearer('wrong') },
    { method: 'GET', path: '/api/openapi.json', headers: { 'if-none-match': '*' } },
    { method: 'GET', path: '/api/openapi.json', headers: { 'accept-encoding': 'gzip, deflate, br' } },
    { method: 'GET', path: '/api/cron/reconcile', headers: bearer('wrong') },
    { method: 'GET', path: '/api/cron/reconcile', headers: bearer(CRON_SECRET) },
  ];
}

const QUERIES = [
  '?',
  '?page=1&per_page=1',
  '?per_page=%31&',
  '?page=0',
  '?page=1&page=2',
  '?customer_id=1',
  '?payment_reference=a+b%2Bc',
  '?payment_reference=%C3%BC',
  '?payment_reference=%zz',
  '?payment_reference=a%00b',
  '?__proto__=1',
  '?constructor=1',
  '?a[]=1&b[c]=2',
  '?page',
  '?=1',
  '?status=completed;page=2',
  '?dry_run=true#x',
];
const IDS = [
  '1',
  '2',
  '0',
  '-1',
  '1.5',
  '01',
  '1%20',
  '%31',
  'abc',
  '99999999999',
  '1/',
  '1?x=1',
  '__proto__',
  '1;2',
];

function toPayments(writer: string, reader: string): Sent[] {
  const path = '/api/w5t/payments';
  const body = JSON.stringify({
    invoice_id: 1,
    customer_id: 1,
    amount: 10,
    payment_date: '2026-03-10',
    payment_reference: 'BANK-1',
  });
  const as = (token: string, more = {}) => ({
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    ...more,
  });
  const post = (text: string, headers: Record<string, string> = as(writer)) => ({
    method: 'POST',
    path,
    headers,
    body: text,
  });
  const one = (method: string, more = {}, text?: string) => ({
    method,
    path: `${path}/1`,
    headers: as(writer, more),
    ...(text !== undefined && { body: text }),
  });
  return [
    post(body, as('w5t_none')),
    post(body, as(reader)),
    post(body, as(writer, { 'content-type': 'text/plain' })),
    ...['', '{', '[]', 'null', '"\ud800"', '{"amount":"x","other":1}', body.replace('10,', '10.001,')].map(
      (text) => post(text),
    ),
    post(`{"a":"${'x'.repeat(MIB)}"}`),
    post(body, as(writer, { 'if-match': '"x"' })),
    post(body, as(writer, { expect: '100-continue' })),
    post(body),
    post(body, as(writer, { 'if-none-match': '*' })),
    ...QUERIES.map((query) => ({ method: 'GET', path: path + query, headers: as(reader) })),
    ...IDS.map((id) => ({ method: 'GET', path: `${path}/${id}`, headers: as(reader) })),
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
  const post = (body: string, headers: Record<string, string>) => ({
    method: 'POST',
    path: '/api/stripe/webhook',
    headers,
    body,
  });
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
  const post = (message: unknown, more: Record<string, string> = {}) => ({
    method: 'POST',
    path: '/mcp',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  });
  const rpc = (method: string, params?: unknown) => ({ jsonrpc: '2.0', id: 1, method, params });
  const call = (name: string, args: unknown = {}) => rpc('tools/call', { name, arguments: args });
  const clientInfo = { name: 'a', version: '1' };
  const stateless = {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': clientInfo,
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  };
  return [
    post(rpc('tools/list'), { authorization: 'Bearer w5t_none' }),
    post(rpc('tools/list'), { authorization: 'Basic x' }),
    post(rpc('tools/list'), { origin: 'https://evil.example' }),
    post(rpc('tools/list'), { origin: 'http://localhost:3000' }),
    post(rpc('tools/list'), { accept: 'text/html' }),
    post(rpc('tools/list'), { 'content-type': 'text/plain' }),
    post(rpc('tools/list'), { 'mcp-protocol-version': '2020-01-01' }),
    post(rpc('tools/list'), { accept: 'application/json, text/event-stream', 'accept-encoding': 'gzip' }),
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
    post(rpc('tools/list', stateless), { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }),
  ];
}
