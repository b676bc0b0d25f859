import { eq } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { invoices, mergedCustomers } from '@/db/schema';
import { createCustomer, createInvoice, createSalesDocument, createService } from '../support/factories';
import { useMcpServer } from './serve-mcp';

const mcp = useMcpServer();
const numbersOf = async (name: string, args: object) => {
  const { data } = await mcp.ask<{ data: Record<string, string>[] }>(name, args);
  return data.map((row) => row.number ?? row.service_number ?? row.document_number);
};

let muller = 0;

beforeAll(async () => {
  const create = async (customer_number: string, company: string) =>
    (await createCustomer(mcp.db, { customer_number, company })).id;
  muller = await create('K10042', 'Bäckerei Müller & Söhne');
  const small = await create('K10043', "O'Neill-Médias");
  await create('C-10042', 'Third AG');
  await create('K10099', 'Empty AG');

  type Invoice = Parameters<typeof createInvoice>[1];
  const invoice = (number: string, customer_id: number, due_date: string | null, values: Invoice) =>
    createInvoice(mcp.db, { number, customer_id, due_date, invoice_date: '2026-01-01', ...values });
  await invoice('R1', small, '2026-02-01', { status: 'overdue', total: '700' });
  await invoice('R2', muller, '2026-03-31', { total: '500' });
  await invoice('R3', muller, '2026-01-15', { status: 'overdue', total: '300.5' });
  await invoice('R4', small, '2026-03-01', { status: 'paid', total: '9000', amount_due: '0' });
  await invoice('R5', small, null, { total: '50' });

  const service = (
    service_number: string,
    customer_id: number,
    next_billing_date: string | null,
    more = {},
  ) =>
    createService(mcp.db, {
      ...{ service_number, customer_id, next_billing_date, domain: 'shop.example', ...more },
    });
  await service('S1', muller, '2026-12-01');
  await service('S2', small, '2026-12-31');
  await service('S3', small, '2027-01-01');
  await service('S4', small, '2026-12-15', { status: 'suspended' });
  await service('S5', small, null);

  const offer = { customer_id: muller };
  await createSalesDocument(mcp.db, { ...offer, document_number: 'A-1', valid_until: '2026-05-01' });
  await createSalesDocument(mcp.db, { ...offer, document_number: 'A2', valid_until: null });
});

const DECEMBER = { next_billing_date_from: '2026-12-01', next_billing_date_to: '2026-12-31' };

test.each<[string, object, string[]]>([
  ['list-invoices-tool', { due_date_from: '2026-02-01', due_date_to: '2026-03-01' }, ['R4', 'R1']],
  ['list-invoices-tool', { due_date_from: '2026-03-01' }, ['R2', 'R4']],
  ['list-invoices-tool', { due_date_to: '2026-02-01', statuses: ['sent', 'overdue'] }, ['R1', 'R3']],
  ['list-invoices-tool', { due_date_to: '2026-12-31', invoice_date_from: '2026-01-02' }, []],
  ['list-invoices-tool', { statuses: ['paid', 'sent'] }, ['R5', 'R4', 'R2']],
  ['list-invoices-tool', { number: 'r2' }, ['R2']],
  ['list-services-tool', DECEMBER, ['S2', 'S4', 'S1']],
  ['list-services-tool', { next_billing_date_from: '2026-12-15', status: 'active' }, ['S3', 'S2']],
  ['list-services-tool', { service_number: 'S3' }, ['S3']],
  ['list-services-tool', { statuses: ['suspended', 'terminated'] }, ['S4']],
  ['list-sales-documents-tool', { valid_until_to: '2026-05-01' }, ['A-1']],
  ['list-sales-documents-tool', { document_number: 'A-2' }, ['A2']],
  ['list-invoices-tool', { number: 'R2\n' }, ['R2']],
  ['list-services-tool', { service_number: '\tS3' }, ['S3']],
  ['list-services-tool', { ...DECEMBER, domain: ' example ' }, ['S2', 'S4', 'S1']],
  ['list-sales-documents-tool', { document_number: ' A-1 ' }, ['A-1']],
])('%s with %j finds %j, and its summary counts them', async (name, args, numbers) => {
  expect(await numbersOf(name, args)).toEqual(numbers);
  expect(await mcp.ask(name, args)).toMatchObject({ total: numbers.length });
  expect(await mcp.ask(name, { ...args, summary: true })).toMatchObject({ total: numbers.length });
});

test('list-services-tool with a domain and a billing date lists the latest date on the first page', async () => {
  const args = { ...DECEMBER, domain: 'EXAMPLE', per_page: 1 };
  expect(await numbersOf('list-services-tool', args)).toEqual(['S2']);
});

const ofCustomer = (customer_number: string, sums: object) => {
  return { customer: expect.objectContaining({ customer_number }), currency: 'eur', ...sums };
};

test('list-invoices-tool with summary_by customer lists the largest debtor first, with the oldest due date', async () => {
  const answer = await mcp.ask('list-invoices-tool', { summary_by: 'customer' });
  const first = { count: 2, total: 800.5, unpaid_count: 2, unpaid: 800.5, oldest_due_date: '2026-01-15' };
  // An invoice without a due date is due on its own date.
  const second = { count: 3, total: 9750, unpaid_count: 2, unpaid: 750, oldest_due_date: '2026-01-01' };
  expect(answer).toMatchObject({ total: 2 });
  expect(answer.by_customer).toEqual([ofCustomer('K10042', first), ofCustomer('K10043', second)]);
  const page = await mcp.ask('list-invoices-tool', { summary_by: 'customer', per_page: 1, page: 2 });
  expect(page).toMatchObject({ total: 2, has_more: false, by_customer: [{ unpaid: 750 }] });
});

test('list-invoices-tool with summary_by customer lists the most frequent currency first', async () => {
  const yen = { currency: 'jpy', total: '90000', invoice_date: '2025-12-31' };
  const { id } = await createInvoice(mcp.db, { customer_id: muller, number: 'R6', ...yen });
  const { by_customer } = await mcp.ask('list-invoices-tool', { summary_by: 'customer' });
  const [eur, jpy] = ['eur', 'jpy'].map((currency) => ({ currency }));
  expect(by_customer).toMatchObject([
    { ...eur, unpaid: 800.5 },
    { ...eur, unpaid: 750 },
    { ...jpy, unpaid: 90_000 },
  ]);
  await mcp.db.delete(invoices).where(eq(invoices.id, id));
});

test('list-services-tool with summary_by customer lists the customer with the most services first', async () => {
  const { by_customer } = await mcp.ask('list-services-tool', { summary_by: 'customer' });
  // There are no sums, because prices per month and per year cannot be added up.
  expect(by_customer).toEqual([ofCustomer('K10043', { count: 4 }), ofCustomer('K10042', { count: 1 })]);
});

test.each([
  ['Mueller', ['K10042']],
  ['Sohne Backerei', ['K10042']],
  ['oneill medias', ['K10043']],
  ['“Sohne”: (Backerei)!', ['K10042']],
  ['unheard of', undefined],
])('find-customer-tool answers the search “%s” with the similar customers %j', async (query, numbers) => {
  const found = await mcp.ask('find-customer-tool', { query });
  expect(found).toMatchObject({ count: 0, matches: [] });
  const similar = found.similar as { customer_number: string }[] | undefined;
  expect(similar?.map(({ customer_number }) => customer_number)).toEqual(numbers);
});

test.each(['K 10043', '10043', 'k-10043'])(
  'get-customer-tool finds the customer K10043 by the number %s',
  async (number) => {
    const found = await mcp.ask('get-customer-tool', { customer_number: number });
    expect(found).toMatchObject({ customer_number: 'K10043' });
  },
);

test('get-customer-tool names similar customers if a customer number matches several or no customers', async () => {
  for (const [customer_number, text] of [
    ['10042', / Similar: C-10042 \(Third AG\), K10042 \(Bäckerei Müller & Söhne\)\.$/],
    ['Mueller', /^No customer with .* Similar: K10042 \(Bäckerei Müller & Söhne\)\.$/],
  ] as const)
    expect(await mcp.refusalOf('get-customer-tool', { customer_number })).toMatch(text);
});

test('a tool call about a merged customer returns the customer that it was merged into', async () => {
  const id = 1_000_000;
  const { id: kept } = await createCustomer(mcp.db, { customer_number: 'NEW-1' });
  await createService(mcp.db, { customer_id: kept, service_number: 'MERGED' });
  await mcp.db.insert(mergedCustomers).values({ id, customer_number: 'OLD-1', customer_id: kept });
  for (const by of [{ id }, { customer_number: 'old-1' }])
    expect(await mcp.ask('get-customer-tool', by)).toMatchObject({ id: kept, merged_from: 'OLD-1' });
  expect(await mcp.ask('get-customer-tool', { id: kept })).not.toHaveProperty('merged_from');
  expect(await numbersOf('list-services-tool', { customer_id: id })).toEqual(['MERGED']);
});

test('list-invoices-tool returns an empty page for a customer without invoices', async () => {
  const { id } = await createCustomer(mcp.db);
  expect(await mcp.ask('list-invoices-tool', { customer_id: id })).toMatchObject({ total: 0, data: [] });
});
