import { beforeAll, describe, expect, test } from 'vitest';
import { staffTasks } from '@/db/schema';
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

type Refusal = [args: object | undefined, text: string];
const STATUSES = 'must be one of draft, sent, paid, overdue, cancelled';
const CALENDAR_DATE = 'must be a calendar date YYYY-MM-DD';
const UNKNOWN = 'Use find-customer-tool to search by name or e-mail.';

const REFUSALS: Record<string, Refusal[]> = {
  'find-customer-tool': [
    [undefined, 'query is required.'],
    [{ query: ' ' }, 'query must not be empty (got "").'],
    [{ query: true }, 'query must be a string (got true).'],
    [{ query: 1.5 }, 'query must be a string (got 1.5).'],
    [{ query: null }, 'query must be a string (got null).'],
    [{ query: 'a\u0000' }, 'query must not contain control characters (got "a\\u0000").'],
    [{ query: 'a', limit: 3 }, 'Unknown argument "limit". It takes query.'],
  ],
  'get-customer-tool': [
    [{}, 'Give exactly one of id or customer_number.'],
    [{ id: 1, customer_number: 'K1' }, 'Give exactly one of id or customer_number.'],
    [{ id: '099' }, 'id must be an integer (got "099").'],
    [{ id: '1.0' }, 'id must be an integer (got "1.0").'],
    [{ id: ' 1' }, 'id must be an integer (got " 1").'],
    [{ id: '-1' }, 'id must be at least 1 (got -1).'],
    [{ id: 0 }, 'id must be at least 1 (got 0).'],
    [{ customer_number: 'K123' }, `No customer with customer_number K123. ${UNKNOWN}`],
  ],
  'list-invoices-tool': [
    [{ per_page: '101' }, 'per_page must be 1..100 (got 101).'],
    [{ page: 1.5 }, 'page must be an integer (got 1.5).'],
    [{ status: 'open' }, `status ${STATUSES} (got "open").`],
    [{ status: 'x'.repeat(5000) }, `status ${STATUSES} (got "${'x'.repeat(59)}…).`],
    [{ invoice_date_from: '2025-02-30' }, `invoice_date_from ${CALENDAR_DATE} (got "2025-02-30").`],
    [{ invoice_date_to: '0000-01-01' }, `invoice_date_to ${CALENDAR_DATE} (got "0000-01-01").`],
    [
      { invoice_date_from: '2026-02-01', invoice_date_to: '2026-01-31' },
      'invoice_date_from must not be after invoice_date_to.',
    ],
    [{ fields: false }, 'fields must be a list of column names (got false).'],
    [{ summary: 'yes' }, 'summary must be true or false (got "yes").'],
    [{ summary_by: 'status' }, 'summary_by must be customer (got "status").'],
    [{ statuses: [] }, 'statuses must contain at least one value (got a list).'],
    [
      { statuses: ['open', 'late', 'open'] },
      `statuses ${STATUSES} (got "open"). statuses ${STATUSES} (got "late").`,
    ],
    [
      { status: 'sent', statuses: ['overdue'] },
      'statuses cannot be combined with status: leave one of them out.',
    ],
  ],
  'list-services-tool': [
    [
      { next_billing_date_from: '2026-12-31', next_billing_date_to: '2026-12-01' },
      'next_billing_date_from must not be after next_billing_date_to.',
    ],
  ],
  'list-sales-documents-tool': [[{ customer_id: 999_999 }, `No customer with id 999999. ${UNKNOWN}`]],
  'list-servers-tool': [[{ status: 'active' }, 'Unknown argument "status". It takes fields.']],
};

test.each(
  Object.entries(REFUSALS).flatMap(([name, cases]) => cases.map(([args, text]) => ({ name, args, text }))),
)('the error of $name explains what is wrong with the arguments $args', async ({ name, args, text }) => {
  expect(await mcp.refusalOf(name, args)).toBe(text);
});

test('a tool call with an unknown field is refused with the list of valid fields', async () => {
  for (const name of ['list-invoices-tool', 'list-servers-tool', 'list-services-tool']) {
    const text = await mcp.refusalOf(name, { fields: ['id', 'secret'] });
    expect(text).toMatch(/unknown "secret"\. The columns are id, .*status/);
  }
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

  test('a tool accepts a number for a text argument, and digits in a text for a number argument', async () => {
    for (const customer_number of ['7', '099']) await createCustomer(mcp.db, { customer_number });
    for (const [tool, args, found] of [
      ['get-customer-tool', { id: String(customer.id) }, { id: customer.id }],
      ['get-customer-tool', { customer_number: 7 }, { customer_number: '7' }],
      ['get-customer-tool', { customer_number: '099' }, { customer_number: '099' }],
      ['find-customer-tool', { query: 7 }, { count: 1 }],
      ['list-invoices-tool', { page: '1', per_page: '1' }, { per_page: 1 }],
    ] as const) {
      expect(await mcp.ask(tool, args)).toMatchObject(found);
    }
    const text = await mcp.refusalOf('get-customer-tool', { customer_number: 99 });
    expect(text).toContain('customer_number 99');
  });

  test('a null value for an optional tool argument counts as absent', async () => {
    const by = { id: customer.id };
    const given = await mcp.ask('get-customer-tool', { ...by, customer_number: null });
    expect(given).toEqual(await mcp.ask('get-customer-tool', by));
    for (const { name, inputSchema } of TOOLS.map(({ wire }) => wire)) {
      if (!name.startsWith('list-')) continue;
      const filters = Object.keys(inputSchema.properties ?? {});
      const nulls = Object.fromEntries(filters.map((filter) => [filter, null]));
      expect(await mcp.ask(name, nulls)).toEqual(await mcp.ask(name, {}));
    }
  });

  test('get-customer-tool returns a customer with the rows of its open documents and active services', async () => {
    const { search_text, version, erased_at, created_at, updated_at, ...known } = customer;
    const { buyer_reference, document_language, payment_terms, ...master } = known;
    const rowsOf = async (tool: string, args: object) => {
      const { data } = await mcp.ask<{ data: { customer: object }[] }>(tool, args);
      return data.map(({ customer: _, ...row }) => row);
    };
    expect(await mcp.ask('get-customer-tool', { id: customer.id })).toEqual({
      ...{ ...master, name: 'Ünïcode "AG"', open_tasks: [] },
      unpaid_invoices: { currency: 'eur', count: 1, total: 19.99, other_currencies: [] },
      open_sales_documents_total: 1,
      open_sales_documents: await rowsOf('list-sales-documents-tool', { document_number: 'D1' }),
      services_total: 1,
      services_by_status: { active: 1, cancelled: 1 },
      services: await rowsOf('list-services-tool', { service_number: 'A1' }),
    });
  });

  test('a tool response contains only the requested fields', async () => {
    const fields = ['status', 'customer.customer_number'];
    const page = await mcp.ask('list-invoices-tool', { fields, per_page: 1 });
    expect(page).toMatchObject({
      data: [{ status: 'paid', customer: { customer_number: 'C-1' } }],
      ...{ has_more: true, next_page: 2 },
    });
    expect(Object.keys((page.data as object[])[0] ?? {})).toEqual(['status', 'customer']);
    const servers = await mcp.ask('list-servers-tool', { fields: ['hostname'] });
    expect(servers.data).toEqual([{ hostname: expect.any(String) }]);
  });

  test('a tool call without results is not an error', async () => {
    const none = { count: 0, truncated: false, matches: [] };
    expect(await mcp.ask('find-customer-tool', { query: 'nobody at all' })).toEqual(none);
    const beyond = { page: 20_000_000, per_page: 100 };
    expect(await mcp.ask('list-invoices-tool', beyond)).toEqual({
      ...{ ...beyond, total: 2, last_page: 1, data: [], has_more: false, next_page: null },
    });
    const ofNone = await mcp.ask('list-services-tool', { server_id: Number.MAX_SAFE_INTEGER });
    expect(ofNone).toMatchObject({ total: 0, last_page: 1, data: [] });
  });
});

const bytesOf = async (method: string, params?: unknown) => {
  const response = await mcp.post({ jsonrpc: '2.0', id: 1, method, params });
  return (await response.arrayBuffer()).byteLength;
};

test('the response of tools/list equals tools-list.txt and has at most 12,288 bytes', async () => {
  const { result } = await mcp.rpc('tools/list');
  await expect(`${JSON.stringify(result, null, 2)}\n`).toMatchFileSnapshot('tools-list.txt');
  expect(await bytesOf('tools/list')).toBeLessThanOrEqual(12_288);
});

describe('the size of results', () => {
  beforeAll(async () => {
    const { id: customer_id } = await createCustomer(mcp.db, {
      customer_number: 'K-2024-10873',
      company: 'Müller & Söhne Elektrotechnik GmbH & Co. KG',
      email: 'buchhaltung@mueller-elektrotechnik.example',
    });
    const amounts = { subtotal: '1249.50', tax: '237.41', total: '1486.91' };
    const converted = { type: 'order_confirmation', status: 'converted', valid_until: '2026-04-01' } as const;
    const { id: server_id } = await createServer(mcp.db);
    for (let i = 0; i < 100; i++) {
      const { id: converted_to_invoice_id } = await createInvoice(mcp.db, {
        ...{ customer_id, ...amounts, number: `RE-2026-${10000 + i}` },
        stripe_invoice_id: `in_1PqRsTUvWxYzAbCdEfGh${1000 + i}`,
      });
      await createSalesDocument(mcp.db, {
        ...{ customer_id, ...amounts, ...converted, converted_to_invoice_id },
        document_number: `AN-2026-${10000 + i}`,
      });
      await createService(mcp.db, {
        ...{ customer_id, server_id, service_number: `S-2026-${10000 + i}` },
        ...{ name: 'Managed Server L, 16 cores', domain: `kunde-${1000 + i}.elektro-mueller.example` },
        ...{ start_date: '2024-01-01', next_billing_date: '2027-01-01' },
        ends_on: i % 4 === 0 ? '2027-06-30' : null,
      });
    }
  });

  const textOf = async (name: string, args: object = {}) =>
    (await mcp.callTool(name, args)).content[0]?.text ?? '';
  /** The number of characters in about 20,000 tokens. */
  const MOST = 70_000;

  test('tool responses with default arguments stay below 20,000 tokens', async () => {
    const keys: Record<string, object> = {
      'find-customer-tool': { query: 'K-' },
      'get-customer-tool': { customer_number: 'K-2024-10873' },
    };
    for (const { name } of TOOLS) expect((await textOf(name, keys[name])).length, name).toBeLessThan(MOST);
  });

  test.each(['list-services-tool', 'list-invoices-tool', 'list-sales-documents-tool'])(
    'the response of %s with 100 rows is smaller than 20,000 tokens and 110 KB',
    async (name) => {
      const text = await textOf(name, { per_page: 100 });
      expect(JSON.parse(text).data).toHaveLength(100);
      expect(text.length).toBeLessThan(MOST);
      expect(await bytesOf('tools/call', { name, arguments: { per_page: 100 } })).toBeLessThan(110_000);
    },
  );

  test('a tool call is refused if its response is too large for the context of a model', async () => {
    const { id: customer_id } = await createCustomer(mcp.db);
    const name = 'n'.repeat(2000);
    for (let i = 0; i < 60; i++) await createService(mcp.db, { customer_id, name });
    const page = { customer_id, per_page: 100 };
    const text = await mcp.refusalOf('list-services-tool', page);
    expect(text).toMatch(/Ask again with per_page \d\d or less/);
    expect(await mcp.ask('list-services-tool', { ...page, fields: ['id'] })).toMatchObject({ total: 60 });
  });

  test('get-customer-tool shortens its lists to its size limit, but gives their full counts', async () => {
    const { id: customer_id } = await createCustomer(mcp.db, { customer_number: 'LONG' });
    for (let i = 0; i < 90; i += 1) {
      await createService(mcp.db, { customer_id, service_number: `L${i}`, name: 'n'.repeat(900) });
      await createSalesDocument(mcp.db, { customer_id, document_number: `L${i}`, status: 'sent' });
    }
    const text = await textOf('get-customer-tool', { id: customer_id });
    expect(text.length).toBeLessThan(MOST);
    expect(text.length).toBeGreaterThan(MOST / 2);
    const answer = JSON.parse(text);
    expect(answer).toMatchObject({ services_total: 90, open_sales_documents_total: 90 });
    expect(answer.services.length).toBeLessThan(90);
    expect(answer.open_sales_documents.length).toBeGreaterThan(10);
  });

  test('list-servers-tool returns every server, and if there are many also a hint to request fewer fields', async () => {
    expect(await mcp.ask('list-servers-tool')).not.toHaveProperty('hint');
    for (let i = 0; i < 340; i += 1) await createServer(mcp.db, { hostname: `many-${i}.example.com` });
    const text = await textOf('list-servers-tool');
    const { hint, count, data } = JSON.parse(text);
    expect(count).toBeGreaterThan(340);
    expect(data).toHaveLength(count);
    expect(Object.keys(data[0])).toHaveLength(13);
    expect(text).toMatch(/^\{"hint":/);
    expect(hint).toMatch(/^These are 34\d servers, about [\d,]+ tokens\. For less, ask again with fields, /);
    const few = await textOf('list-servers-tool', { fields: ['id', 'hostname', 'status'] });
    expect(JSON.parse(few)).toEqual({ count, data: expect.anything(), has_more: false });
    expect(few.length).toBeLessThan(MOST / 2);
  });

  test('get-customer-tool returns at most 20 open tasks, and the number of the others', async () => {
    const { id } = await createCustomer(mcp.db, { customer_number: 'C-TASKS' });
    const { id: entity_id } = await createInvoice(mcp.db, { customer_id: id });
    const task = { kind: 'payment_not_counted', message: 'Check it.', entity: 'invoice', entity_id } as const;
    const tasks = Array.from({ length: 22 }, (_, number) => ({ ...task, subject: `C-TASKS ${number}` }));
    await mcp.db.insert(staffTasks).values(tasks);
    const { open_tasks } = await mcp.ask('get-customer-tool', { id });
    expect(open_tasks).toEqual([...Array(20).fill('Check it.'), 'There are 2 more open tasks.']);
  });
});
