import { desc, eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseFilters } from '@/app/admin/_components/lists/list-declaration';
import { accessTokens, staffUsers, toolCalls } from '@/db/schema';
import { maskAnswer } from '@/lib/mcp/define-tool';
import { TOOLS } from '@/lib/mcp/tools';
import type { Scope } from '@/lib/tokens/access-token';
import { callFilters, clearToolCalls, flushToolCalls, listToolCalls } from '@/lib/tool-calls/tool-calls';
import { createCustomer, createInvoice, createServer, createService } from '../support/factories';
import { type RpcAnswer, useMcpServer } from './serve-mcp';

const mcp = useMcpServer();
let customerId = 0;

beforeAll(async () => {
  const customer = await createCustomer(mcp.db, {
    ...{ customer_number: 'K1', company: 'Müller GmbH', email: 'mueller@example.com' },
    ...{ phone: '+49 30 1234567', street: 'Hauptstr. 1' },
  });
  customerId = customer.id;
  for (const status of ['sent', 'sent', 'overdue'] as const)
    await createInvoice(mcp.db, { customer_id: customerId, status });
  const service = { name: 'Web hosting', domain: 'mueller.example' };
  await createService(mcp.db, { customer_id: customerId, ...service });
  await createServer(mcp.db);
});

/** Returns a function that sends requests with a new token. */
async function as(scopes: Scope[], columns: Partial<typeof accessTokens.$inferInsert> = {}) {
  const { id, token } = await mcp.newToken(scopes);
  if (Object.keys(columns).length > 0)
    await mcp.db.update(accessTokens).set(columns).where(eq(accessTokens.id, id));
  return async (method: string, params?: unknown) => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await mcp.post({ jsonrpc: '2.0', id: 1, method, params }, headers);
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as RpcAnswer };
  };
}
type Caller = Awaited<ReturnType<typeof as>>;
const hidden = () => as(['mcp:read'], { hides_personal_data: true });

const ask = async (call: Caller, name: string, args: object) => {
  const { result } = (await call('tools/call', { name, arguments: args })).body;
  const isError = result?.isError === true;
  return { isError, text: JSON.stringify(result), content: result?.structuredContent };
};

describe('scopes of a token', () => {
  const VIEW = 'ui://w5t/view';

  test.each<[Scope[], tools: string[], resources: string[]]>([
    [['customers:read'], ['find-customer-tool', 'get-customer-tool', 'list-services-tool'], [VIEW]],
    [['billing:read'], ['list-invoices-tool', 'list-sales-documents-tool'], [VIEW]],
    [['servers:read', 'payments:read'], ['list-servers-tool'], []],
  ])('a token with the scopes %j lists the tools %j and the resources %j', async (scopes, tools, uris) => {
    const call = await as(scopes);
    const listed = async (kind: string, name: string) => {
      const { result } = (await call(`${kind}/list`)).body;
      return ((result?.[kind] ?? []) as Record<string, string>[]).map((one) => one[name]);
    };
    expect([await listed('tools', 'name'), await listed('resources', 'uri')]).toEqual([tools, uris]);
    const read = await call('resources/read', { uri: VIEW });
    expect(read.body.error?.code).toBe(uris.length > 0 ? undefined : -32602);
  });

  test('a tool call beyond the scopes of its token is answered with 403', async () => {
    const call = await as(['servers:read']);
    const refused = await call('tools/call', { name: 'list-invoices-tool', arguments: {} });
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toContain(
      'error="insufficient_scope", scope="servers:read billing:read"',
    );
  });

  test('tool responses omit prices, unpaid amounts and documents if the token lacks billing:read', async () => {
    const call = await as(['customers:read']);
    const customer = await ask(call, 'get-customer-tool', { id: customerId });
    const services = [{ name: 'Web hosting' }];
    expect(customer.content).toMatchObject({ customer_number: 'K1', services });
    const list = await ask(call, 'list-services-tool', {});
    const sums = await ask(call, 'list-services-tool', { summary: true });
    for (const { text } of [customer, list, sums]) expect(text).not.toMatch(/unpaid|documents|price|9\.9/);
  });

  test('service sums tell currencies apart even if the token lacks billing:read', async () => {
    await createService(mcp.db, { customer_id: customerId, currency: 'usd', service_number: 'S-USD' });
    const call = await as(['customers:read']);
    const sums = await ask(call, 'list-services-tool', { summary: true });
    const byCustomer = await ask(call, 'list-services-tool', { summary_by: 'customer' });
    const rows = [{ currency: 'eur' }, { currency: 'usd' }];
    expect([sums.content, byCustomer.content]).toMatchObject([{ summary: rows }, { by_customer: rows }]);
    const one = await ask(call, 'list-services-tool', { service_number: 'S-USD', fields: ['currency'] });
    expect(one.content).toMatchObject({ data: [{ currency: 'usd' }] });
  });

  test('a request for the column price is refused with a token without billing:read, and the error names the scope', async () => {
    const asked = { domain: 'mueller.example', fields: ['name', 'price'] };
    const call = await as(['customers:read']);
    const refused = await ask(call, 'list-services-tool', asked);
    expect(refused.isError).toBe(true);
    expect(refused.text).toContain('fields: price needs the scope billing:read');
    const unknown = await ask(call, 'list-services-tool', { fields: ['prices'] });
    expect(unknown.text).toMatch(/The columns are id, (?!.*\bprice\b)/);
    const content = { data: [{ price: 9.9 }] };
    expect(await ask(await as(['mcp:read']), 'list-services-tool', asked)).toMatchObject({ content });
  });
});

describe('masked personal data', () => {
  test.each<[string, () => Promise<Caller>]>([
    ['that hides personal data', hidden],
    ['with the former masking scope', () => as(['mcp:read', 'without_personal_data'])],
  ])('a token %s gets tool responses with masked personal data', async (_, caller) => {
    const call = await caller();
    for (const [name, args] of [
      ['find-customer-tool', { query: 'k1' }],
      ['get-customer-tool', { id: customerId }],
      ['list-invoices-tool', {}],
      ['list-services-tool', { fields: ['name', 'customer'] }],
      ['list-invoices-tool', { fields: ['customer.name', 'customer.email'] }],
      ['list-services-tool', { fields: ['customer.name'] }],
      ['list-services-tool', { fields: ['domain'] }],
    ] as const) {
      const { content, text } = await ask(call, name, args);
      expect(content).toMatchObject({ personal_data: 'masked' });
      expect(text).not.toMatch(/Müller|mueller[@.]|1234567|Hauptstr/);
      expect(text).toContain('[masked]');
    }
  });

  test.each(['mueller@example.com', 'mueller', 'm', 'Müller GmbH', 'example.com', '@', ' ', '%'])(
    'the search text %j is refused if names are masked',
    async (query) => {
      const { isError, text } = await ask(await hidden(), 'find-customer-tool', { query });
      expect(isError).toBe(true);
      expect(text).not.toContain('K1');
    },
  );

  test.each(['K1', 'k'])('the search “%s” finds a customer by number if names are masked', async (query) => {
    const { content } = await ask(await hidden(), 'find-customer-tool', { query });
    const match = { customer_number: 'K1', name: '[masked]', email: '[masked]' };
    expect(content).toMatchObject({ count: 1, matches: [match] });
  });

  test.each([{}, { summary: true }, { fields: ['id'] }])(
    'a service list with %j cannot be searched by domain if names are masked',
    async (more) => {
      const call = await hidden();
      const found = await ask(call, 'list-services-tool', { domain: 'm', ...more });
      expect(found.isError).toBe(true);
      expect(found.text).toContain('domain: This access hides personal data');
      expect(await ask(call, 'list-services-tool', { domain: 'x', ...more })).toEqual(found);
    },
  );

  test.each([
    'mustermann@example.com',
    'mustermann_max.example.com',
    'MUSTERMANN.XN--P1AI',
    'info@paral·lel.example',
    'info@müller.example'.normalize('NFD'),
    'bücher-müller.example'.normalize('NFD'),
    'वेबसाइट.उदाहरण',
    'می\u200cخواهم.ایران',
  ])('a masked service name contains no part of %s', (text) => {
    const answer = maskAnswer({ services: [{ name: `Package ${text} 2.0` }] });
    expect(answer).toMatchObject({ services: [{ name: 'Package [masked] 2.0' }] });
  });
});

test('an invoice summary contains sums by currency and status, and a summary of no rows is empty', async () => {
  const none = { currency: 'eur', amount_paid: 0, settled_by_credit: 0, written_off: 0 };
  expect(await mcp.ask('list-invoices-tool', { summary: true })).toEqual({
    total: 3,
    summary: [
      { ...none, status: 'sent', count: 2, tax: 38, total: 238, amount_due: 238 },
      { ...none, status: 'overdue', count: 1, tax: 19, total: 119, amount_due: 119 },
    ],
    by_status: { sent: 2, overdue: 1 },
    unpaid: [{ currency: 'eur', count: 3, amount_due: 357 }],
  });
  const empty = { total: 0, summary: [], by_status: {} };
  const offers = await mcp.ask('list-sales-documents-tool', { summary: true, type: 'offer' });
  expect([offers, await mcp.ask('list-services-tool', { summary: true, domain: 'nowhere' })]).toEqual([
    empty,
    empty,
  ]);
});

describe('the log of tool calls', () => {
  /** Returns the newest entries of the log, the newest first. */
  const newest = async (limit: number) => {
    await flushToolCalls(mcp.runtime);
    return mcp.db.select().from(toolCalls).orderBy(desc(toolCalls.id)).limit(limit);
  };

  test('the log of tool calls contains the caller, the tool and shortened search texts, and the process log no arguments', async () => {
    mcp.logged.length = 0;
    const trace_id = '0af7651916cd43dd8448eb211c80319c';
    await mcp.callTool('find-customer-tool', { query: 'mueller@example.com' });
    await mcp.rpc('tools/call', {
      ...{ name: 'get-customer-tool', arguments: { customer_number: 'K1' } },
      _meta: { traceparent: `00-${trace_id}-b7ad6b7169203331-01` },
    });
    await mcp.callTool('get-customer-tool', { customer_number: 'private-number' });
    await mcp.callTool('get-customer-tool', {});
    await mcp.callTool('list-services-tool', { customer_id: String(customerId) });
    const [find, get, outcome] = ['find-customer-tool', 'get-customer-tool', 'ok'];
    expect((await newest(5)).reverse()).toMatchObject([
      {
        ...{ tool: find, caller_name: 'Test', rows: 1, outcome, customer_id: null },
        arguments: { query: 'mue…' },
      },
      {
        tool: get,
        rows: 1,
        outcome,
        customer_id: customerId,
        arguments: { customer_number: 'K1' },
        trace_id,
      },
      { tool: get, rows: 0, outcome: 'not_found' },
      { tool: get, rows: 0, outcome: 'validation_failed' },
      { tool: 'list-services-tool', outcome, customer_id: customerId },
    ]);
    const line = { msg: 'tools/call', token_id: '1', duration_ms: 0 };
    expect(mcp.logged.filter(({ msg }) => msg === line.msg)).toMatchObject([
      { ...line, tool: find, rows: 1, outcome },
      { ...line, tool: get, rows: 1, outcome, trace_id },
      { ...line, tool: get, rows: 0, outcome: 'not_found' },
      { ...line, tool: get, rows: 0, outcome: 'validation_failed' },
      { ...line, tool: 'list-services-tool', outcome },
    ]);
    expect(JSON.stringify(mcp.logged)).not.toMatch(/mueller|private-number|w5t_/i);
  });

  test.each([
    ['get-customer-tool', { customer_number: 'K1' }],
    [
      'list-services-tool',
      { next_billing_date_from: '2026-03-01', service_type: 'domain', fields: ['name'] },
    ],
    [
      'list-invoices-tool',
      { due_date_from: '2026-03-01', due_date_to: '2026-03-31', summary_by: 'customer' },
    ],
    ['list-sales-documents-tool', { valid_until_to: '2026-03-31', type: 'offer', statuses: ['draft'] }],
  ])(
    'the log of tool calls contains all dates, statuses and columns in the arguments of %s',
    async (name, args) => {
      await mcp.callTool(name, args);
      expect(await newest(1)).toMatchObject([{ outcome: 'ok', arguments: args }]);
    },
  );

  test('the log of tool calls keeps no free text in the arguments of any tool', () => {
    const kept = new Set(TOOLS.flatMap(({ loggedArguments }) => loggedArguments));
    for (const name of ['query', 'domain', 'number', 'service_number', 'document_number'])
      expect(kept).not.toContain(name);
  });

  test('the log of tool calls counts the customers of a summary by customer', async () => {
    for (const due_date_from of ['2026-01-01', '2999-01-01'])
      await mcp.callTool('list-invoices-tool', { summary_by: 'customer', due_date_from });
    expect(await newest(2)).toMatchObject([{ rows: 0 }, { rows: 1 }]);
  });

  test('the log of tool calls contains no text from invalid arguments', async () => {
    const name = 'mueller@example.com';
    for (const args of [{ customer_number: name }, { [name]: 1 }, { id: name }])
      await mcp.callTool('get-customer-tool', args);
    await mcp.callTool('list-invoices-tool', { status: name, fields: [name] });
    const kept = await newest(4);
    expect(kept.map(({ outcome }) => outcome)).not.toContain('ok');
    expect(JSON.stringify(kept)).not.toContain('muel');
  });

  test('the log of tool calls contains the e-mail address of the token’s owner', async () => {
    const staff_email = 'ada@example.com';
    await mcp.db.insert(staffUsers).values({ id: 'ada', name: 'Ada', email: staff_email });
    await ask(await as(['mcp:read'], { staff_email }), 'list-servers-tool', {});
    expect(await newest(1)).toMatchObject([{ caller_name: 'Test', staff_email, client_id: null }]);
  });

  test.each(['9999-12-31', '2026-03-15'])(
    'the log of tool calls can be filtered by the last day %s',
    async (to) => {
      await mcp.callTool('list-servers-tool', {});
      await flushToolCalls(mcp.runtime);
      const place = { limit: 5, timeZone: 'Europe/Berlin' };
      const page = await listToolCalls(mcp.db, callFilters.parse({ to }), place);
      expect(page).toMatchObject({ data: expect.arrayContaining([expect.anything()]) });
    },
  );

  test('the log of tool calls can be filtered by a customer’s id from a URL, and an invalid id is refused', async () => {
    const parse = (id: string) => parseFilters(callFilters, new URLSearchParams({ customer_id: id }));
    const { filters } = parse('5');
    expect(filters).toEqual({ customer_id: 5 });
    for (const id of ['K-1', '0', '1.5', '99999999999', ' ']) {
      expect(parse(id)).toMatchObject({ filters: null, problems: { customer_id: expect.any(String) } });
    }
  });

  test('the log of tool calls shows its first page if a cursor in the URL is malformed', async () => {
    await mcp.callTool('list-servers-tool', {});
    await flushToolCalls(mcp.runtime);
    const place = { limit: 5, timeZone: 'UTC' };
    const first = await listToolCalls(mcp.db, {}, place);
    for (const text of ['x', '', '1.5', '9'.repeat(20), '1\0']) {
      expect(await listToolCalls(mcp.db, {}, { ...place, after: text })).toEqual(first);
      expect(await listToolCalls(mcp.db, {}, { ...place, before: text })).toEqual(first);
    }
  });

  test('tool calls are deleted from the log after the retention period', async () => {
    const now = new Date(mcp.runtime.now().getTime() + 91 * 86_400_000);
    expect((await clearToolCalls(mcp.db, { now, days: 92 })).cleared).toBe(0);
    expect((await clearToolCalls(mcp.db, { now, days: 90 })).cleared).toBeGreaterThan(2);
  });
});

test('MCP requests above the rate limit are answered with 429', async () => {
  mcp.runtime.env.mcpRequestsPerMinute = 20;
  const call = await as(['servers:read']);
  const answers = await Promise.all(Array.from({ length: 25 }, () => call('ping')));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(5);
  expect(refused[0]?.headers.get('retry-after')).toBe('60');
});
