import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { customerServices } from '@/db/schema';
import { TOOLS } from '@/lib/mcp/tools';
import {
  createCustomer,
  createInvoice,
  createSalesDocument,
  createServer,
  createService,
} from '../support/factories';
import { useMcpServer } from './serve-mcp';

const mcp = useMcpServer();
const textOf = async (name: string, args?: unknown) => {
  const { isError, content, ...rest } = await mcp.callTool(name, args);
  expect(isError).toBe(true);
  expect(rest).toEqual({});
  return content.map((block) => block.text).join();
};

describe('errors for invalid arguments', () => {
  test.each([
    ['find-customer-tool', undefined, 'query is required.'],
    ['find-customer-tool', { query: ' ' }, 'query must not be empty (got "").'],
    ['find-customer-tool', { query: true }, 'query must be a string (got true).'],
    ['find-customer-tool', { query: 1.5 }, 'query must be a string (got 1.5).'],
    [
      'find-customer-tool',
      { query: 'a\u0000' },
      'query must not contain control characters (got "a\\u0000").',
    ],
    ['find-customer-tool', { query: 'a', limit: 3 }, 'Unknown argument "limit". It takes query.'],
    ['get-customer-tool', {}, 'Give exactly one of id or customer_number.'],
    ['get-customer-tool', { id: 1, customer_number: 'K1' }, 'Give exactly one of id or customer_number.'],
    ['get-customer-tool', { id: '099' }, 'id must be an integer (got "099").'],
    ['get-customer-tool', { id: '1.0' }, 'id must be an integer (got "1.0").'],
    ['get-customer-tool', { id: ' 1' }, 'id must be an integer (got " 1").'],
    ['get-customer-tool', { id: '-1' }, 'id must be at least 1 (got -1).'],
    ['list-invoices-tool', { per_page: '101' }, 'per_page must be 1..100 (got 101).'],
    ['get-customer-tool', { id: 0 }, 'id must be at least 1 (got 0).'],
    [
      'get-customer-tool',
      { customer_number: 'K123' },
      'No customer with customer_number K123. Use find-customer-tool to search by name or e-mail.',
    ],
    ['list-invoices-tool', { per_page: 101 }, 'per_page must be 1..100 (got 101).'],
    ['list-invoices-tool', { page: 1.5 }, 'page must be an integer (got 1.5).'],
    [
      'list-invoices-tool',
      { perpage: 5 },
      'Unknown argument "perpage". It takes customer_id, status, statuses, number, id, invoice_date_from, invoice_date_to, due_date_from, due_date_to, page, per_page, fields, summary, summary_by.',
    ],
    [
      'list-invoices-tool',
      { status: 'open' },
      'status must be one of draft, sent, paid, overdue, cancelled (got "open").',
    ],
    [
      'list-invoices-tool',
      { invoice_date_from: '2025-02-30' },
      'invoice_date_from must be a calendar date YYYY-MM-DD (got "2025-02-30").',
    ],
    [
      'list-invoices-tool',
      { invoice_date_from: '2026-02-01', invoice_date_to: '2026-01-01' },
      'invoice_date_from must not be after invoice_date_to.',
    ],
    ['list-servers-tool', { status: 'active' }, 'Unknown argument "status". It takes fields.'],
    ['find-customer-tool', { query: null }, 'query must be a string (got null).'],
    ['list-invoices-tool', { fields: false }, 'fields must be a list of column names (got false).'],
    ['list-invoices-tool', { summary: 'yes' }, 'summary must be true or false (got "yes").'],
    ['list-invoices-tool', { summary_by: 'status' }, 'summary_by must be customer (got "status").'],
    ['list-invoices-tool', { statuses: [] }, 'statuses must contain at least one value (got a list).'],
    [
      'list-invoices-tool',
      { statuses: ['open', 'late', 'open'] },
      'statuses must be one of draft, sent, paid, overdue, cancelled (got "open"). statuses must be one of draft, sent, paid, overdue, cancelled (got "late").',
    ],
    [
      'list-invoices-tool',
      { status: 'sent', statuses: ['overdue'] },
      'statuses cannot be combined with status: leave one of them out.',
    ],
    [
      'list-services-tool',
      { next_billing_date_from: '2026-12-31', next_billing_date_to: '2026-12-01' },
      'next_billing_date_from must not be after next_billing_date_to.',
    ],
    [
      'list-sales-documents-tool',
      { customer_id: 999_999 },
      'No customer with id 999999. Use find-customer-tool to search by name or e-mail.',
    ],
  ])('the error of %s explains what is wrong with the arguments %j', async (name, args, text) => {
    expect(await textOf(name, args)).toBe(text);
  });

  test('the error message of a tool call shortens a long argument', async () => {
    expect((await textOf('list-invoices-tool', { status: 'x'.repeat(5000) })).length).toBeLessThan(200);
  });
});

describe('malformed calls', () => {
  test.each([
    [{ name: 'nope', arguments: {} }, /^Unknown tool\. The tools are find-customer-tool, /],
    [{ name: '__proto__' }, /^Unknown tool\./],
    [{ arguments: {} }, /^Invalid params: tools\/call takes name/],
    [{ name: 'list-servers-tool', arguments: [] }, /^Invalid params: /],
    [{ name: 'list-servers-tool', arguments: 'none' }, /^Invalid params: /],
    [undefined, /^Invalid params: /],
  ])('the malformed tool call %j is answered with the error -32602', async (params, message) => {
    const { error } = await mcp.rpc('tools/call', params);
    expect(error).toEqual({ code: -32602, message: expect.stringMatching(message) });
  });
});

describe('results of tools', () => {
  let customer: Awaited<ReturnType<typeof createCustomer>>;

  beforeAll(async () => {
    customer = await createCustomer(mcp.db, { customer_number: 'C-1', company: 'Ünïcode "AG"' });
    const { id: customer_id } = customer;
    await createService(mcp.db, { customer_id, service_number: 'A1' });
    await createService(mcp.db, { customer_id, service_number: 'A2', status: 'cancelled' });
    await createSalesDocument(mcp.db, { customer_id, document_number: 'D1', status: 'accepted' });
    await createSalesDocument(mcp.db, { customer_id, document_number: 'D2', status: 'converted' });
    await createInvoice(mcp.db, { customer_id, status: 'overdue', amount_due: '19.99' });
    await createInvoice(mcp.db, { customer_id, status: 'paid' });
    await createServer(mcp.db);
  });

  test.each(['C-1', 'c-1'])('get-customer-tool finds the customer number %s', async (customer_number) => {
    const { structuredContent } = await mcp.callTool('get-customer-tool', { customer_number });
    expect(structuredContent).toMatchObject({ id: customer.id, customer_number: 'C-1' });
  });

  test('a customer number given as a JSON number finds its customer', async () => {
    await createCustomer(mcp.db, { customer_number: '7', company: 'Seven AG' });
    await createCustomer(mcp.db, { customer_number: '099', company: 'Ninety-nine AG' });
    const call = async (name: string, args: object) => (await mcp.callTool(name, args)).structuredContent;
    expect(await call('get-customer-tool', { id: String(customer.id) })).toMatchObject({ id: customer.id });
    expect(await call('get-customer-tool', { customer_number: 7 })).toMatchObject({ customer_number: '7' });
    expect(await call('get-customer-tool', { customer_number: '099' })).toMatchObject({
      customer_number: '099',
    });
    expect(await call('find-customer-tool', { query: 7 })).toMatchObject({ count: 1 });
    expect(await call('list-invoices-tool', { page: '1', per_page: '1' })).toMatchObject({ per_page: 1 });
    expect(await textOf('get-customer-tool', { customer_number: 99 })).toContain('customer_number 99');
  });

  test('a null value for an optional tool argument counts as absent', async () => {
    const call = async (name: string, args: object) => (await mcp.callTool(name, args)).structuredContent;
    const byId = { id: customer.id, customer_number: null };
    expect(await call('get-customer-tool', byId)).toEqual(
      await call('get-customer-tool', { id: customer.id }),
    );
    for (const { name, inputSchema } of TOOLS.map(({ wire }) => wire)) {
      if (!name.startsWith('list-')) continue;
      const filters = Object.keys(inputSchema.properties ?? {});
      const nulls = Object.fromEntries(filters.map((filter) => [filter, null]));
      expect(await call(name, nulls)).toEqual(await call(name, {}));
    }
  });

  test('get-customer-tool returns a customer with open documents and active services', async () => {
    const { structuredContent } = await mcp.callTool('get-customer-tool', { id: customer.id });
    const { search_text, version, erased_at, created_at, updated_at, ...known } = customer;
    const { buyer_reference, document_language, payment_terms, ...master } = known;
    expect(structuredContent).toEqual({
      ...master,
      name: 'Ünïcode "AG"',
      unpaid_invoices: { currency: 'eur', count: 1, total: 19.99, other_currencies: [] },
      open_tasks: [],
      open_sales_documents_total: 1,
      open_sales_documents: [
        {
          id: expect.any(Number),
          document_number: 'D1',
          type: 'offer',
          status: 'accepted',
          document_date: '2026-03-01',
          valid_until: null,
          currency: 'eur',
          subtotal: 100,
          tax: 19,
          total: 119,
          converted_to_invoice_id: null,
          converted_to_document_id: null,
        },
      ],
      services_total: 1,
      services_by_status: { active: 1, cancelled: 1 },
      services: [
        {
          id: expect.any(Number),
          service_number: 'A1',
          service_type: 'hosting',
          status: 'active',
          name: 'Webhosting M',
          domain: null,
          server_id: null,
          price: 9.9,
          currency: 'eur',
          billing_interval: 'month',
          start_date: null,
          next_billing_date: null,
          ends_on: null,
          cancelled_at: null,
        },
      ],
    });
  });

  test('a tool call without results is not an error', async () => {
    const found = await mcp.callTool('find-customer-tool', { query: 'nobody at all' });
    expect(found).toMatchObject({ structuredContent: { count: 0, truncated: false, matches: [] } });
    const past = await mcp.callTool('list-invoices-tool', { page: 20_000_000, per_page: 100 });
    expect(past.structuredContent).toEqual({
      page: 20_000_000,
      per_page: 100,
      total: 2,
      last_page: 1,
      data: [],
      has_more: false,
      next_page: null,
    });
    const beyond = await mcp.callTool('list-services-tool', { server_id: Number.MAX_SAFE_INTEGER });
    expect(beyond.structuredContent).toMatchObject({ total: 0, last_page: 1, data: [] });
  });

  test('each tool call writes one log line without its arguments', async () => {
    mcp.logged.length = 0;
    await mcp.callTool('find-customer-tool', { query: 'ünï' });
    await mcp.callTool('get-customer-tool', { customer_number: 'private-number' });
    await mcp.callTool('find-customer-tool', { query: '' });
    const calls = mcp.logged.filter((line) => line.msg === 'tools/call');
    const common = { token_id: '1', duration_ms: 0 };
    expect(calls).toMatchObject([
      { ...common, tool: 'find-customer-tool', rows: 1, outcome: 'ok' },
      { ...common, tool: 'get-customer-tool', rows: 0, outcome: 'not_found' },
      { ...common, tool: 'find-customer-tool', rows: 0, outcome: 'validation_failed' },
    ]);
    expect(JSON.stringify(mcp.logged)).not.toMatch(/ünï|private-number|w5t_/i);
  });
});

describe('tools/list', () => {
  test('the response of tools/list equals tools-list.txt', async () => {
    const { result } = await mcp.rpc('tools/list');
    await expect(`${JSON.stringify(result, null, 2)}\n`).toMatchFileSnapshot('tools-list.txt');
  });
});

describe('the size of results', () => {
  const KB = 1000;
  const bytesOf = async (method: string, params?: unknown) => {
    const response = await mcp.post({ jsonrpc: '2.0', id: 1, method, params });
    return (await response.arrayBuffer()).byteLength;
  };

  beforeAll(async () => {
    const { id: customer_id } = await createCustomer(mcp.db, {
      customer_number: 'K-2024-10873',
      company: 'Müller & Söhne Elektrotechnik GmbH & Co. KG',
      email: 'buchhaltung@mueller-elektrotechnik.example',
    });
    const amounts = { subtotal: '1249.50', tax: '237.41', total: '1486.91' };
    const { id: server_id } = await createServer(mcp.db);
    for (let i = 0; i < 100; i++) {
      const { id: converted_to_invoice_id } = await createInvoice(mcp.db, {
        customer_id,
        ...amounts,
        number: `RE-2026-${10000 + i}`,
        stripe_invoice_id: `in_1PqRsTUvWxYzAbCdEfGh${1000 + i}`,
      });
      await createSalesDocument(mcp.db, {
        customer_id,
        ...amounts,
        document_number: `AN-2026-${10000 + i}`,
        type: 'order_confirmation',
        status: 'converted',
        valid_until: '2026-04-01',
        converted_to_invoice_id,
      });
      await createService(mcp.db, {
        customer_id,
        server_id,
        service_number: `S-2026-${10000 + i}`,
        name: 'Managed Server L, 16 cores',
        domain: `kunde-${1000 + i}.elektro-mueller.example`,
        start_date: '2024-01-01',
        next_billing_date: '2027-01-01',
        ends_on: i % 4 === 0 ? '2027-06-30' : null,
      });
    }
  });

  const charactersOf = async (name: string, args: object = {}) =>
    (await mcp.callTool(name, args)).content[0]?.text.length ?? 0;
  /** The number of characters in about 20,000 tokens. */
  const MOST = 70_000;

  test('tool responses with default arguments stay below 20,000 tokens', async () => {
    for (const { name } of TOOLS) {
      const args = {
        'find-customer-tool': { query: 'K-' },
        'get-customer-tool': { customer_number: 'K-2024-10873' },
      };
      expect(await charactersOf(name, args[name as keyof typeof args]), name).toBeLessThan(MOST);
      if (!/^list-(?!servers)/.test(name)) continue;
      expect(await charactersOf(name, { per_page: 100 }), name).toBeLessThan(MOST);
    }
  });

  test('get-customer-tool omits services and documents beyond its size limit', async () => {
    const { id: customer_id } = await createCustomer(mcp.db, { customer_number: 'LONG' });
    for (let i = 0; i < 90; i += 1) {
      await createService(mcp.db, { customer_id, service_number: `L${i}`, name: 'n'.repeat(900) });
      await createSalesDocument(mcp.db, { customer_id, document_number: `L${i}`, status: 'sent' });
    }
    const { structuredContent, content } = await mcp.callTool('get-customer-tool', { id: customer_id });
    expect(content[0]?.text.length).toBeLessThan(MOST);
    expect(content[0]?.text.length).toBeGreaterThan(MOST / 2);
    expect(structuredContent).toMatchObject({ services_total: 90, open_sales_documents_total: 90 });
    const { services, open_sales_documents } = structuredContent as Record<string, { id: number }[]>;
    expect(services?.length).toBeLessThan(90);
    expect(open_sales_documents?.length).toBeGreaterThan(10);
    await mcp.db.delete(customerServices).where(eq(customerServices.customer_id, customer_id));
  });

  test('list-servers-tool returns every server', async () => {
    expect((await mcp.callTool('list-servers-tool')).structuredContent).not.toHaveProperty('hint');
    for (let i = 0; i < 340; i += 1) await createServer(mcp.db, { hostname: `many-${i}.example.com` });
    const { structuredContent, content } = await mcp.callTool('list-servers-tool');
    const { hint, count, data } = structuredContent as { hint: string; count: number; data: object[] };
    expect(count).toBeGreaterThan(340);
    expect(data).toHaveLength(count);
    expect(Object.keys(data[0] ?? {})).toHaveLength(13);
    expect(content[0]?.text).toMatch(/^\{"hint":/);
    expect(hint).toMatch(/^These are 34\d servers, about [\d,]+ tokens\. For less, ask again with fields, /);
    const fields = ['id', 'hostname', 'status'];
    const few = await mcp.callTool('list-servers-tool', { fields });
    expect(few.structuredContent).toMatchObject({ count });
    expect(few.structuredContent).not.toHaveProperty('hint');
    expect(few.content[0]?.text.length).toBeLessThan(MOST / 2);
  });

  test('tools/list announces the maximum response size of every tool except find-customer-tool', async () => {
    const { result } = await mcp.rpc('tools/list');
    const tools = result?.tools as { name: string; _meta?: Record<string, number> }[];
    expect(
      Object.fromEntries(tools.map(({ name, _meta }) => [name, _meta?.['anthropic/maxResultSizeChars']])),
    ).toEqual({
      'find-customer-tool': undefined,
      'get-customer-tool': MOST,
      'list-services-tool': MOST,
      'list-invoices-tool': MOST,
      'list-sales-documents-tool': MOST,
      'list-servers-tool': 500_000,
    });
  });

  test('the response of tools/list has at most 12,288 bytes', async () => {
    expect(await bytesOf('tools/list')).toBeLessThanOrEqual(12_288);
  });

  test.each(['list-services-tool', 'list-invoices-tool', 'list-sales-documents-tool'])(
    'the response of %s with 100 rows is smaller than 110 KB',
    async (name) => {
      const { structuredContent } = await mcp.callTool(name, { per_page: 100 });
      expect(structuredContent?.data).toHaveLength(100);
      expect(await bytesOf('tools/call', { name, arguments: { per_page: 100 } })).toBeLessThan(110 * KB);
    },
  );
});
