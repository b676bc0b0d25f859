import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { invoices, mergedCustomers } from '@/db/schema';
import { createCustomer, createInvoice, createSalesDocument, createService } from '../support/factories';
import { useMcpServer } from './serve-mcp';

const mcp = useMcpServer();
const ask = async (name: string, args: object) => (await mcp.callTool(name, args)).structuredContent;
const numbersOf = async (name: string, args: object) => {
  const { data } = (await ask(name, args)) as { data: Record<string, string>[] };
  return data.map((row) => row.number ?? row.service_number ?? row.document_number);
};

describe('questions to the tools', () => {
  const ids: Record<string, number> = {};

  beforeAll(async () => {
    const create = async (customer_number: string, values: object) => {
      ids[customer_number] = (await createCustomer(mcp.db, { customer_number, ...values })).id;
      return ids[customer_number];
    };
    const muller = await create('K10042', { company: 'Bäckerei Müller & Söhne' });
    const small = await create('K10043', { company: "O'Neill-Médias" });
    await create('C-10042', { company: 'Third AG' });
    await createCustomer(mcp.db, { customer_number: 'K10099', company: 'Empty AG' });
    const invoice = (
      number: string,
      customer_id: number,
      status: 'sent' | 'paid' | 'overdue',
      due: string | null,
      amount: string,
    ) =>
      createInvoice(mcp.db, {
        ...{ number, customer_id, status, due_date: due, invoice_date: '2026-01-01', total: amount },
        ...(status === 'paid'
          ? { amount_due: '0', paid_at: new Date('2026-02-03T10:00:00Z') }
          : { amount_due: amount }),
      });
    await invoice('R1', small, 'overdue', '2026-02-01', '700');
    await invoice('R2', muller, 'sent', '2026-03-31', '500');
    await invoice('R3', muller, 'overdue', '2026-01-15', '300.5');
    await invoice('R4', small, 'paid', '2026-03-01', '9000');
    await invoice('R5', small, 'sent', null, '50');
    const service = (
      service_number: string,
      customer_id: number,
      next_billing_date: string | null,
      status = 'active',
    ) =>
      createService(mcp.db, {
        service_number,
        customer_id,
        next_billing_date,
        status: status as 'active',
        price: '10',
      });
    await service('S1', muller, '2026-12-01');
    await service('S2', small, '2026-12-31');
    await service('S3', small, '2027-01-01');
    await service('S4', small, '2026-12-15', 'suspended');
    await service('S5', small, null);
    await createSalesDocument(mcp.db, {
      customer_id: muller,
      document_number: 'A1',
      valid_until: '2026-05-01',
    });
    await createSalesDocument(mcp.db, { customer_id: muller, document_number: 'A2', valid_until: null });
  });

  test.each<[string, object, string[]]>([
    ['list-invoices-tool', { due_date_from: '2026-02-01', due_date_to: '2026-03-01' }, ['R4', 'R1']],
    ['list-invoices-tool', { due_date_from: '2026-03-01' }, ['R2', 'R4']],
    ['list-invoices-tool', { due_date_to: '2026-02-01', statuses: ['sent', 'overdue'] }, ['R1', 'R3']],
    ['list-invoices-tool', { due_date_to: '2026-12-31', invoice_date_from: '2026-01-02' }, []],
    ['list-invoices-tool', { statuses: ['paid', 'sent'] }, ['R5', 'R4', 'R2']],
    ['list-invoices-tool', { number: 'r2' }, ['R2']],
    [
      'list-services-tool',
      { next_billing_date_from: '2026-12-01', next_billing_date_to: '2026-12-31' },
      ['S2', 'S4', 'S1'],
    ],
    ['list-services-tool', { next_billing_date_from: '2026-12-15', status: 'active' }, ['S3', 'S2']],
    ['list-services-tool', { service_number: 'S3' }, ['S3']],
    ['list-services-tool', { statuses: ['suspended', 'terminated'] }, ['S4']],
    ['list-sales-documents-tool', { valid_until_to: '2026-05-01' }, ['A1']],
    ['list-sales-documents-tool', { document_number: 'A-2' }, ['A2']],
  ])('%s with %j finds %j', async (name, args, numbers) => {
    expect(await numbersOf(name, args)).toEqual(numbers);
    expect(await ask(name, args)).toMatchObject({ total: numbers.length });
    const sums = (await ask(name, { ...args, summary: true })) as { total: number };
    expect(sums.total).toBe(numbers.length);
  });

  test('list-invoices-tool with summary_by customer lists the largest debtor first, with the oldest due date', async () => {
    const { by_customer, total } = (await ask('list-invoices-tool', { summary_by: 'customer' })) as {
      by_customer: object[];
      total: number;
    };
    expect(total).toBe(2);
    const eur = { currency: 'eur' };
    expect(by_customer).toEqual([
      {
        customer: expect.objectContaining({ customer_number: 'K10042', name: 'Bäckerei Müller & Söhne' }),
        ...{ ...eur, count: 2, total: 800.5, unpaid_count: 2, unpaid: 800.5, oldest_due_date: '2026-01-15' },
      },
      {
        customer: expect.objectContaining({ customer_number: 'K10043' }),
        // An invoice without a due date is due on its own date.
        ...{ ...eur, count: 3, total: 9750, unpaid_count: 2, unpaid: 750, oldest_due_date: '2026-01-01' },
      },
    ]);
    const second = await ask('list-invoices-tool', { summary_by: 'customer', per_page: 1, page: 2 });
    expect(second).toMatchObject({ total: 2, has_more: false, by_customer: [{ unpaid: 750 }] });
  });

  test('list-invoices-tool with summary_by customer lists the most frequent currency first', async () => {
    const { id } = await createInvoice(mcp.db, {
      ...{ customer_id: ids.K10042 ?? 0, currency: 'jpy', total: '90000', amount_due: '90000' },
      ...{ number: 'R6', invoice_date: '2025-12-31' },
    });
    const { by_customer } = (await ask('list-invoices-tool', { summary_by: 'customer' })) as {
      by_customer: { currency: string; unpaid: number }[];
    };
    expect(by_customer.map(({ currency, unpaid }) => [currency, unpaid])).toEqual([
      ...[
        ['eur', 800.5],
        ['eur', 750],
        ['jpy', 90_000],
      ],
    ]);
    await mcp.db.delete(invoices).where(eq(invoices.id, id));
  });

  test('list-services-tool with summary_by customer lists the customer with the most services first', async () => {
    const { by_customer } = (await ask('list-services-tool', { summary_by: 'customer' })) as {
      by_customer: object[];
    };
    // There are no sums, because prices per month and per year cannot be added up.
    expect(by_customer).toEqual([
      { customer: expect.objectContaining({ customer_number: 'K10043' }), currency: 'eur', count: 4 },
      { customer: expect.objectContaining({ customer_number: 'K10042' }), currency: 'eur', count: 1 },
    ]);
  });

  test.each([
    ['Mueller', ['K10042']],
    ['Sohne Backerei', ['K10042']],
    ['oneill medias', ['K10043']],
    ['“Sohne”: (Backerei)!', ['K10042']],
    ['unheard of', undefined],
  ])('find-customer-tool answers the search “%s” with the similar customers %j', async (query, numbers) => {
    const found = (await ask('find-customer-tool', { query })) as { similar?: { customer_number: string }[] };
    expect(found).toMatchObject({ count: 0, matches: [] });
    expect(found.similar?.map(({ customer_number }) => customer_number)).toEqual(numbers);
  });

  test.each(['K 10043', '10043', 'k-10043'])(
    'get-customer-tool finds customer K10043 by the number %s',
    async (customer_number) => {
      expect(await ask('get-customer-tool', { customer_number })).toMatchObject({
        customer_number: 'K10043',
      });
    },
  );

  test('get-customer-tool names similar customers unless exactly one customer matches', async () => {
    const textOf = async (customer_number: string) =>
      (await mcp.callTool('get-customer-tool', { customer_number })).content[0]?.text;
    expect(await textOf('10042')).toMatch(
      / Similar: C-10042 \(Third AG\), K10042 \(Bäckerei Müller & Söhne\)\.$/,
    );
    expect(await textOf('Mueller')).toMatch(
      /^No customer with .* Similar: K10042 \(Bäckerei Müller & Söhne\)\.$/,
    );
  });

  test('a tool call about a merged customer returns the customer that it was merged into', async () => {
    const id = 1_000_000;
    const { id: kept } = await createCustomer(mcp.db, { customer_number: 'NEW-1' });
    await createService(mcp.db, { customer_id: kept, service_number: 'MERGED' });
    await mcp.db.insert(mergedCustomers).values({ id, customer_number: 'OLD-1', customer_id: kept });
    for (const by of [{ id }, { customer_number: 'old-1' }])
      expect(await ask('get-customer-tool', by)).toMatchObject({ id: kept, merged_from: 'OLD-1' });
    expect(await ask('get-customer-tool', { id: kept })).not.toHaveProperty('merged_from');
    expect(await numbersOf('list-services-tool', { customer_id: id })).toEqual(['MERGED']);
  });

  test('list-invoices-tool returns an empty page for a customer without invoices', async () => {
    const { id } = await createCustomer(mcp.db);
    expect(await ask('list-invoices-tool', { customer_id: id })).toMatchObject({ total: 0, data: [] });
  });
});
