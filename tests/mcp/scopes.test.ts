import { desc, eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { accessTokens, invoices, staffUsers, toolCalls } from '@/db/schema';
import { prepareAccessToken } from '@/lib/cli/demo/prepare-database';
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
    customer_number: 'K1',
    company: 'Müller GmbH',
    email: 'mueller@example.com',
    phone: '+49 30 1234567',
    street: 'Hauptstr. 1',
  });
  customerId = customer.id;
  const amounts = { subtotal: '100.00', tax: '19.00', total: '119.00', amount_due: '119.00' };
  for (const status of ['sent', 'sent', 'overdue'] as const) {
    await createInvoice(mcp.db, { customer_id: customerId, status, ...amounts });
  }
  await createService(mcp.db, {
    customer_id: customerId,
    status: 'active',
    name: 'Web hosting',
    domain: 'mueller.example',
    price: '9.90',
  });
  await createServer(mcp.db);
});

test('the demo’s access token can read customer names with the tools', async () => {
  const call = withToken(await prepareAccessToken(mcp.db, mcp.runtime));
  for (const { name } of TOOLS) {
    const args =
      name === 'find-customer-tool' ? { query: 'K1' } : name.startsWith('get-') ? { id: customerId } : {};
    const { body } = await call('tools/call', { name, arguments: args });
    expect(body.result?.isError, name).toBeUndefined();
    expect(JSON.stringify(body), name).not.toMatch(/mask/);
    const isOfCustomers = !['list-servers-tool', 'list-sales-documents-tool'].includes(name);
    if (isOfCustomers) expect(JSON.stringify(body), name).toContain('Müller GmbH');
  }
});

const as = async (scopes: Scope[]) => withToken((await mcp.newToken(scopes)).token);
/** Returns a function that sends requests with a token that hides personal data. */
const hidden = async () => {
  const { id, token } = await mcp.newToken(['mcp:read']);
  await mcp.db.update(accessTokens).set({ hides_personal_data: true }).where(eq(accessTokens.id, id));
  return withToken(token);
};
const withToken = (token: string) => {
  return async (method: string, params?: unknown) => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await mcp.post({ jsonrpc: '2.0', id: 1, method, params }, headers);
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as RpcAnswer };
  };
};
const contentOf = (body: RpcAnswer) => body.result?.structuredContent as Record<string, unknown>;

describe('scopes of a token', () => {
  test.each<[Scope[], string[]]>([
    [['customers:read'], ['find-customer-tool', 'get-customer-tool', 'list-services-tool']],
    [['billing:read'], ['list-invoices-tool', 'list-sales-documents-tool']],
    [['servers:read', 'payments:read'], ['list-servers-tool']],
  ])('a token with the scopes %j lists the tools %j', async (scopes, names) => {
    const { body } = await (await as(scopes))('tools/list');
    expect(((body.result?.tools ?? []) as { name: string }[]).map(({ name }) => name)).toEqual(names);
  });

  test('a tool call beyond the scopes of its token is answered with 403', async () => {
    const call = await as(['servers:read']);
    const refused = await call('tools/call', { name: 'list-invoices-tool', arguments: {} });
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toContain(
      'error="insufficient_scope", scope="servers:read billing:read"',
    );
  });

  test.each<[Scope[], string[]]>([
    [['customers:read'], ['ui://w5t/view']],
    [['billing:read'], ['ui://w5t/view']],
    [['servers:read', 'payments:read'], []],
  ])('a token with the scopes %j lists and reads the resources %j', async (scopes, uris) => {
    const call = await as(scopes);
    const { body } = await call('resources/list');
    expect(((body.result?.resources ?? []) as { uri: string }[]).map(({ uri }) => uri)).toEqual(uris);
    const read = await call('resources/read', { uri: 'ui://w5t/view' });
    expect(read.body.error?.code).toBe(uris.length > 0 ? undefined : -32602);
  });

  test('tool responses omit prices if the token lacks billing:read', async () => {
    const call = await as(['customers:read']);
    const customer = await call('tools/call', { name: 'get-customer-tool', arguments: { id: customerId } });
    const services = await call('tools/call', { name: 'list-services-tool', arguments: {} });
    const sums = await call('tools/call', { name: 'list-services-tool', arguments: { summary: true } });
    for (const { body } of [customer, services, sums]) {
      expect(JSON.stringify(body)).not.toMatch(/unpaid|documents|price|9\.9/);
    }
    expect(contentOf(customer.body)).toMatchObject({
      customer_number: 'K1',
      services: [{ name: 'Web hosting' }],
    });
  });

  test.each<[string, () => ReturnType<typeof as>]>([
    ['that hides personal data', () => hidden()],
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
      const { body } = await call('tools/call', { name, arguments: args });
      expect(contentOf(body)).toMatchObject({ personal_data: 'masked' });
      expect(JSON.stringify(body)).not.toMatch(/Müller|mueller[@.]|1234567|Hauptstr/);
      expect(JSON.stringify(body)).toContain('[masked]');
    }
  });
});

describe('masked personal data', () => {
  const ask = async (name: string, args: object) => {
    const call = await hidden();
    const { body } = await call('tools/call', { name, arguments: args });
    return { isError: body.result?.isError === true, text: JSON.stringify(body.result?.content), body };
  };

  test.each(['mueller@example.com', 'mueller', 'm', 'Müller GmbH', 'example.com', '@', ' ', '%'])(
    'the search text %j finds no customer if names are masked',
    async (query) => {
      const { isError, text } = await ask('find-customer-tool', { query });
      expect(isError).toBe(true);
      expect(text).not.toContain('K1');
    },
  );

  test.each(['K1', 'k'])(
    'the search text %s finds a customer by number even if names are masked',
    async (query) => {
      expect(contentOf((await ask('find-customer-tool', { query })).body)).toMatchObject({
        count: 1,
        matches: [{ customer_number: 'K1', name: '[masked]', email: '[masked]' }],
      });
    },
  );

  test.each([{}, { summary: true }, { fields: ['id'] }])(
    'a service list with %j cannot be searched by domain if names are masked',
    async (more) => {
      const found = await ask('list-services-tool', { domain: 'm', ...more });
      const missed = await ask('list-services-tool', { domain: 'x', ...more });
      expect(found.isError).toBe(true);
      expect(found.text).toContain('domain: This access hides personal data');
      expect(missed.text).toBe(found.text);
    },
  );
});

test('a masked service name contains no part of an e-mail address', () => {
  const answer = maskAnswer({ services: [{ name: 'Mailbox mustermann@example.com' }] });
  expect(answer).toMatchObject({ services: [{ name: 'Mailbox [masked]' }] });
});

describe('size of tool responses', () => {
  test('a tool response contains only the requested fields', async () => {
    const { structuredContent } = await mcp.callTool('list-invoices-tool', {
      fields: ['status', 'customer.customer_number'],
      per_page: 2,
    });
    expect(structuredContent).toMatchObject({
      data: [
        { status: expect.any(String), customer: { customer_number: 'K1' } },
        { status: expect.any(String), customer: { customer_number: 'K1' } },
      ],
      has_more: true,
      next_page: 2,
    });
    expect(Object.keys(((structuredContent?.data ?? []) as object[])[0] ?? {})).toEqual([
      'status',
      'customer',
    ]);
    expect(
      (await mcp.callTool('list-servers-tool', { fields: ['hostname'] })).structuredContent,
    ).toMatchObject({
      data: [{ hostname: expect.any(String) }],
    });
  });

  test('a tool call with an unknown field is refused with the list of valid fields', async () => {
    for (const name of ['list-invoices-tool', 'list-servers-tool', 'list-services-tool']) {
      const { isError, content } = await mcp.callTool(name, { fields: ['id', 'secret'] });
      expect(isError).toBe(true);
      expect(content[0]?.text).toMatch(/unknown "secret"\. The columns are id, .*status/);
    }
  });

  test('an invoice summary shows the amounts settled by credit or written off', async () => {
    const { id: customer_id } = await createCustomer(mcp.db, { customer_number: 'K-SUMS' });
    const create = (status: 'paid' | 'overdue' | 'cancelled' | 'draft', values: object) =>
      createInvoice(mcp.db, { customer_id, currency: 'chf', total: '100', status, ...values });
    await create('paid', {
      amount_paid: '70',
      amount_due: '0',
      amount_off_stripe: '70',
      stripe_invoice_id: 'in_off',
    });
    await create('paid', { amount_paid: '120', amount_due: '0', stripe_invoice_id: 'in_debt' });
    await create('overdue', { uncollectible: true, stripe_invoice_id: 'in_written_off' });
    await create('cancelled', {});
    await create('draft', { number: null });
    const { structuredContent } = await mcp.callTool('list-invoices-tool', { summary: true, customer_id });
    const of = (status: string, count: number, [paid, due, settled, writtenOff]: number[]) => ({
      ...{ currency: 'chf', status, count, total: 100 * count, amount_paid: paid, amount_due: due },
      ...{ tax: 19 * count, settled_by_credit: settled, written_off: writtenOff },
    });
    expect(structuredContent).toEqual({
      total: 5,
      summary: [
        of('draft', 1, [0, 100, 0, 0]),
        of('paid', 2, [190, 0, 30, 0]),
        of('overdue', 1, [0, 100, 0, 100]),
        of('cancelled', 1, [0, 0, 0, 0]),
      ],
      by_status: { draft: 1, paid: 2, overdue: 1, cancelled: 1 },
      unpaid: [{ currency: 'chf', count: 1, amount_due: 100 }],
    });
    await mcp.db.delete(invoices).where(eq(invoices.customer_id, customer_id));
  });

  test('an invoice summary contains sums by currency and status', async () => {
    const { structuredContent } = await mcp.callTool('list-invoices-tool', { summary: true });
    const none = { currency: 'eur', amount_paid: 0, settled_by_credit: 0, written_off: 0 };
    expect(structuredContent).toEqual({
      total: 3,
      summary: [
        { ...none, status: 'sent', count: 2, tax: 38, total: 238, amount_due: 238 },
        { ...none, status: 'overdue', count: 1, tax: 19, total: 119, amount_due: 119 },
      ],
      by_status: { sent: 2, overdue: 1 },
      unpaid: [{ currency: 'eur', count: 3, amount_due: 357 }],
    });
    const narrowed = await mcp.callTool('list-invoices-tool', { summary: true, status: 'overdue' });
    expect(narrowed.structuredContent).toMatchObject({ total: 1 });
    const documents = await mcp.callTool('list-sales-documents-tool', { summary: true, type: 'offer' });
    expect(documents.structuredContent).toEqual({ total: 0, summary: [], by_status: {} });
    const services = await mcp.callTool('list-services-tool', { summary: true, domain: 'nowhere' });
    expect(services.structuredContent).toEqual({ total: 0, summary: [], by_status: {} });
  });

  test('a tool call is refused if its response is too large for the context of a model', async () => {
    const name = 'n'.repeat(2000);
    for (let i = 0; i < 60; i++) await createService(mcp.db, { customer_id: customerId, name });
    const { isError, content } = await mcp.callTool('list-services-tool', { per_page: 100 });
    expect(isError).toBe(true);
    expect(content[0]?.text).toMatch(/Ask again with per_page \d\d or less/);
    const fits = await mcp.callTool('list-services-tool', { per_page: 100, fields: ['id'] });
    expect(fits.isError).toBeUndefined();
  });
});

describe('the log of tool calls', () => {
  test('the log of tool calls contains the caller, the tool and shortened search texts', async () => {
    const call = await as(['mcp:read']);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await call('tools/call', { name: 'find-customer-tool', arguments: { query: 'mueller@example.com' } });
    await call('tools/call', {
      name: 'get-customer-tool',
      arguments: { customer_number: 'K1' },
      _meta: { traceparent },
    });
    await call('tools/call', { name: 'get-customer-tool', arguments: {} });
    await flushToolCalls(mcp.runtime);
    const [third, second, first] = await mcp.db.select().from(toolCalls).orderBy(desc(toolCalls.id)).limit(3);
    expect(first).toMatchObject({
      tool: 'find-customer-tool',
      arguments: { query: 'mue…' },
      caller_name: 'Test',
      rows: 1,
      outcome: 'ok',
      customer_id: null,
    });
    expect(second).toMatchObject({
      customer_id: customerId,
      arguments: { customer_number: 'K1' },
      trace_id: '0af7651916cd43dd8448eb211c80319c',
    });
    expect(third).toMatchObject({ outcome: 'validation_failed', rows: 0 });
    expect(mcp.logged.at(-1)).toMatchObject({ msg: 'tools/call' });
    expect(mcp.logged).toContainEqual(expect.objectContaining({ trace_id: second?.trace_id }));
  });

  test('the log of tool calls contains no text from invalid arguments', async () => {
    const call = await as(['mcp:read']);
    const name = 'mueller@example.com';
    for (const args of [{ customer_number: name }, { [name]: 1 }, { id: name }]) {
      await call('tools/call', { name: 'get-customer-tool', arguments: args });
    }
    await call('tools/call', { name: 'list-invoices-tool', arguments: { status: name, fields: [name] } });
    await flushToolCalls(mcp.runtime);
    const kept = await mcp.db.select().from(toolCalls).orderBy(desc(toolCalls.id)).limit(4);
    expect(kept.map(({ outcome }) => outcome)).not.toContain('ok');
    expect(JSON.stringify(kept)).not.toContain('muel');
  });

  test('the log of tool calls contains the e-mail address of the token’s owner', async () => {
    const staff_email = 'ada@example.com';
    await mcp.db.insert(staffUsers).values({ id: 'ada', name: 'Ada', email: staff_email });
    const { id, token } = await mcp.newToken(['mcp:read']);
    await mcp.db.update(accessTokens).set({ staff_email }).where(eq(accessTokens.id, id));
    await withToken(token)('tools/call', { name: 'list-servers-tool', arguments: {} });
    await flushToolCalls(mcp.runtime);
    const [last] = await mcp.db.select().from(toolCalls).orderBy(desc(toolCalls.id)).limit(1);
    expect(last).toMatchObject({ caller_name: 'Test', staff_email, client_id: null });
  });

  test.each([['9999-12-31'], ['2026-03-15']])(
    'the log of tool calls can be listed up to the day %s',
    async (to) => {
      await mcp.callTool('list-servers-tool', {});
      await flushToolCalls(mcp.runtime);
      const filters = callFilters.parse({ to });
      const page = await listToolCalls(mcp.db, filters, { limit: 5, timeZone: 'Europe/Berlin' });
      expect(page).toMatchObject({ data: expect.arrayContaining([expect.anything()]) });
    },
  );

  test('tool calls are deleted from the log after the retention period', async () => {
    const later = new Date(mcp.runtime.now().getTime() + 91 * 86_400_000);
    expect((await clearToolCalls(mcp.db, { now: later, days: 92 })).cleared).toBe(0);
    expect((await clearToolCalls(mcp.db, { now: later, days: 90 })).cleared).toBeGreaterThan(2);
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
